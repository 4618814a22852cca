"""What scorers behind a server have in common: settings, a declared version, and one request a solution.

Solutions are scored several at a time, each by itself: what goes wrong with one is that one's failure. A failure
that says more of the server than of the solution is marked temporary, so that a later job tries again.
"""

from __future__ import annotations

import hashlib
import math
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import orjson

from annotator.core.uncertainty import EVEN_ODDS
from annotator.scorers.base import (
    CORRECTNESS,
    InvalidScores,
    Scored,
    ScoreFailure,
    ScoringCancelled,
    ScoringInput,
    checked,
)
from annotator.scorers.breaker import BreakerState, CircuitOpen
from annotator.scorers.endpoint import EndpointRefused, endpoint
from annotator.scorers.http import BadReply, Client, RequestFailed, ServerUnavailable, Stopped, shared
from annotator.scorers.transport import Limits

#: Longest version that is kept; what is cut off is covered by the digest in front.
VERSION_LENGTH = 100
#: Seconds between two looks at which model the server serves, and between two looks at ``cancelled``.
RECHECK_SECONDS = 30.0
POLL_SECONDS = 0.2
#: A count of tokens beyond this (or NaN, which JSON can't keep) is no count.
MOST_TOKENS = 10**12
#: Two probabilities that came through bfloat16 may miss one by this much.
ROUNDING = 0.02

Entry = TypeVar("Entry")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class InvalidSettings(ValueError):
    """Settings of a scorer that don't fit its kind, in a sentence for people."""


@dataclass(frozen=True, slots=True)
class Model:
    """What a server says it serves: the name to ask for, and what is behind that name where it says so."""

    name: str
    root: str


