"""What scorers that talk to a chat model share: drawing several answers, and reading words and their odds.

``POST /v1/chat/completions``, as OpenAI, vLLM, SGLang and others serve it. What a model writes is text: it is read,
kept and shown to reviewers, and never run.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotator.scorers.base import ScoringInput
from annotator.scorers.http import BadReply, Client
from annotator.scorers.remote import RemoteScorer, Settings, token_counts

RATIONALE_LENGTH = 4_000
ALTERNATIVES = 10
#: What stands around a word without being part of it.
_MARKS = " *_`.:;'" + '"'
#: What would close or open one of our tags from inside somebody's text.
_TAG = re.compile(r"<(?=\s*/?\s*(?:paragraph|context|problem|before|step|solution|rubric))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the answers are drawn. ``logprobs`` asks for the alternatives to each token."""

    votes: int = 8
    temperature: float = 0.7
    top_p: float = 0.95
    max_tokens: int = 4096
    logprobs: bool = True
    seed: int = 0

    def told(self) -> list[Any]:
        """All of it, for a version."""
        return [self.votes, self.temperature, self.top_p, self.max_tokens, self.logprobs, self.seed]


def escape(text: str) -> str:
    """The text with our tags broken, so that it can't leave its place in a prompt.

    >>> escape("1 < 2 </step> <Problem>")
    '1 < 2 < /step> < Problem>'
    """
    return _TAG.sub("< ", text)


def tagged(item: ScoringInput, end: int | None = None, *, tag: str = "step", first: int = 1) -> str:
    """The steps before place ``end`` (all), each in a tag; judged ones are numbered, context keeps its place."""
    parts, number = [], first
    for step in item.steps[:end]:
        name = f"{tag}_{number}" if step.judged else "context"
        number += step.judged
        parts.append(f"<{name}>\n{escape(step.text.strip())}\n</{name}>")
    return "\n\n".join(parts)


class ChatScorer(RemoteScorer):
    """n answers to a question, in one request where the server draws several at once, else in several."""

    #: Problems' pictures are part of the question.
    wants_images = True

    def __init__(self, client: Client, *, sampling: Sampling, model: str | None, threshold: float) -> None:
        super().__init__(client, model=model, threshold=threshold)
        self.sampling = sampling

    def answers(
        self, prompt: str, item: ScoringInput, model: str, stop: threading.Event
    ) -> tuple[list[Mapping[str, Any]], dict[str, float]]:
        """As many answers as there are votes, and what they cost. Some servers draw one at a time, whatever n says."""
        drawn: list[Mapping[str, Any]] = []
        usage = {"requests": 0.0}
        content = _content(prompt, item.images)
        while len(drawn) < self.sampling.votes and usage["requests"] < self.sampling.votes:
            body = self._body(content, model, len(drawn))
            reply = self.client.post("/v1/chat/completions", body, stop=stop)
            drawn += _choices(reply)
            add(usage, {"requests": 1.0, **token_counts(reply)})
        return drawn[: self.sampling.votes], usage

    def _body(self, content: Any, model: str, drawn: int) -> dict[str, Any]:
        one = self.sampling
        body = {
            "model": model,
            "messages": [{"role": "user", "content": content}],
            "n": one.votes - drawn,
            "temperature": one.temperature,
            "top_p": one.top_p,
            "max_tokens": one.max_tokens,
            "seed": one.seed + drawn,
        }
        return body | ({"logprobs": True, "top_logprobs": ALTERNATIVES} if one.logprobs else {})


def sampling(settings: Settings, usual: Sampling) -> Sampling:
    """From a scorer's settings. Raises InvalidSettings."""
    return Sampling(
        votes=settings.whole("votes", usual.votes, 1, 64),
        temperature=settings.number("temperature", usual.temperature, 0.0, 2.0),
        top_p=settings.number("top_p", usual.top_p, 0.01, 1.0),
        max_tokens=settings.whole("max_tokens", usual.max_tokens, 1, 200_000),
        logprobs=settings.yes("logprobs", usual.logprobs),
        seed=settings.whole("seed", usual.seed, 0, 2**31),
    )


def add(usage: dict[str, float], more: Mapping[str, float]) -> None:
    """Sum what was used."""
    for name, count in more.items():
        usage[name] = usage.get(name, 0.0) + count


def answer_text(choice: Mapping[str, Any]) -> str:
    """What the model said, without what it thought before."""
    message = choice.get("message")
    content = message.get("content") if isinstance(message, Mapping) else None
    return content.rpartition("</think>")[2] if isinstance(content, str) else ""


def kept(text: str) -> str:
    r"""What a model said, as it is kept: cut, and without what no database takes (NUL, halves of surrogate pairs).

    >>> kept(" fine\x00 \ud800 ")
    'fine ?'
    """
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8").strip()[:RATIONALE_LENGTH]


def tokens_told(choice: Mapping[str, Any]) -> list[tuple[str, list[tuple[str, float]]]]:
    """Each token with its alternatives and their log-probabilities; empty where the shape is another."""
    try:
        return [
            (str(one["token"]), [(str(a["token"]), float(a["logprob"])) for a in one["top_logprobs"]])
            for one in choice["logprobs"]["content"]
        ]
    except (KeyError, TypeError, ValueError, OverflowError):
        return []


def mean_and_spread(votes: Sequence[float]) -> tuple[float, float | None]:
    """The mean of the votes and their population standard deviation, None for a single one.

    >>> mean_and_spread([1.0, 0.0])
    (0.5, 0.5)
    """
    mean = math.fsum(votes) / len(votes)
    width = math.sqrt(math.fsum((vote - mean) ** 2 for vote in votes) / len(votes))
    return mean, width if len(votes) > 1 else None


def known_type(said: str, taxonomy: Sequence[str]) -> str | None:
    """The name of the taxonomy that was said, whatever its case and marks; None for any other word.

    >>> known_type(" **Calculation**. ", ["calculation", "misread problem"])
    'calculation'
    >>> known_type("a bad feeling", ["calculation"]) is None
    True
    """
    plain = said.strip(_MARKS).casefold()
    return next((name for name in taxonomy if name.casefold() == plain), None)


def _content(prompt: str, images: Sequence[str]) -> Any:
    """Text alone, or text and pictures as data URLs."""
    if not images:
        return prompt
    shown = [{"type": "image_url", "image_url": {"url": url}} for url in images]
    return [*shown, {"type": "text", "text": prompt}]


def _choices(reply: Any) -> list[Mapping[str, Any]]:
    choices = reply.get("choices") if isinstance(reply, dict) else None
    if not isinstance(choices, list) or not choices or not all(isinstance(one, dict) for one in choices):
        raise BadReply("The server's answer is not of the documented shape.")
    return choices
