"""Monte-Carlo estimates against any completions endpoint: how often a solution, continued from here, ends well.

``POST /v1/completions``. For the prefix that ends with step t, K continuations are drawn and their final answers
compared with the reference: *soft* is the share that reaches it, *hard* is whether any does (Wang et al. 2024,
Math-Shepherd, section 3.2). This is *utility*, not correctness: a wrong step may be corrected later, and a right one
may lead nowhere. Mode ``search`` looks for the first prefix from which nothing ends well in O(log n) prefixes (Luo et
al. 2024, OmegaPRM, section 3.2). Tallies are handed over as they come, so that whoever is killed pays nothing twice.
"""

from __future__ import annotations

import math
import queue
import re
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

from annotator.core.answers import How, final_answer, same_answer
from annotator.core.labels import NO_ERROR
from annotator.core.solutions import full_text
from annotator.scorers.base import (
    UTILITY,
    AnsweredInput,
    Scored,
    ScoreFailure,
    ScoringCancelled,
    ScoringInput,
    Tally,
    checked,
)
from annotator.scorers.breaker import CircuitOpen
from annotator.scorers.http import BadReply, Client, RequestFailed, RequestRefused, Stopped
from annotator.scorers.remote import POLL_SECONDS, Model, RemoteScorer, Settings, token_counts

ALL, SEARCH = "all", "search"
SOFT, HARD = "soft", "hard"
ASK = "Please reason step by step, and put your final answer within \\boxed{}."
_LLAMA3 = (
    f"<|start_header_id|>system<|end_header_id|>\n\n{ASK}<|eot_id|><|start_header_id|>user<|end_header_id|>\n\n"
    "{problem}<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n{prefix}"
)
#: Prompts up to where the model goes on, and what ends a continuation. Completions endpoints apply no chat template.
PROMPTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "plain": (f"Problem:\n{{problem}}\n\n{ASK}\n\nSolution:\n{{prefix}}", ("\nProblem:",)),
    "chatml": (
        f"<|im_start|>system\n{ASK}<|im_end|>\n<|im_start|>user\n{{problem}}<|im_end|>\n<|im_start|>assistant\n{{prefix}}",
        ("<|im_end|>",),
    ),
    "llama3": (
        _LLAMA3,
        ("<|eot_id|>",),
    ),
}
#: What a tokenizer would read as a special token in somebody's text.
_SPECIAL = re.compile(r"<(?=\|)")

Paid = Callable[[int, Tally], None]


@dataclass(frozen=True, slots=True)
class Rolling:
    """How continuations are drawn and what they say. ``rollouts`` is K."""

    rollouts: int = 8
    mode: str = ALL
    estimate: str = SOFT
    prompt: str = "plain"
    temperature: float = 0.7
    top_p: float = 0.95
    max_tokens: int = 2048
    seed: int = 0


def first_failure(size: int, reaches: Callable[[int], bool]) -> int:
    """The first of ``size`` prefixes from which no continuation ends well, -1 for none, by binary search.

    ``reaches(i)`` is asked at most ceil(log2(size + 1)) times. It is taken to be true up to some place and false from
    there: where it isn't, a place is found at which it turns false. OmegaPRM's search (Luo et al. 2024).

    >>> first_failure(5, lambda i: i < 3), first_failure(5, lambda i: True)
    (3, -1)
    """
    low, high = 0, size
    while low < high:
        middle = (low + high) // 2
        if reaches(middle):
            low = middle + 1
        else:
            high = middle
    return low if low < size else NO_ERROR


def estimated(tally: Tally) -> tuple[float, float]:
    """The soft value and its spread: the standard deviation of Jeffreys' posterior Beta(r + 1/2, n - r + 1/2), which
    is above 0 also where all continuations agree.

    >>> estimated(Tally(tried=8, right=6))[0], round(estimated(Tally(tried=8, right=8))[1], 3)
    (0.75, 0.072)
    """
    a, b = tally.right + 0.5, tally.tried - tally.right + 0.5
    return tally.right / tally.tried, math.sqrt(a * b / ((a + b) ** 2 * (a + b + 1)))


