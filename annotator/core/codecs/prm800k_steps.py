"""The steps of a PRM800K label: from completions to the path that was taken, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotator.core.codecs.base import Caps, InvalidRow
from annotator.core.codecs.fields import Fields, check_length, describe, is_whole
from annotator.core.codecs.flat import JOINER, kept
from annotator.core.labels import Label
from annotator.core.solutions import SolutionRecord, Step

#: In ``meta``: the last step of the file where nothing was offered there, so that it is no step of the path.
END = "label.end"
LOST_ALTERNATIVES = "alternatives without a text"
_STOPPED = "stopped"
_FURTHER = "completion"
_OWN = frozenset({"text", "rating", "flagged"})

SAMPLE: Mapping[str, Any] = {
    "labeler": "a-1",
    "timestamp": "2025-01-31T12:00:00",
    "generation": 1,
    "is_quality_control_question": False,
    "is_initial_screening_question": False,
    "question": {
        "problem": "What is $2 \\cdot 3 + 4$?",
        "ground_truth_solution": "$6 + 4 = \\boxed{10}$.",
        "ground_truth_answer": "10",
        "pre_generated_steps": ["First, $2 \\cdot 3 = 6$.", "Then $6 + 4 = 11$.", "# Answer\n\n11"],
        "pre_generated_answer": "11",
        "pre_generated_verifier_score": 0.25,
    },
    "label": {
        "steps": [
            {
                "completions": [{"text": "First, $2 \\cdot 3 = 6$.", "rating": 1, "flagged": None}],
                "human_completion": None,
                "chosen_completion": 0,
            },
            {
                "completions": [
                    {"text": "Then $6 + 4 = 11$.", "rating": -1, "flagged": None},
                    {"text": "Now add 4.", "rating": 0, "flagged": False},
                ],
                "human_completion": None,
                "chosen_completion": None,
            },
        ],
        "total_time": 12500,
        "finish_reason": "found_error",
    },
}


@dataclass(frozen=True, slots=True)
class Path:
    """What was chosen, its ratings, details by step (its index as text), and the end that is no step."""

    steps: tuple[Step, ...]
    labels: tuple[int | None, ...]
    details: dict[str, dict[str, Any]]
    end: dict[str, Any] | None = None


@dataclass(slots=True)
class Built:
    """The file's steps; ``left`` holds all judged texts where some were cut off after the first error."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    lost_context: int = 0
    lost_alternatives: int = 0


def read(label: Fields, pre_generated: Sequence[Any], caps: Caps) -> Path:
    """The path through ``label.steps``. Raises InvalidRow."""
    entries = label.entries("steps", caps)
    steps: list[Step] = []
    labels: list[int | None] = []
    details: dict[str, dict[str, Any]] = {}
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise InvalidRow("label.steps", f"step {index + 1}: expected an object; got {describe(entry)}")
        is_last = index == len(entries) - 1
        offered = _Offered(Fields(entry, f"label.steps[{index}]"), caps)
        went_on = pre_generated[index] if index < len(pre_generated) else None
        place = offered.place(went_on, is_last)
        if place is None and offered.human is None:
            if not steps:
                raise InvalidRow("label.steps", "step 1: expected a completion; there is none")
            return Path(tuple(steps), tuple(labels), details, end=entry)
        step, rating, extra = offered.step(place, is_last)
        steps.append(step)
        labels.append(rating)
        if extra:
            details[str(index)] = extra
    return Path(tuple(steps), tuple(labels), details)


