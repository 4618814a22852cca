"""Solutions whose labels a scorer can be measured against, and what a version said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import OuterRef, Subquery

from annotator.core.evaluation import Judged, truth_of_stop
from annotator.core.labels import NOT_AN_ERROR, Label, accept_bit, acceptable_stops
from annotator.core.uncertainty import Values, predicted_stop
from annotator.models import (
    Adjudication,
    Consensus,
    Gold,
    Project,
    ReferenceLabels,
    Score,
    ScorerVersion,
    Split,
)
from annotator.scorers.builtin.training_data import problem_hash

Truth = tuple[bool | None, ...]


class Against(StrEnum):
    """HOLDOUT: consensus and adjudications on the holdout, which no scorer trains on. REFERENCE: the labels that a
    file brought. GOLD: gold that is neither void nor under suspicion."""

    HOLDOUT = "holdout"
    REFERENCE = "reference"
    GOLD = "gold"


@dataclass(frozen=True, slots=True)
class Known:
    """One solution: what is known of its steps, and the stops that count as right (several with gold; none where the
    stop is unknown)."""

    solution: int
    problem: int
    problem_hash: str
    truth: Truth
    stops: frozenset[int]
    answer_right: bool | None

    def judged(self, values: Values, threshold: float) -> Judged:
        """Beside a scorer's values. Of several right stops the one that it names counts, else the first."""
        said = predicted_stop(values, threshold)
        stop = said if said in self.stops else min(self.stops, key=_late, default=None)
        return Judged(values, self.truth, stop, self.problem, self.answer_right)


def _late(stop: int) -> float:
    """None at all comes after every step."""
    return float("inf") if stop < 0 else stop


def known(project: Project, against: Against) -> list[Known]:
    """The solutions of a project with such labels: one query, two for the holdout."""
    match against:
        case Against.HOLDOUT:
            return list(_holdout(project))
        case Against.REFERENCE:
            return list(_reference(project))
        case Against.GOLD:
            return list(_gold(project))


def has_any(project: Project, against: Against) -> bool:
    """Whether there is anything of the kind to measure against."""
    match against:
        case Against.HOLDOUT:
            agreed = Consensus.objects.filter(state=Consensus.State.AGREED)
            return any(
                rows.filter(**_in(project), solution__problem__split=Split.HOLDOUT).exists()
                for rows in (agreed, Adjudication.objects)
            )
        case Against.REFERENCE:
            return ReferenceLabels.objects.filter(**_in(project)).exists()
        case Against.GOLD:
            return Gold.objects.filter(project=project, void=False, suspect=False).exists()


def said_by(versions: Sequence[ScorerVersion], solutions: Sequence[int]) -> dict[int, dict[int, Values]]:
    """The values of these solutions, by version and solution: one query."""
    found: dict[int, dict[int, Values]] = {version.pk: {} for version in versions}
    rows = Score.objects.filter(version__in=versions, solution_id__in=solutions)
    for version, solution, values in rows.values_list("version_id", "solution_id", "values"):
        found[version][solution] = values
    return found


def _in(project: Project) -> dict[str, Any]:
    """A project's solutions as they are cut now: one that was cut otherwise since would count twice."""
    return {"solution__project": project, "solution__superseded_at": None}


_ABOUT = ("solution_id", "solution__problem_id", "solution__problem__text", "solution__answer_correct")


def _holdout(project: Project) -> Iterator[Known]:
    """The latest adjudication stands above the consensus."""
    of = {**_in(project), "solution__problem__split": Split.HOLDOUT}
    latest = Adjudication.objects.filter(solution=OuterRef("solution")).order_by("-decided_at", "-pk")
    decided = Adjudication.objects.filter(**of, pk=Subquery(latest.values("pk")[:1]))
    agreed = Consensus.objects.filter(**of, state=Consensus.State.AGREED)
    found = {row[0]: row for rows in (agreed, decided) for row in rows.values_list(*_ABOUT, "labels", "stop")}
    for solution, problem, text, right, labels, stop in (found[key] for key in sorted(found)):
        stops = frozenset() if stop is None else frozenset({stop})
        yield Known(solution, problem, problem_hash(text), _truth(labels), stops, right)


def _reference(project: Project) -> Iterator[Known]:
    rows = ReferenceLabels.objects.filter(**_in(project)).order_by("solution_id")
    for solution, problem, text, right, labels, stop in rows.values_list(*_ABOUT, "labels", "first_error"):
        truth = _truth(labels)
        if not any(each is not None for each in truth) and stop is not None:
            truth = tuple(truth_of_stop(len(labels), stop))
        stops = frozenset() if stop is None else frozenset({stop})
        yield Known(solution, problem, problem_hash(text), truth, stops, right)


def _gold(project: Project) -> Iterator[Known]:
    rows = Gold.objects.filter(project=project, void=False, suspect=False).order_by("solution_id")
    for solution, problem, text, right, accept in rows.values_list(*_ABOUT, "accept"):
        truth = tuple(_allowed(mask) for mask in accept)
        yield Known(solution, problem, problem_hash(text), truth, acceptable_stops(accept), right)


def _allowed(mask: int) -> bool | None:
    """Whether gold allows only sound labels or only an error; None where it allows both, or isn't scored."""
    sound, wrong = bool(mask & NOT_AN_ERROR), bool(mask & accept_bit(Label.INCORRECT))
    return sound if sound != wrong else None


def _truth(labels: Sequence[int | None]) -> Truth:
    """A neutral step is no error."""
    return tuple(None if label is None else label != Label.INCORRECT for label in labels)