class MonteCarloScorer(RemoteScorer):
    """K continuations of each prefix, those of one solution after one another, several solutions at a time."""

    name: ClassVar[str] = "monte_carlo"
    prompt: ClassVar[str] = "1"
    measures = UTILITY

    def __init__(self, client: Client, *, rolling: Rolling, model: str | None, threshold: float) -> None:
        super().__init__(client, model=model, threshold=threshold)
        self.rolling = rolling
        self.family = rolling.mode

    def decisive(self) -> Mapping[str, Any]:
        """All that changes which continuations are drawn and what is made of them."""
        one = self.rolling
        drawn = [one.rollouts, one.temperature, one.top_p, one.max_tokens, one.seed]
        return {"estimate": one.estimate, "drawn": drawn, "text": PROMPTS[one.prompt]}

    def ask(self, item: ScoringInput, model: str, stop: threading.Event) -> Scored:
        """Never: there is no outcome to compare with. Raises RequestRefused."""
        raise RequestRefused("Continuations are compared with the reference answer, which is not given here.")

    def score_answered(
        self,
        batch: Sequence[AnsweredInput],
        *,
        cancelled: Callable[[], bool],
        paid: Callable[[int, int, Tally], None],
    ) -> list[Scored | ScoreFailure]:
        """See `NeedsAnswer`. Raises ScoringCancelled; what came until then has been handed over."""
        if cancelled():
            raise ScoringCancelled
        stop, reports = threading.Event(), queue.SimpleQueue[_Report]()
        try:
            model = self._identify(stop)
        except (RequestFailed, CircuitOpen) as error:
            return [ScoreFailure(str(error), temporary=True) for _ in batch]
        pool = ThreadPoolExecutor(max(1, min(len(batch), self.client.limits.concurrency)), "rollouts")
        try:
            futures = [
                pool.submit(self._one, item, model, stop, _handing_over(place, reports, stop))
                for place, item in enumerate(batch)
            ]
            while not all(future.done() for future in futures):
                _receive(reports, paid)
                if cancelled():
                    raise ScoringCancelled
            return [future.result() for future in futures]
        finally:
            stop.set()
            while not reports.empty():
                _receive(reports, paid)
            pool.shutdown(wait=False, cancel_futures=True)

    def _one(
        self, item: AnsweredInput, model: Model, stop: threading.Event, paid: Paid
    ) -> Scored | ScoreFailure:
        if not any(step.judged for step in item.given.steps):
            return ScoreFailure("The solution has no steps that take a label.")
        try:
            return checked(_Estimate(self, item, model.name, stop, paid).scored(), item.given.steps)
        except (RequestFailed, CircuitOpen) as error:
            return ScoreFailure(str(error), temporary=getattr(error, "temporary", True))
        except Stopped:
            return ScoreFailure("Scoring was stopped before this solution's turn.", temporary=True)

    def draw(self, item: AnsweredInput, step: int, drawn: int, model: str, stop: threading.Event) -> Tally:
        """Continuations that are missing after a step where ``drawn`` are known, as one request brings them."""
        began = time.monotonic()
        reply = self.client.post("/v1/completions", self._body(item.given, step, drawn, model), stop=stop)
        choices = _texts(reply)[: self.rolling.rollouts - drawn]
        said = [_outcome(text, finished, item.answer) for text, finished in choices]
        tokens = token_counts(reply)
        usage = {
            "input_tokens": tokens.get("prompt_tokens", 0.0),
            "output_tokens": tokens.get("completion_tokens", 0.0),
            "seconds": time.monotonic() - began,
            "requests": 1.0,
        }
        return Tally(len(said), said.count(True), said.count(None), usage)

    def _body(self, item: ScoringInput, step: int, drawn: int, model: str) -> dict[str, Any]:
        one = self.rolling
        template, ends = PROMPTS[one.prompt]
        prefix = _escape(full_text(item.steps[: step + 1]))
        text = template.replace("{problem}", _escape(item.problem.strip()), 1)
        head, _, tail = text.rpartition("{prefix}")
        return {
            "model": model,
            "prompt": head + prefix + tail,
            "n": one.rollouts - drawn,
            "temperature": one.temperature,
            "top_p": one.top_p,
            "max_tokens": one.max_tokens,
            "seed": one.seed + drawn,
            "stop": list(ends),
        }


class _Estimate:
    """One solution's prefixes: what is known of them, and what is still to be paid."""

    def __init__(
        self, scorer: MonteCarloScorer, item: AnsweredInput, model: str, stop: threading.Event, paid: Paid
    ) -> None:
        self.scorer, self.item, self.model, self.stop, self.paid = scorer, item, model, stop, paid
        self.tallies = dict(item.known)
        self.prefixes = [index for index, step in enumerate(item.given.steps) if step.judged]
        self.outcome = _own_outcome(item)
        self.used: set[int] = set()

    def scored(self) -> Scored:
        """Values by the scorer's mode. Raises RequestFailed, CircuitOpen or Stopped."""
        rolling = self.scorer.rolling
        if rolling.mode == SEARCH:
            found = first_failure(len(self.prefixes), lambda place: self.value(self.prefixes[place])[0] > 0)
            values, spread = self._searched(found)
        else:
            measured = [self.value(step) for step in self.prefixes]
            values, spread = [one for one, _ in measured], [width for _, width in measured]
        if rolling.estimate == HARD:
            values, spread = [float(one > 0) for one in values], [None] * len(values)
        rows: list[tuple[float | None, ...]] = []
        for judged in (values, spread):
            by_step = dict(zip(self.prefixes, judged, strict=True))
            rows.append(tuple(by_step.get(index) for index in range(len(self.item.given.steps))))
        return Scored(values=rows[0], spread=rows[1], measures=UTILITY, usage=self._usage())

    def value(self, step: int) -> tuple[float, float | None]:
        """The soft value of a prefix and its spread. A whole solution that states its answer costs nothing."""
        self.used.add(step)
        if step == len(self.item.given.steps) - 1 and self.outcome is not None:
            return float(self.outcome), None
        wanted, requests = self.scorer.rolling.rollouts, 0
        while (tally := self.tallies.get(step, Tally())).tried < wanted:
            if requests == wanted:
                raise BadReply("The server draws fewer continuations than it is asked for.")
            requests += 1
            new = self.scorer.draw(self.item, step, tally.tried, self.model, self.stop)
            self.tallies[step] = tally + new
            self.paid(step, new)
        return estimated(tally)

    def _searched(self, found: int) -> tuple[list[float], list[float | None]]:
        """Prefixes that weren't looked at: from the failure on 0, before it what the next one that was looked at has,
        since what can be reached from there can be reached from here."""
        values: list[float] = []
        spread: list[float | None] = []
        later = 1.0
        for place in reversed(range(len(self.prefixes))):
            step = self.prefixes[place]
            if found != NO_ERROR and place >= found:
                value, width = 0.0, self.value(step)[1] if step in self.used else None
            elif step in self.used:
                value, width = self.value(step)
                later = value
            else:
                value, width = later, None
            values.insert(0, value)
            spread.insert(0, width)
        return values, spread

    def _usage(self) -> dict[str, float]:
        """What the solution has cost so far, in this run and earlier ones."""
        total = Tally()
        for tally in self.tallies.values():
            total += tally
        return {
            **total.usage,
            "rollouts": float(total.tried),
            "unparsed": float(total.unparsed),
            "prefixes": float(len(self.used)),
        }


