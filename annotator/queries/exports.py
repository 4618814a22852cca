"""Solutions as they leave: one pass over the project in chunks, constant memory, labels from where the recipe says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.db.models import Q

from annotator.core import labels as rules
from annotator.core.benchmarks import flag as benchmark_flag
from annotator.core.codecs.base import ExportRow, Selection
from annotator.core.codecs.writing import Values
from annotator.core.consensus_filter import agreed_stop
from annotator.core.labels import CENSORED, Label, accept_bit
from annotator.core.soft import soft_labels, weight
from annotator.core.solutions import ImportedAnnotation, SolutionRecord, Step, StoredSteps, judged_mask
from annotator.models import Consensus, Solution, Split
from annotator.queries.export_filters import LabelsFrom, Only, passes_checks, passing
from annotator.queries.label_sources import JUDGE, MONTE_CARLO
from annotator.queries.leaving import Labelled, Leaving, in_order

#: Labels that people's votes and their posterior speak of; what was decided or brought stands by itself.
_AGREED = ("human", "consensus")
__all__ = ["Choice", "LabelsFrom", "LeftOut", "Only", "has_neutral", "rows"]


@dataclass(frozen=True)
class Choice:
    """Which solutions and whose labels. ``one_row_each``: with ALL, a row per annotation rather than per solution.

    ``values`` other than HARD: rows carry a weight, with SOFT their labels as probabilities as well.
    """

    labels: LabelsFrom = LabelsFrom.CONSENSUS
    include_gold: bool = False
    include_holdout: bool = True
    one_row_each: bool = False
    values: Values = Values.HARD
    only: Only = field(default_factory=Only)


@dataclass(frozen=True)
class LeftOut:
    """A solution that is not exported, and why."""

    reason: str


def rows(*, project_id: int, choice: Choice) -> Iterator[ExportRow | LeftOut]:
    """Every solution that was asked for, oldest first, as a row or as a reason why not."""
    for solution in in_order(project_id, choice.only, choice.labels):
        if passes_checks(solution.steps, choice.only):
            yield from _of(solution, choice)


def has_neutral(*, project_id: int, choice: Choice) -> bool:
    """Whether any label that may be exported is neutral, so that a policy is needed before the first byte."""
    solutions = passing(Solution.objects.filter(project_id=project_id), choice.only, choice.labels)
    if not choice.include_holdout:
        solutions = solutions.exclude(problem__split=Split.HOLDOUT)
    # One question each: joined by OR, they would read every solution of the project.
    return any(solutions.filter(where).exists() for where in _where_neutral(choice))


def _where_neutral(choice: Choice) -> list[Q]:
    """Where a neutral label may stand, most likely first."""
    adjudicated = Q(adjudications__labels__contains=[0], gold=None)
    places = {
        LabelsFrom.CONSENSUS: [Q(consensus__labels__contains=[0], gold=None), adjudicated],
        LabelsFrom.ADJUDICATED: [adjudicated],
        LabelsFrom.ALL: [
            Q(
                annotations__current=True,
                annotations__counted=True,
                annotations__labels__contains=[0],
                gold=None,
            )
        ],
        LabelsFrom.REFERENCE: [Q(reference__labels__contains=[0], gold=None)],
        LabelsFrom.AUTOMATIC: [],
    }[choice.labels]
    if choice.include_gold:  # its labels come from elsewhere: see _gold_labels
        places.append(Q(gold__isnull=False, reference__labels__contains=[0]))
        places.append(Q(gold__accept__contains=[accept_bit(Label.NEUTRAL)], reference=None))
    return places


def _of(solution: Leaving, choice: Choice) -> Iterable[ExportRow | LeftOut]:
    is_gold = solution.accept is not None
    if is_gold and not choice.include_gold:
        return (LeftOut("gold"),)
    if not choice.include_holdout and solution.split == Split.HOLDOUT:
        return (LeftOut("holdout"),)
    if is_gold:
        return (_valued(_row(solution, _gold_labels(solution), "gold"), choice),)
    if choice.labels is LabelsFrom.ALL:
        return _every_annotation(solution, choice)
    found = _labels(solution, choice.labels)
    return (found if isinstance(found, LeftOut) else _valued(_row(solution, *found), choice),)


def _labels(solution: Leaving, source: LabelsFrom) -> tuple[Sequence[int | None], str] | LeftOut:
    if source is LabelsFrom.REFERENCE:
        return (
            (solution.reference.labels, "imported") if solution.reference else LeftOut("no_reference_labels")
        )
    if source is LabelsFrom.AUTOMATIC:
        return _automatic(solution)
    decided = solution.decided
    if decided is not None:
        if all(label is None for label in decided):
            return LeftOut("bad_problem")  # so a reviewer decided
        return decided, "adjudicated"
    if source is LabelsFrom.ADJUDICATED:
        return LeftOut("not_adjudicated")
    consensus = solution.consensus
    if consensus is not None:
        if consensus.state == Consensus.State.TIED:
            return LeftOut("tied")
        return consensus.labels, "human" if consensus.n_annotations == 1 else "consensus"
    if any(labelled.said.counted for labelled in solution.annotations):
        return LeftOut("given_up_or_bad_problem")
    return LeftOut("not_counted" if solution.annotations else "not_labelled")


def _automatic(solution: Leaving) -> tuple[Sequence[int | None], str] | LeftOut:
    """Labels up to where every judge and every estimate, by its newest version, put the first error."""
    newest = {score.scorer: score for score in solution.scores}
    said = {
        source: [one.stop for one in newest.values() if one.source == source and one.stop is not None]
        for source in (JUDGE, MONTE_CARLO)
    }
    if not all(said.values()):
        return LeftOut("not_judged_and_estimated")
    stop = agreed_stop(said[JUDGE], said[MONTE_CARLO])
    if stop is None:
        return LeftOut("judge_and_estimate_differ")
    end = len(solution.steps) if stop == rules.NO_ERROR else stop
    labels: list[int | None] = [
        (1 if at < end else -1) if step["judged"] and (at <= end) else None
        for at, step in enumerate(solution.steps)
    ]
    return labels, f"{JUDGE}+{MONTE_CARLO}"


def _every_annotation(solution: Leaving, choice: Choice) -> Iterator[ExportRow | LeftOut]:
    annotations = solution.annotations
    if choice.only.people:
        annotations = [each for each in annotations if each.said.annotator in choice.only.people]
    if not annotations:
        yield LeftOut("not_labelled")
    elif not choice.one_row_each:
        found = _labels(solution, LabelsFrom.CONSENSUS)
        labels, source = (None, None) if isinstance(found, LeftOut) else found
        yield _valued(_row(solution, labels, source, annotations), choice)
    else:
        for annotation in annotations:
            if annotation.said.counted:
                yield _valued(_row(solution, annotation.said.labels, "human", [annotation]), choice)
            else:
                yield LeftOut("not_counted")


def _gold_labels(solution: Leaving) -> Sequence[int | None]:
    """The labels gold came with, else the ones its masks leave no choice about."""
    if solution.reference is not None:
        return solution.reference.labels
    only = {accept_bit(Label.INCORRECT): -1, accept_bit(Label.NEUTRAL): 0, accept_bit(Label.CORRECT): 1}
    return [only.get(mask, 1 if mask == rules.NOT_AN_ERROR else None) for mask in solution.accept or ()]


def _row(
    solution: Leaving,
    labels: Sequence[int | None] | None,
    source: str | None,
    annotations: Sequence[Labelled] | None = None,
) -> ExportRow:
    """The solution with these labels; with all its annotations unless only some are asked for."""
    steps = StoredSteps(solution.steps)
    annotations = solution.annotations if annotations is None else annotations
    record = SolutionRecord(
        problem=solution.problem,
        steps=steps,
        external_id=solution.external_id,
        generator=solution.generator,
        final_answer=solution.final_answer,
        answer_correct=solution.answer_correct,
        labels=None if labels is None else tuple(labels),
        first_error=_first_error(solution, labels, steps, source),
        accept=None if solution.accept is None else tuple(solution.accept),
        mode=solution.mode,
        annotations=tuple([each.said for each in annotations]),
        meta=solution.meta,
    )
    return ExportRow(
        record=record,
        label_source=source,
        consensus=solution.consensus.note if solution.consensus else None,
        scores=tuple(solution.scores),
        selection=_selection(annotations),
        flags=_flags(solution),
        split=solution.split,
        key=solution.pk,
    )


def _selection(annotations: Sequence[Labelled]) -> Selection | None:
    """Why the solution was handed out, as the first annotation that knows tells."""
    for each in annotations:
        if each.selection:
            return each.selection
    return None


def _flags(solution: Leaving) -> tuple[Any, ...]:
    """What the file that it came from said, and the benchmarks that hold its problem."""
    if not solution.benchmarks:
        return ()
    said = tuple(solution.meta.get("flags") or ())
    return said + tuple(flag for flag in map(benchmark_flag, solution.benchmarks) if flag not in said)


def _valued(row: ExportRow, choice: Choice) -> ExportRow:
    """The row with its weight and its soft labels, where they were asked for."""
    labels = row.record.labels
    if choice.values is Values.HARD or labels is None:
        return row
    agreed = row.label_source in _AGREED and not (choice.labels is LabelsFrom.ALL and choice.one_row_each)
    posterior = row.consensus.posterior if agreed and row.consensus else None
    counted = [each.labels for each in row.record.annotations if each.counted and _ended(each)]
    people = counted if row.label_source in _AGREED else []
    judged = judged_mask(row.record.steps)
    return replace(
        row,
        weight=weight(labels, judged, posterior, people),
        soft=soft_labels(labels, posterior, people) if choice.values is Values.SOFT else None,
    )


def _ended(annotation: ImportedAnnotation) -> bool:
    return annotation.finish_reason not in {reason.value for reason in CENSORED}


def _first_error(
    solution: Leaving, labels: Sequence[int | None] | None, steps: Sequence[Step], source: str | None
) -> int | None:
    """Where the labels stop; what a file said of its own labels stands (somebody who gave up found no error)."""
    if labels is None:
        return None
    if source == "imported" and solution.reference is not None:
        return solution.reference.first_error
    return rules.stop(labels, judged_mask(steps))