class Settings:
    """A scorer's stored settings, read one by one; what nobody asked for is refused as a typing error."""

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._left = dict(config)

    def text(self, key: str, default: str | None = None) -> str | None:
        """A string without line breaks; an empty one counts as absent."""
        value = self._left.pop(key, None)
        if value is None or value == "":
            return default
        if not isinstance(value, str) or not value.isprintable() or len(value) > 500:
            raise InvalidSettings(f"'{key}' is a line of text.")
        return value.strip()

    def choice(self, key: str, options: Collection[str], default: str) -> str:
        """One of several words."""
        value = self.text(key, default)
        if value not in options:
            raise InvalidSettings(f"'{key}' is one of {', '.join(sorted(options))}.")
        return str(value)

    def number(self, key: str, default: float, low: float, high: float) -> float:
        """A number in [low, high]."""
        value = self._left.pop(key, None)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            raise InvalidSettings(f"'{key}' is a number from {low:g} to {high:g}.")
        return float(value)

    def whole(self, key: str, default: int, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        value = self.number(key, default, low, high)
        if value != int(value):
            raise InvalidSettings(f"'{key}' is a whole number from {low} to {high}.")
        return int(value)

    def yes(self, key: str, default: bool) -> bool:
        """True or false."""
        value = self._left.pop(key, default)
        if not isinstance(value, bool):
            raise InvalidSettings(f"'{key}' is true or false.")
        return value

    def client(self, allowed_hosts: Collection[str], allowed_keys: Collection[str], seconds: float) -> Client:
        """The client for ``url``, ``key_env`` and the limits. Raises InvalidSettings or EndpointRefused."""
        url = self.text("url")
        if url is None:
            raise InvalidSettings("'url' is missing: the server's address, such as http://gpu1:8000.")
        key_env = self.text("key_env")
        if key_env is not None and not _VARIABLE.fullmatch(key_env):
            raise InvalidSettings("'key_env' is the name of an environment variable, not the key itself.")
        if key_env is not None and key_env not in allowed_keys:
            raise EndpointRefused(
                f"{key_env} is not among the variables that this installation gives to scorers. "
                "Ask its operator to add it to STEPMARK_SCORER_KEYS."
            )
        limits = Limits(
            connect_seconds=self.number("connect_timeout", 5.0, 0.1, 60.0),
            seconds=self.number("timeout", seconds, 0.1, 1800.0),
            reply_bytes=self.whole("max_reply_bytes", 16 * 2**20, 1024, 256 * 2**20),
            concurrency=self.whole("concurrency", 8, 1, 64),
            attempts=self.whole("attempts", 3, 1, 10),
        )
        return shared(endpoint(url, allowed_hosts), key_env=key_env, limits=limits)

    def done(self) -> None:
        """Raises InvalidSettings where something is left that nobody asked for."""
        if self._left:
            raise InvalidSettings(f"Unknown settings: {', '.join(sorted(map(str, self._left)))}.")


class RemoteScorer(ABC):
    """A scorer whose model runs on a server. Subclasses say what to ask and how to read the answer."""

    name: ClassVar[str]
    #: Which way of prompting, and its number: another wording is another version.
    family: str
    prompt: ClassVar[str]
    measures = CORRECTNESS

    def __init__(self, client: Client, *, model: str | None, threshold: float) -> None:
        self.client = client
        self.threshold = threshold
        self._wanted = model
        self._model: Model | None = None
        self._seen = -math.inf
        self._lock = threading.Lock()

    @property
    def state(self) -> BreakerState:
        """The circuit to the server, for a page."""
        return self.client.state

    @property
    def version(self) -> str:
        """Model, prompt and family. Asks the server once; raises RequestFailed or CircuitOpen where it can't."""
        return self._declared(self._identify(threading.Event()))

    def score(
        self, batch: Sequence[ScoringInput], *, cancelled: Callable[[], bool]
    ) -> list[Scored | ScoreFailure]:
        """One result per input, in order. Raises ScoringCancelled once ``cancelled()`` is true: what is under way
        then ends by itself, nothing new is sent."""
        if cancelled():
            raise ScoringCancelled
        if not batch:
            return []
        stop = threading.Event()
        try:
            model = self._identify(stop)
        except (RequestFailed, CircuitOpen) as error:
            return [ScoreFailure(str(error), temporary=True) for _ in batch]
        pool = ThreadPoolExecutor(min(len(batch), self.client.limits.concurrency), "scorer")
        try:
            futures = [pool.submit(self._score_one, item, model, stop) for item in batch]
            _wait(futures, cancelled)
            return [future.result() for future in futures]
        finally:
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)

    @abstractmethod
    def decisive(self) -> Mapping[str, Any]:
        """Settings that decide a score, beside model, prompt and family; they are part of the version."""

    @abstractmethod
    def ask(self, item: ScoringInput, model: str, stop: threading.Event) -> Scored:
        """The scores of one solution that has judged steps. Raises RequestFailed, CircuitOpen, Stopped or
        InvalidScores."""

    def _score_one(self, item: ScoringInput, model: Model, stop: threading.Event) -> Scored | ScoreFailure:
        if not any(step.judged for step in item.steps):
            return ScoreFailure("The solution has no steps that take a label.")
        began = time.monotonic()
        try:
            scored = checked(self.ask(item, model.name, stop), item.steps)
        except (RequestFailed, CircuitOpen) as error:
            return ScoreFailure(str(error), temporary=getattr(error, "temporary", True))
        except InvalidScores as error:
            return ScoreFailure(f"The server's scores do not fit: {error}.")
        except Stopped:
            return ScoreFailure("Scoring was stopped before this solution's turn.", temporary=True)
        return replace(scored, usage={**(scored.usage or {}), "seconds": time.monotonic() - began})

    def _identify(self, stop: threading.Event) -> Model:
        """The served model. Raises ServerUnavailable when it is another one than at first: a version never mixes."""
        with self._lock:
            if self._model is not None and time.monotonic() - self._seen < RECHECK_SECONDS:
                return self._model
            found = _chosen(_served(self.client.get("/v1/models", stop=stop)), self._wanted)
            if self._model is not None and found != self._model:
                raise ServerUnavailable(
                    f"The server now serves {found.root} instead of {self._model.root}; "
                    "the next job scores under a new version."
                )
            self._model, self._seen = found, time.monotonic()
            return found

    def _declared(self, model: Model) -> str:
        told = {
            "kind": self.name,
            "family": self.family,
            "prompt": self.prompt,
            "model": [model.name, model.root],
            "threshold": self.threshold,
            **self.decisive(),
        }
        digest = hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()[:10]
        return f"{self.name}:{self.family}/{self.prompt}:{digest}:{model.root}"[:VERSION_LENGTH]


