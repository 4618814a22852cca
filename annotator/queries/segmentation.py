"""Where people found steps too coarse or too fine, and one solution laid out to be cut otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from annotator.core.labels import CENSORED, NO_ERROR, FinishReason, Mode
from annotator.core.segmentation import changes
from annotator.core.solutions import Step
from annotator.models import Annotation, Assignment, ImportBatch, Problem, ReferenceLabels, Solution

SHOWN = 100


@dataclass(frozen=True)
class Reported:
    """A solution that ``people`` called badly cut, at ``steps`` places."""

    solution_id: int
    name: str
    problem_text: str
    n_steps: int
    people: int
    coarse: int
    fine: int


@dataclass(frozen=True)
class Suggestion:
    """What ``people`` asked for at a step: ``do`` is the change in the page's words, "merge:2" or "split:2:14"."""

    do: str
    people: int
    coarse: bool


@dataclass(frozen=True)
class Derived:
    """A solution whose segmentation was changed, newest first."""

    solution_id: int
    name: str
    problem_text: str
    reason: str
    before: int
    after: int


@dataclass(frozen=True)
class Choices:
    """What a batch can be chosen by."""

    subjects: Sequence[str]
    domains: Sequence[str]
    imports: Sequence[tuple[int, str]]


@dataclass(frozen=True)
class ForCutting:
    """One solution with what people reported of its steps."""

    solution_id: int
    name: str
    problem_text: str
    steps: Sequence[Step]
    suggestions: dict[int, list[Suggestion]]
    derived_from: int | None


@dataclass(frozen=True)
class Effect:
    """What a change does to what is known: labels that go over, those that come back as drafts, what is dropped."""

    same: int
    labels: int
    drafts: int
    reference_lost: bool
    decision_lost: bool


def reported(project_id: int) -> list[Reported]:
    """Solutions by how many people reported a cut, most first. Two queries."""
    counts: dict[int, Counter[str]] = {}
    rows = _reports(project_id).values_list("solution_id", "details__segmentation")
    for solution_id, cuts in rows:
        said = counts.setdefault(solution_id, Counter())
        said["people"] += 1
        said.update(str(cut.get("is")) for cut in (cuts or {}).values())
    most = sorted(counts, key=lambda pk: (-counts[pk]["people"], pk))[:SHOWN]
    found = Solution.objects.select_related("problem").in_bulk(most)
    return [
        Reported(
            pk,
            name_of(found[pk]),
            found[pk].problem.text,
            found[pk].n_steps,
            counts[pk]["people"],
            counts[pk]["coarse"],
            counts[pk]["fine"],
        )
        for pk in most
    ]


def derived(project_id: int) -> list[Derived]:
    """The newest changes that are in force. One query."""
    rows = Solution.objects.filter(project_id=project_id, derived_from__isnull=False, superseded_at=None)
    return [
        Derived(
            row.pk,
            name_of(row),
            row.problem.text,
            row.derived_reason,
            row.derived_from.n_steps if row.derived_from else 0,
            row.n_steps,
        )
        for row in rows.select_related("problem", "derived_from").order_by("-pk")[:20]
    ]


def choices(project_id: int) -> Choices:
    """Subjects, domains and imports of a project. Three queries."""
    problems = Problem.objects.filter(project_id=project_id).order_by()
    imports = ImportBatch.objects.filter(project_id=project_id, imported__gt=0).order_by("-pk")[:50]
    return Choices(
        sorted(set(problems.exclude(subject="").values_list("subject", flat=True).distinct()[:200])),
        sorted(set(problems.exclude(domain="").values_list("domain", flat=True).distinct()[:200])),
        [(batch.pk, f"{batch.filename} ({batch.imported:,})") for batch in imports],
    )


def for_cutting(project_id: int, solution_id: int) -> ForCutting | None:
    """One solution, or None where the project has none of that id in force. Two queries."""
    rows = Solution.objects.filter(project_id=project_id, superseded_at=None).select_related("problem")
    found = rows.filter(pk=solution_id).first()
    if found is None:
        return None
    said: Counter[tuple[int, str, bool]] = Counter()
    reports = _reports(project_id).filter(solution_id=solution_id)
    for cuts in reports.values_list("details__segmentation", flat=True):
        said.update(_wanted(int(step), cut) for step, cut in (cuts or {}).items())
    suggestions: dict[int, list[Suggestion]] = {}
    for (step, do, coarse), people in said.most_common():
        suggestions.setdefault(step, []).append(Suggestion(do, people, coarse))
    steps = [Step.from_json(step) for step in found.steps]
    return ForCutting(found.pk, name_of(found), found.problem.text, steps, suggestions, found.derived_from_id)


def effect(solution_id: int, before: Sequence[Step], after: Sequence[Step]) -> Effect:
    """What would become of labels, drafts, reference and decision. Four queries."""
    same = changes.unchanged(before, after)
    solution = Solution.objects.select_related("project").get(pk=solution_id)
    mode = Mode(solution.project.mode)
    labels = drafts = 0
    counted = Annotation.objects.filter(
        solution=solution, current=True, counted=True, assignment__purpose=Assignment.Purpose.WORK
    )
    for said, reason in counted.values_list("labels", "finish_reason"):
        whole = FinishReason(reason) not in CENSORED and _whole(said, after, same, mode)
        labels, drafts = labels + whole, drafts + (not whole)
    open_drafts = Assignment.objects.filter(
        Q(state=Assignment.State.LIVE) | Q(state=Assignment.State.EXPIRED),
        solution=solution,
        draft__has_key="labels",
    )
    known = ReferenceLabels.objects.filter(solution=solution).first()
    decided = solution.adjudications.order_by("-decided_at", "-pk").first()
    kept = known is not None and known.first_error is not None and NO_ERROR < known.first_error < same
    return Effect(
        same,
        labels,
        drafts + open_drafts.count(),
        known is not None and not kept,
        decided is not None and not _whole(decided.labels, after, same, mode),
    )


def name_of(solution: Solution) -> str:
    """How a manager knows a solution."""
    return solution.external_id or f"#{solution.pk}"


def _whole(labels: Sequence[int | None], after: Sequence[Step], same: int, mode: Mode) -> bool:
    return changes.is_complete(changes.carried(labels, after, same), after, mode)


def _reports(project_id: int) -> Any:
    return Annotation.objects.filter(
        solution__project_id=project_id,
        solution__superseded_at=None,
        solution__gold=None,
        current=True,
        details__has_key="segmentation",
    )


def _wanted(step: int, cut: dict[str, Any]) -> tuple[int, str, bool]:
    """A report as a change: where no place was given, a coarse step is only marked."""
    if cut.get("is") == "coarse":
        at = cut.get("at")
        return step, "" if at is None else f"split:{step}:{at}", True
    return step, f"merge:{step - 1 if cut.get('merge') == 'previous' else step}", False
