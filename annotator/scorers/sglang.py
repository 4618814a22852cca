"""PRMs behind SGLang's scoring interface: the share of two label tokens at each step's tag.

``POST /v1/score`` with a ``score_extraction_token`` returns, for each item, a row at every place where that token
occurs; the softmax over the label tokens is the server's.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.http import BadReply, Client
from annotator.scorers.remote import RemoteScorer, Settings, rows_for, threshold, token_counts

_NUMBERED = re.compile(r"\A\s*step\s+\d+\s*[:.]\s*", re.IGNORECASE)


def unnumbered(text: str) -> str:
    """A step's text without a number that its author gave it: prompts number the steps themselves.

    >>> unnumbered("Step 3: add")
    'add'
    """
    return _NUMBERED.sub("", text)


@dataclass(frozen=True, slots=True)
class Family:
    """How a family is prompted: plain text, steps numbered, a tag after each. ``labels`` are token ids, the one for
    "correct" at index ``good``; ``broken`` stands where somebody's text holds the tag."""

    name: str
    tag: str
    broken: str
    labels: tuple[int, int]
    good: int

    def query(self, item: ScoringInput) -> str:
        """What comes before the steps."""
        return self._escape(item.problem) + " "

    def steps(self, item: ScoringInput) -> str:
        """The steps as one text. Judged ones are numbered from 1 and tagged; context stands between them bare."""
        lines, number = [], 0
        for step in item.steps:
            text = self._escape(step.text.strip())
            if step.judged:
                number += 1
                lines.append(f"Step {number}: {unnumbered(text)} {self.tag}")
            else:
                lines.append(text)
        return "\n".join(lines)

    def _escape(self, text: str) -> str:
        return text.replace(self.tag, self.broken)


#: Math-Shepherd (Wang et al. 2024): `+` is 648, `-` is 387, read at `ки`.
FAMILIES: Mapping[str, Family] = {
    "math_shepherd": Family("math_shepherd", tag="ки", broken="к-и", labels=(648, 387), good=0)
}


class SglangScorer(RemoteScorer):
    """One solution a request; the server batches what arrives together."""

    name: ClassVar[str] = "sglang"
    prompt: ClassVar[str] = "1"

    def __init__(self, client: Client, *, family: Family, model: str | None, threshold: float) -> None:
        super().__init__(client, model=model, threshold=threshold)
        self._family, self.family = family, family.name

    def decisive(self) -> Mapping[str, Any]:
        """The token ids that are compared."""
        return {"labels": list(self._family.labels)}

    def ask(self, item: ScoringInput, model: str, stop: threading.Event) -> Scored:
        """Scores of one solution. Raises RequestFailed, CircuitOpen or Stopped."""
        body = {
            "model": model,
            "query": self._family.query(item),
            "items": [self._family.steps(item)],
            "label_token_ids": list(self._family.labels),
            "apply_softmax": True,
            "score_extraction_token": self._family.tag,
        }
        reply = self.client.post("/v1/score", body, stop=stop)
        try:
            (rows,) = reply["scores"]
        except (KeyError, TypeError, ValueError) as error:
            raise BadReply("The server's answer is not of the documented shape.") from error
        return replace(rows_for(item, rows, self._family.good), usage=token_counts(reply))


def make(
    config: Mapping[str, Any], *, allowed_hosts: Collection[str] = (), allowed_keys: Collection[str] = ()
) -> SglangScorer:
    """A scorer from its settings; see docs/scorers.md. Raises InvalidSettings or EndpointRefused."""
    settings = Settings(config)
    family = FAMILIES[settings.choice("family", FAMILIES.keys(), "math_shepherd")]
    good = settings.whole("good_token", family.labels[0], 0, 10_000_000)
    bad = settings.whole("bad_token", family.labels[1], 0, 10_000_000)
    scorer = SglangScorer(
        settings.client(allowed_hosts, allowed_keys, seconds=60.0),
        family=replace(family, labels=(good, bad)),
        model=settings.text("model"),
        threshold=threshold(settings),
    )
    settings.done()
    return scorer
