"""Solutions as they leave: one pass over the project in chunks, constant memory, labels from where the recipe says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from django.db.models import Prefetch, Q, QuerySet

from annotator.core import labels as rules
from annotator.core.codecs.base import Consensus as ConsensusNote
from annotator.core.codecs.base import ExportRow, ExportScore, Selection
from annotator.core.codecs.writing import Values
from annotator.core.labels import CENSORED, Label, accept_bit
from annotator.core.soft import soft_labels, weight
from annotator.core.solutions import ImportedAnnotation, ProblemText, SolutionRecord, Step, judged_mask
from annotator.models import Adjudication, Annotation, Consensus, Score, Solution, Split
from annotator.queries.export_filters import LabelsFrom, Only, passing

CHUNK = 500
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
    for solution in _in_order(project_id, choice.only, choice.labels):
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
    }[choice.labels]
    if choice.include_gold:  # its labels come from elsewhere: see _gold_labels
        places.append(Q(gold__isnull=False, reference__labels__contains=[0]))
        places.append(Q(gold__accept__contains=[accept_bit(Label.NEUTRAL)], reference=None))
    return places


def _in_order(project_id: int, only: Only, labels: LabelsFrom = LabelsFrom.CONSENSUS) -> Iterator[Solution]:
    """Every solution by its key, CHUNK at a time.

    A server-side cursor outside a transaction would first write the whole result to the server's disk: at a million
    solutions 12 s before the first byte. Here a chunk is read when the one before has been sent.
    """
    last = 0
    while chunk := list(passing(_solutions(project_id), only, labels).filter(pk__gt=last)[:CHUNK]):
        yield from chunk
        last = chunk[-1].pk


def _solutions(project_id: int) -> QuerySet[Solution]:
    annotations = Annotation.objects.filter(current=True).select_related("member", "assignment", "guidelines")
    return (
        Solution.objects.filter(project_id=project_id)
        .select_related("project", "problem", "consensus", "reference", "gold")
        .prefetch_related(
            Prefetch("annotations", annotations.order_by("submitted_at", "pk")),
            Prefetch("adjudications", Adjudication.objects.order_by("-decided_at", "-pk")),
            Prefetch("scores", Score.objects.select_related("version__scorer").order_by("version_id")),
        )
        .order_by("pk")
    )


def _of(solution: Solution, choice: Choice) -> Iterator[ExportRow | LeftOut]:
    is_gold = hasattr(solution, "gold")
    if is_gold and not choice.include_gold:
        yield LeftOut("gold")
        return
    if not choice.include_holdout and solution.problem.split == Split.HOLDOUT:
        yield LeftOut("holdout")
        return
    if is_gold:
        yield _valued(_row(solution, _gold_labels(solution), "gold"), choice)
        return
    if choice.labels is LabelsFrom.ALL:
        yield from _every_annotation(solution, choice)
        return
    found = _labels(solution, choice.labels)
    yield found if isinstance(found, LeftOut) else _valued(_row(solution, *found), choice)


def _labels(solution: Solution, source: LabelsFrom) -> tuple[Sequence[int | None], str] | LeftOut:
    if source is LabelsFrom.REFERENCE:
        reference = getattr(solution, "reference", None)
        return (reference.labels, "imported") if reference else LeftOut("no_reference_labels")
    decided = next(iter(solution.adjudications.all()), None)
    if decided is not None:
        if all(label is None for label in decided.labels):
            return LeftOut("bad_problem")  # so a reviewer decided
        return decided.labels, "adjudicated"
    if source is LabelsFrom.ADJUDICATED:
        return LeftOut("not_adjudicated")
    consensus = getattr(solution, "consensus", None)
    if consensus is not None:
        if consensus.state == Consensus.State.TIED:
            return LeftOut("tied")
        return consensus.labels, "human" if consensus.n_annotations == 1 else "consensus"
    if any(annotation.counted for annotation in solution.annotations.all()):
        return LeftOut("given_up_or_bad_problem")
    return LeftOut("not_counted" if solution.annotations.all() else "not_labelled")


def _every_annotation(solution: Solution, choice: Choice) -> Iterator[ExportRow | LeftOut]:
    annotations = list(solution.annotations.all())
    if choice.only.people:
        annotations = [each for each in annotations if each.member.pseudonym in choice.only.people]
    if not annotations:
        yield LeftOut("not_labelled")
    elif not choice.one_row_each:
        found = _labels(solution, LabelsFrom.CONSENSUS)
        labels, source = (None, None) if isinstance(found, LeftOut) else found
        yield _valued(_row(solution, labels, source, annotations), choice)
    else:
        for annotation in annotations:
            if annotation.counted:
                yield _valued(_row(solution, annotation.labels, "human", [annotation]), choice)
            else:
                yield LeftOut("not_counted")


def _gold_labels(solution: Solution) -> Sequence[int | None]:
    """The labels gold came with, else the ones its masks leave no choice about."""
    reference = getattr(solution, "reference", None)
    if reference is not None:
        labels: Sequence[int | None] = reference.labels
        return labels
    only = {accept_bit(Label.INCORRECT): -1, accept_bit(Label.NEUTRAL): 0, accept_bit(Label.CORRECT): 1}
    return [only.get(mask, 1 if mask == rules.NOT_AN_ERROR else None) for mask in solution.gold.accept]


def _row(
    solution: Solution,
    labels: Sequence[int | None] | None,
    source: str | None,
    annotations: Sequence[Annotation] | None = None,
) -> ExportRow:
    """The solution with these labels; with all its annotations unless only some are asked for."""
    problem, steps = solution.problem, tuple(map(Step.from_json, solution.steps))
    annotations = list(solution.annotations.all()) if annotations is None else annotations
    consensus = getattr(solution, "consensus", None)
    record = SolutionRecord(
        problem=ProblemText(
            problem.text,
            problem.external_id,
            problem.answer,
            problem.solution,
            problem.domain,
            problem.subject,
        ),
        steps=steps,
        external_id=solution.external_id,
        generator=solution.generator,
        final_answer=solution.final_answer,
        answer_correct=solution.answer_correct,
        labels=None if labels is None else tuple(labels),
        first_error=_first_error(solution, labels, steps, source),
        accept=tuple(solution.gold.accept) if hasattr(solution, "gold") else None,
        mode=solution.project.mode,
        annotations=tuple(map(_annotation, annotations)),
        meta=solution.meta,
    )
    return ExportRow(
        record=record,
        label_source=source,
        consensus=ConsensusNote(consensus.method, consensus.posterior) if consensus else None,
        scores=tuple(map(_score, solution.scores.all())),
        selection=_selection(annotations),
        split=problem.split,
        key=solution.pk,
    )


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
    solution: Solution, labels: Sequence[int | None] | None, steps: Sequence[Step], source: str | None
) -> int | None:
    """Where the labels stop; what a file said of its own labels stands (somebody who gave up found no error)."""
    if labels is None:
        return None
    if source == "imported":
        found: int | None = solution.reference.first_error
        return found
    return rules.stop(labels, judged_mask(steps))


def _annotation(annotation: Annotation) -> ImportedAnnotation:
    return ImportedAnnotation(
        annotator=annotation.member.pseudonym,
        labels=tuple(annotation.labels),
        finish_reason=annotation.finish_reason,
        details=annotation.details,
        active_seconds=annotation.active_seconds,
        submitted_at=annotation.submitted_at.isoformat(),
        counted=annotation.counted,
        guidelines=annotation.guidelines.version if annotation.guidelines else None,
    )


def _score(score: Score) -> ExportScore:
    version = score.version
    return ExportScore(version.scorer.name, version.version, version.measures, score.values, score.spread)


def _selection(annotations: Sequence[Annotation]) -> Selection | None:
    """Why the first labelled copy was handed out."""
    for annotation in annotations:
        if annotation.assignment is not None and annotation.assignment.selection:
            return Selection(**annotation.assignment.selection)
    return None
