"""What a label is worth: probabilities in place of yes and no, and one weight for a solution."""

from __future__ import annotations

from collections.abc import Sequence

from annotator.core.labels import Label, Labels, stop


def soft_labels(
    labels: Labels, posterior: float | None, people: Sequence[Labels]
) -> tuple[float | None, ...]:
    """For each step the probability that it is no error, None where it has no label.

    With a posterior of the solution's labels it is that of the label: ``posterior`` for a right step, 1 - posterior
    for a wrong one. Without, the share of those people who judged the step and did not call it wrong; without
    people 1 or 0. A neutral step is no error.

    >>> soft_labels([1, -1, None], 0.9, [])
    (0.9, 0.1, None)
    >>> soft_labels([1, -1], None, [[1, -1], [1, -1], [1, 1]])
    (1.0, 0.3333)
    """
    return tuple(
        None if label is None else round(_one(index, label, posterior, people), 4)
        for index, label in enumerate(labels)
    )


def _one(index: int, label: int, posterior: float | None, people: Sequence[Labels]) -> float:
    wrong = label == Label.INCORRECT
    if posterior is not None:
        return 1.0 - posterior if wrong else posterior
    said = [each[index] for each in people if each[index] is not None]
    if not said:
        return 0.0 if wrong else 1.0
    return sum(each != Label.INCORRECT for each in said) / len(said)


def weight(
    labels: Labels, judged: Sequence[bool], posterior: float | None, people: Sequence[Labels]
) -> float:
    """How far a solution's labels can be trusted as a whole: their posterior, else the share of people who put the
    first error in the same place, 1 where nobody else was asked.

    >>> weight([1, -1], [True, True], None, [[1, -1], [1, 1]])
    0.5
    """
    if posterior is not None:
        return round(posterior, 4)
    if not people:
        return 1.0
    here = stop(labels, judged)
    return round(sum(stop(each, judged) == here for each in people) / len(people), 4)