@dataclass(frozen=True, slots=True)
class _Report:
    place: int
    step: int
    tally: Tally
    kept: threading.Event


def _handing_over(place: int, reports: queue.SimpleQueue[_Report], stop: threading.Event) -> Paid:
    """Hand a tally to the caller's thread, and go on once it has been kept. Raises Stopped."""

    def paid(step: int, tally: Tally) -> None:
        report = _Report(place, step, tally, threading.Event())
        reports.put(report)
        while not report.kept.wait(POLL_SECONDS):
            if stop.is_set():
                raise Stopped

    return paid


def _receive(reports: queue.SimpleQueue[_Report], paid: Callable[[int, int, Tally], None]) -> None:
    """Keep the next tally, if one comes soon."""
    try:
        report = reports.get(timeout=POLL_SECONDS)
    except queue.Empty:
        return
    paid(report.place, report.step, report.tally)
    report.kept.set()


def _own_outcome(item: AnsweredInput) -> bool | None:
    """Whether the solution's own answer is right; None where it marks none, so that it must be continued."""
    found = final_answer(full_text(item.given.steps))
    if found is None or found.how is How.NUMBER:
        return None
    return same_answer(item.answer, found.text)


def _outcome(text: str, finished: bool, answer: str) -> bool | None:
    """Whether a continuation reaches the answer; None where it has none, or one that can't be compared.

    A last number that nothing marks counts as an answer only where the model came to an end of its own.
    """
    found = final_answer(text)
    if found is None or (found.how is How.NUMBER and not finished):
        return None
    return same_answer(answer, found.text)


def _texts(reply: Any) -> list[tuple[str, bool]]:
    """Each continuation, and whether it came to its own end."""
    try:
        found = [(one["text"], one.get("finish_reason") != "length") for one in reply["choices"]]
    except (KeyError, TypeError, AttributeError) as error:
        raise BadReply("The server's answer is not of the documented shape.") from error
    if not found or not all(isinstance(text, str) for text, _ in found):
        raise BadReply("The server's answer is not of the documented shape.")
    return found


def _escape(text: str) -> str:
    return _SPECIAL.sub("< ", text)


def make(
    config: Mapping[str, Any], *, allowed_hosts: Collection[str] = (), allowed_keys: Collection[str] = ()
) -> MonteCarloScorer:
    """A scorer from its settings; see docs/sources.md. Raises InvalidSettings or EndpointRefused.

    Unless told otherwise the threshold lies below one continuation of K: a step is an error where none ends well.
    """
    settings, usual = Settings(config), Rolling()
    client = settings.client(allowed_hosts, allowed_keys, seconds=300.0)
    rolling = Rolling(
        rollouts=settings.whole("rollouts", usual.rollouts, 1, 256),
        mode=settings.choice("mode", (ALL, SEARCH), ALL),
        estimate=settings.choice("estimate", (SOFT, HARD), SOFT),
        prompt=settings.choice("prompt", PROMPTS.keys(), usual.prompt),
        temperature=settings.number("temperature", usual.temperature, 0.0, 2.0),
        top_p=settings.number("top_p", usual.top_p, 0.01, 1.0),
        max_tokens=settings.whole("max_tokens", usual.max_tokens, 1, 200_000),
        seed=settings.whole("seed", usual.seed, 0, 2**31),
    )
    none_ends_well = 0.5 / rolling.rollouts if rolling.estimate == SOFT else 0.5
    scorer = MonteCarloScorer(
        client,
        rolling=rolling,
        model=settings.text("model"),
        threshold=settings.number("threshold", none_ends_well, 0.0, 1.0),
    )
    settings.done()
    return scorer
