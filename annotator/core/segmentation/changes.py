"""Another segmentation of the same text: steps merged, split, or cut anew by a rule.

The text never changes: text + separator, joined, is the same before and after. What was judged carries over only
where the step and everything before it are untouched.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from annotator.core.labels import Labels, Mode, missing
from annotator.core.segmentation import boundaries, segment
from annotator.core.segmentation.protected import protected_spans
from annotator.core.solutions import Step, full_text, judged_mask

#: Kinds that a rule may cut anew; messages, actions and context keep the borders they came with.
PROSE = frozenset({"reasoning", "code"})
#: Details that speak of steps: lists of steps, and objects by step.
_LISTS, _BY_STEP = ("unsure", "implied"), ("comments", "error_types", "recovered_at", "step_seconds")


class CannotChange(ValueError):
    """A change that would lose text, mix what doesn't mix, or change nothing; the message says which."""


def merged(steps: Sequence[Step], index: int) -> tuple[Step, ...]:
    """Step ``index`` (0-based) and the one after it as one. Raises CannotChange.

    >>> [step.text for step in merged([Step("a", sep=" "), Step("b"), Step("c")], 0)]
    ['a b', 'c']
    """
    if not 0 <= index < len(steps) - 1:
        raise CannotChange(f"there is no step after step {index + 1} to merge it with")
    first, second = steps[index], steps[index + 1]
    if first.judged != second.judged or (
        first.kind != second.kind and not {first.kind, second.kind} <= PROSE
    ):
        raise CannotChange(f"step {index + 1} is {first.kind} and step {index + 2} is {second.kind}")
    kind = first.kind if first.kind == second.kind else "reasoning"
    whole = Step(first.text + first.sep + second.text, kind, first.judged, second.sep)
    return (*steps[:index], whole, *steps[index + 2 :])


def split(steps: Sequence[Step], index: int, at: int) -> tuple[Step, ...]:
    """Step ``index`` as two, the second beginning at character ``at`` of its text. Raises CannotChange.

    White space at the cut becomes the separator.

    >>> [(step.text, step.sep) for step in split([Step("One. Two.", sep="\\n")], 0, 5)]
    [('One.', ' '), ('Two.', '\\n')]
    """
    if not 0 <= index < len(steps):
        raise CannotChange(f"there is no step {index + 1}")
    step = steps[index]
    left, right = step.text[:at], step.text[at:]
    first, second = left.rstrip(), right.lstrip()
    if at < 0 or not first or not second:
        raise CannotChange(f"one side of step {index + 1} would be blank")
    sep = left[len(first) :] + right[: len(right) - len(second)]
    halves = (Step(first, step.kind, step.judged, sep), Step(second, step.kind, step.judged, step.sep))
    return (*steps[:index], *halves, *steps[index + 1 :])


def cut_anew(steps: Sequence[Step], rule: str) -> tuple[Step, ...]:
    """The same text, each stretch of judged prose and code cut by a rule of `segment`. Raises UnknownRule.

    >>> [step.text for step in cut_anew([Step("One. Two.", sep=" "), Step("Three.")], "sentence")]
    ['One.', 'Two.', 'Three.']
    """
    made: list[Step] = []
    for prose, run in groupby(steps, key=lambda step: step.judged and step.kind in PROSE):
        part = list(run)
        made += _stretch(part, rule) if prose else part
    return tuple(made)


def _stretch(part: Sequence[Step], rule: str) -> Iterator[Step]:
    text = full_text(part)
    done = segment(text, rule)
    known = {(step.text, step.sep): step.kind for step in part}
    for number, piece in enumerate(done.pieces):
        own = (done.leading if number == 0 else "") + piece.text
        fenced = own.strip().startswith("```") and own.strip().endswith("```")
        kind = known.get((own, piece.sep), "code" if fenced else "reasoning")
        yield Step(own, kind, True, piece.sep)


def places_to_split(text: str) -> list[int]:
    """Characters at which a step's text may sensibly be cut: where sentences and lines begin, outside formulas.

    >>> places_to_split("One. Two is $a. B$. Three.")
    [5, 20]
    """
    first, last = len(text) - len(text.lstrip()), len(text.rstrip())
    places = sorted(at for at in {*boundaries.sentences(text), *boundaries.lines(text)} if first < at < last)
    spans = protected_spans(text)
    begins = [low for low, _ in spans]
    inside = [
        bisect_left(begins, at) for at in places
    ]  # how many spans begin before the place; they are disjoint
    return [at for at, n in zip(places, inside, strict=True) if not (n and at < spans[n - 1][1])]


def check_same_text(before: Sequence[Step], after: Sequence[Step]) -> None:
    """Raise CannotChange unless the text is the same, no step is blank, and something is different."""
    if full_text(before) != full_text(after):
        raise CannotChange("the text would not be the same")
    if any(not step.text.strip() for step in after):
        raise CannotChange("a step would be blank")
    if [*before] == [*after]:
        raise CannotChange("nothing would change")


def unchanged(before: Sequence[Step], after: Sequence[Step]) -> int:
    """How many steps at the start are the same, with everything before them.

    >>> unchanged([Step("a", sep=" "), Step("b"), Step("c")], [Step("a", sep=" "), Step("bc")])
    1
    """
    count = 0
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        if (old.text, old.kind, old.judged) != (new.text, new.kind, new.judged):
            break
        if index and before[index - 1].sep != after[index - 1].sep:
            break
        count += 1
    return count


def carried(labels: Labels, after: Sequence[Step], same: int) -> list[int | None]:
    """The labels of the first ``same`` steps, and None for the rest of the new ones.

    >>> carried([1, -1, None], [Step("a"), Step("b"), Step("c"), Step("d")], 1)
    [1, None, None, None]
    """
    return [*labels[:same], *[None] * (len(after) - same)]


def is_complete(labels: Labels, after: Sequence[Step], mode: Mode) -> bool:
    """Whether carried labels say all that the mode asks for: then nothing is left to be judged.

    >>> is_complete([1, -1, None, None], [Step(t) for t in "abcd"], Mode.FIRST_ERROR)
    True
    """
    return not missing(labels, judged_mask(after), mode)


def carried_details(details: Mapping[str, Any], same: int) -> dict[str, Any]:
    """What was said of the first ``same`` steps; reports of bad cuts are answered by the change itself.

    >>> carried_details({"unsure": [0, 3], "comments": {"0": "ok", "2": "no"}, "aids": ["answer"]}, 1)
    {'unsure': [0], 'comments': {'0': 'ok'}, 'aids': ['answer']}
    """
    kept: dict[str, Any] = {}
    for key, value in details.items():
        if key in _LISTS:
            kept[key] = [step for step in value if step < same]
        elif key in _BY_STEP:
            kept[key] = {step: said for step, said in value.items() if int(step) < same}
        elif key not in ("segmentation", "scratch"):
            kept[key] = value
    if "recovered_at" in kept:
        kept["recovered_at"] = {step: at for step, at in kept["recovered_at"].items() if at < same}
    return {key: value for key, value in kept.items() if value}