class _Offered:
    """One step of the file: the completions offered there, the labeler's own, and the choice."""

    def __init__(self, fields: Fields, caps: Caps) -> None:
        self._fields, self._caps = fields, caps
        self.completions = [self._completion(each) for each in fields.items("completions") or []]
        human = fields.mapping("human_completion")
        self.human = None if human is None else self._completion(human)
        self.chosen = fields.whole("chosen_completion")
        if self.chosen is not None and not 0 <= self.chosen < len(self.completions):
            fields.fail("chosen_completion", f"null or an index among {len(self.completions)} completions")

    def _completion(self, value: object) -> dict[str, Any]:
        path = self._fields.name("completions")
        if not isinstance(value, dict) or not isinstance(value.get("text"), str):
            raise InvalidRow(path, f'expected objects with a "text"; got {describe(value)}')
        rating = value.get("rating")
        if rating is not None and not (is_whole(rating) and rating in (-1, 0, 1)):
            raise InvalidRow(path, f"expected ratings of -1, 0, 1 or null; got {describe(rating)}")
        Fields(value, path).flag("flagged")
        check_length(path, "", value["text"], self._caps.step_chars)
        return value

    def place(self, went_on: object, is_last: bool) -> int | None:
        """The completion on the path; None for the labeler's own text, or where nothing was offered."""
        if self.chosen is not None or self.human is not None:
            return self.chosen
        if not is_last:
            self._fields.fail("chosen_completion", "a choice or a human_completion, since steps follow")
        places = [place for place, each in enumerate(self.completions) if each["text"] == went_on]
        return next(iter(places), 0) if self.completions else None

    def step(self, place: int | None, is_last: bool) -> tuple[Step, int | None, dict[str, Any]]:
        """The step on the path, its rating, and what else the file says of it."""
        others = [{**each, "place": at} for at, each in enumerate(self.completions) if at != place]
        own = self.human if place is None else self.completions[place]
        if place is not None and self.human is not None:
            others.append({**self.human, "place": None})
        if own is None or not own["text"].strip():
            self._fields.fail("chosen_completion", "a completion with a text that is not blank")
        extra: dict[str, Any] = {}
        if own.get("flagged", False) is not False:
            extra["flagged"] = own["flagged"]
        if place is None and own.get("rating") is not None:
            extra["rating"] = own["rating"]
        stopped = place is not None and self.chosen is None
        if stopped != (place is not None and _stops(own.get("rating"), is_last)):
            extra[_STOPPED] = stopped
        further = {key: value for key, value in own.items() if key not in _OWN}
        if place is None and further.get("source") == "human":
            del further["source"]
        if further:
            extra[_FURTHER] = further
        step = Step(own["text"], judged=place is not None, alternatives=tuple(others))
        rating = own.get("rating") if step.judged else None
        return step, rating, extra


def write(record: SolutionRecord, details: Mapping[str, Any]) -> Built:
    """The file's steps up to the first error, where labels end there; other context joins the next step."""
    labels = record.labels or (None,) * len(record.steps)
    end = _end(labels)
    built = Built()
    context, waiting = "", 0
    for index, (step, label) in enumerate(zip(record.steps[:end], labels[:end], strict=True)):
        if not step.judged and step.kind != "reasoning":
            context, waiting = context + step.text + (step.sep or JOINER), waiting + 1
            continue
        known = details.get(str(index))
        extra = dict(known) if isinstance(known, dict) else {}
        last = index == end - 1
        built.entries.append(_entry(context + step.text, step, label, extra, last, built))
        context, waiting = "", 0
    if any(step.judged for step in record.steps[end:]):
        built.left = [step.text for step in record.steps if step.judged]
    elif end_of_file := kept(record.meta, END, dict[str, Any]()):
        built.entries.append(end_of_file)
    built.lost_context = waiting
    return built


def _end(labels: Sequence[int | None]) -> int:
    """How many steps are written: those after the first error are not, where none of them has a label."""
    if Label.INCORRECT not in labels:
        return len(labels)
    first = labels.index(Label.INCORRECT)
    return first + 1 if all(label is None for label in labels[first + 1 :]) else len(labels)


def _entry(
    text: str, step: Step, label: int | None, extra: dict[str, Any], last: bool, built: Built
) -> dict[str, Any]:
    stopped = extra.get(_STOPPED, _stops(label, last))
    flagged = extra.get("flagged", False)
    further = extra.get(_FURTHER) or {}
    alternatives = [each for each in map(_alternative, step.alternatives) if each is not None]
    built.lost_alternatives += len(step.alternatives) - len(alternatives)
    written = [each for each in alternatives if each.get("source") == "human" and each["place"] is None]
    offered = [each for each in alternatives if each not in written]
    taken = {each["place"] for each in offered}
    completions = [{key: value for key, value in each.items() if key != "place"} for each in offered]
    human: dict[str, Any] | None = None
    place: int | None = None
    if step.judged:
        place = next(at for at in range(len(offered) + 1) if at not in taken)
        completions.insert(place, {"text": text, "rating": label, "flagged": flagged, **further})
        human = {key: value for key, value in written[0].items() if key != "place"} if written else None
    else:
        own = {"text": text, "rating": extra.get("rating"), "source": "human", "flagged": flagged}
        human = own | further
    return {
        "completions": completions,
        "human_completion": human,
        "chosen_completion": None if stopped else place,
    }


def _stops(rating: object, is_last: bool) -> bool:
    """What is to be expected: nobody chooses a wrong step at the end. Said in the details where it is not so."""
    return is_last and rating == Label.INCORRECT


def _alternative(value: object) -> dict[str, Any] | None:
    """An alternative of any origin as a completion with its place; None where it has no text."""
    if isinstance(value, str):
        value = {"text": value}
    if not isinstance(value, dict) or not isinstance(value.get("text"), str):
        return None
    rating, place = value.get("rating"), value.get("place")
    return {
        **value,
        "rating": rating if is_whole(rating) and rating in (-1, 0, 1) else None,
        "flagged": value.get("flagged", False),
        "place": place if is_whole(place) else None,
    }