def _wait(futures: Sequence[Future[Scored | ScoreFailure]], cancelled: Callable[[], bool]) -> None:
    """Until all are done. Raises ScoringCancelled once ``cancelled()`` is true; only this thread asks it."""
    pending = set(futures)
    while pending:
        _, pending = wait(pending, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
        if pending and cancelled():
            raise ScoringCancelled


def _served(reply: Any) -> list[Model]:
    try:
        found = [Model(str(one["id"]), str(one.get("root") or one["id"])) for one in reply["data"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise ServerUnavailable("The server's list of models is not of the usual shape.") from error
    if not found:
        raise ServerUnavailable("The server serves no model.")
    return found


def _chosen(served: Sequence[Model], wanted: str | None) -> Model:
    names = ", ".join(model.name for model in served[:5])
    if wanted is None and len(served) > 1:
        raise ServerUnavailable(f"The server serves several models ({names} …); say which in 'model'.")
    for model in served:
        if wanted in {None, model.name}:
            return model
    raise ServerUnavailable(f"The server does not serve {wanted}; it serves {names}.")


def good_share(row: Any, good: int, place: str) -> float:
    """The probability at index ``good`` of a row of two. Raises BadReply unless they are two probabilities of sum 1.

    >>> good_share([0.25, 0.75], 1, "step 1")
    0.75
    """
    pair = [float(one) for one in row] if _numbers(row) else []
    if len(pair) != 2:
        raise BadReply(f"{place}: two probabilities were expected, got {_brief(row)}.")
    if not all(math.isfinite(one) for one in pair):
        raise BadReply(f"{place}: the server's score is not a number.")
    if not all(0.0 <= one <= 1.0 for one in pair) or abs(sum(pair) - 1.0) > ROUNDING:
        raise BadReply(f"{place}: {_brief(row)} are not two probabilities of sum 1; is the softmax off?")
    return pair[good]


def _numbers(row: Any) -> bool:
    """Whether all are floats, NaN included, or whole numbers that fit into one."""
    return isinstance(row, list) and all(
        isinstance(x, float) or (isinstance(x, int) and not isinstance(x, bool) and abs(x) < 2**53)
        for x in row
    )


def _brief(row: Any) -> str:
    text = repr(row)
    return text if len(text) <= 60 else text[:57] + "…"


def over_steps(item: ScoringInput, judged: Sequence[Entry | None]) -> tuple[Entry | None, ...]:
    """Entries of judged steps, spread over all steps with None at context. The lengths must fit."""
    entries = iter(judged)
    return tuple(next(entries) if step.judged else None for step in item.steps)


def rows_for(item: ScoringInput, rows: Any, good: int) -> Scored:
    """Scores from one row of two probabilities per judged step. Raises BadReply where they don't fit."""
    expected = [index for index, step in enumerate(item.steps) if step.judged]
    if not isinstance(rows, list) or len(rows) != len(expected):
        got = len(rows) if isinstance(rows, list) else "something else"
        raise BadReply(f"The solution has {len(expected)} steps to score, but {got} scores came back.")
    values = [good_share(row, good, f"step {index + 1}") for index, row in zip(expected, rows, strict=True)]
    return Scored(values=over_steps(item, values), spread=(None,) * len(item.steps))


def token_counts(reply: Any) -> dict[str, float]:
    """What a reply says of the tokens it cost; a count that is none is left out."""
    usage = reply.get("usage") if isinstance(reply, dict) else None
    if not isinstance(usage, dict):
        return {}
    wanted = ("prompt_tokens", "completion_tokens")
    said = {name: usage[name] for name in wanted if _numbers([usage.get(name)])}
    return {name: float(count) for name, count in said.items() if 0 <= count < MOST_TOKENS}


def threshold(settings: Settings) -> float:
    """The probability below which the scorer calls a step an error."""
    return settings.number("threshold", EVEN_ODDS, 0.0, 1.0)
