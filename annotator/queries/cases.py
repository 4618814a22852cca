"""Cases as a reviewer sees them: authors hidden until decided; where blind, scores and the others' labels too."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, Value, When
from django.utils import timezone

from annotator.models import AdjudicationCase, Annotation, Project, Score, Solution, Split
from annotator.queries.case_critics import CriticOpinion, critics
from annotator.queries.workbench import ProjectView, project_view
from annotator.scorers.base import CORRECTNESS

SHOWN = 50
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class CaseRow:
    """One open case. ``reason`` is "blind" where the true one would tell what people said."""

    id: int
    reason: str
    problem_text: str
    n_steps: int
    opened_at: datetime
    held_by: str
    mine: bool
    own_work: bool


@dataclass(frozen=True)
class CaseList:
    """The open cases, oldest first. ``for_me``: those this reviewer may decide. ``next``: the cursor, or None."""

    waiting: int
    for_me: int
    by_reason: Sequence[tuple[str, int]]
    decided: int
    rows: Sequence[CaseRow]
    next: int | None


@dataclass(frozen=True)
class Said:
    """What one annotator said of one step. ``letter`` stands for the person, in an order that tells nothing."""

    letter: str
    label: int | None
    unsure: bool
    error_type: str
    comment: str


@dataclass(frozen=True)
class CaseStep:
    """One step with everybody's labels. ``differs``: two who both judged it say different things.

    ``value`` is the scorer's probability that the step is correct, where it may be shown.
    """

    index: int
    kind: str
    judged: bool
    text: str
    said: Sequence[Said]
    differs: bool
    value: float | None
    decided: int | None

    @property
    def number(self) -> int:
        return self.index + 1


@dataclass(frozen=True)
class Author:
    """A column of the comparison. ``name`` is the pseudonym once the case is decided, else ""."""

    letter: str
    name: str
    stop: int | None
    finish_reason: str
    counted: bool
    reason: str


@dataclass(frozen=True)
class CaseView:
    """One case, ready to be decided, or as it was decided."""

    id: int
    project: ProjectView
    reason: str
    blind: bool
    decided: bool
    problem_text: str
    images: Sequence[Mapping[str, str]]
    final_answer: str | None
    reference_answer: str | None
    reference_solution: str | None
    steps: Sequence[CaseStep]
    authors: Sequence[Author]
    scorer: str
    predicted_stop: int | None
    #: What chat models wrote; empty where the case is blind.
    critics: Sequence[CriticOpinion]
    why: str
    note: str
    decided_by: str
    is_gold: bool

    @property
    def labels_json(self) -> str:
        return orjson.dumps([None] * len(self.steps)).decode()

    @property
    def n_different(self) -> int:
        return sum(step.differs for step in self.steps)


def case_list(*, project_id: int, member_id: int, after: int | None = None) -> CaseList:
    """The queue page of reviewers: a constant number of queries. ``after`` is the last case of the page before."""
    mine = Annotation.objects.filter(solution_id=OuterRef("solution_id"), member_id=member_id)
    cases = AdjudicationCase.objects.filter(project_id=project_id).annotate(own=Exists(mine))
    waiting = cases.filter(closed_at=None)
    counts = AdjudicationCase.objects.filter(project_id=project_id).aggregate(
        waiting=Count("pk", filter=Q(closed_at=None)), decided=Count("pk", filter=~Q(closed_at=None))
    )
    shown = Case(When(blind=True, then=Value("blind")), default="reason")
    reasons = (
        waiting.annotate(shown=shown).values_list("shown").annotate(n=Count("pk")).order_by("-n", "shown")
    )
    now = timezone.now()
    rows = list(
        (waiting.filter(pk__gt=after) if after else waiting)
        .select_related("solution__problem", "claimed_by")
        .order_by("pk")[: SHOWN + 1]
    )
    return CaseList(
        waiting=counts["waiting"],
        for_me=waiting.filter(own=False).count(),
        by_reason=list(reasons),
        decided=counts["decided"],
        rows=[_row(case, member_id, now) for case in rows[:SHOWN]],
        next=rows[SHOWN - 1].pk if len(rows) > SHOWN else None,
    )


def _row(case: Any, member_id: int, now: datetime) -> CaseRow:
    held = case.claimed_by is not None and case.claim_expires_at is not None and case.claim_expires_at > now
    return CaseRow(
        id=case.pk,
        reason="blind" if case.blind else case.reason,
        problem_text=case.solution.problem.text,
        n_steps=case.solution.n_steps,
        opened_at=case.opened_at,
        held_by=case.claimed_by.pseudonym if held else "",
        mine=held and case.claimed_by_id == member_id,
        own_work=case.own,
    )


def holds(*, case_id: int, project_id: int, member_id: int) -> bool:
    """Whether this reviewer has the case now."""
    return AdjudicationCase.objects.filter(
        pk=case_id,
        project_id=project_id,
        closed_at=None,
        claimed_by_id=member_id,
        claim_expires_at__gt=timezone.now(),
    ).exists()


def may_look_back(*, case_id: int, project_id: int, member_id: int) -> bool:
    """Whether it is decided, and of a solution that this person never judged."""
    mine = Annotation.objects.filter(solution_id=OuterRef("solution_id"), member_id=member_id)
    decided = AdjudicationCase.objects.filter(~Exists(mine), pk=case_id, project_id=project_id)
    return decided.exclude(closed_at=None).exists()


def case_view(*, case_id: int) -> CaseView:
    """One case: a constant number of queries, however many steps and annotations it has."""
    case = AdjudicationCase.objects.select_related("solution__problem", "project").get(pk=case_id)
    solution, decided = case.solution, case.closed_at is not None
    made = case.decisions.select_related("member").order_by("-decided_at", "-pk").first()
    annotations = _annotations(case) if decided or not case.blind else []
    hidden = _scores_hidden(case, decided=decided)
    score = None if hidden else _score(solution, case.project)
    problem = solution.problem
    return CaseView(
        id=case.pk,
        project=project_view(case.project),
        reason="blind" if case.blind and not decided else case.reason,
        blind=case.blind,
        decided=decided,
        problem_text=problem.text,
        images=problem.images,
        final_answer=solution.final_answer,
        reference_answer=problem.answer,
        reference_solution=problem.solution,
        steps=_steps(solution, annotations, score, made.labels if made else None),
        authors=[
            _author(letter, each, decided=decided) for letter, each in zip(LETTERS, annotations, strict=False)
        ],
        scorer=f"{score.version.scorer.name} {score.version.version}" if score else "",
        predicted_stop=score.predicted_stop if score else None,
        critics=[] if hidden else critics(solution),
        why=made.reason if made else "",
        note=made.note if made else "",
        decided_by=made.member.pseudonym if made else "",
        is_gold=hasattr(solution, "gold"),
    )


def _scores_hidden(case: AdjudicationCase, *, decided: bool) -> bool:
    """The holdout is decided blind to every scorer, and so is the random share."""
    return not decided and (case.blind or case.solution.problem.split == Split.HOLDOUT)


def _annotations(case: AdjudicationCase) -> list[Annotation]:
    """Current ones of the first round, in an order drawn from the case: neither time nor name shows in it."""
    found = Annotation.objects.filter(solution_id=case.solution_id, current=True, round=1).select_related(
        "member"
    )

    def drawn(annotation: Annotation) -> bytes:
        return hashlib.sha256(f"{case.pk}:{annotation.pk}".encode()).digest()

    return sorted(found, key=drawn)[: len(LETTERS)]


def _score(solution: Solution, project: Project) -> Score | None:
    scores: QuerySet[Score] = solution.scores.select_related("version__scorer").order_by("-scored_at")
    scores = scores.filter(version__measures=CORRECTNESS)
    return scores.filter(version__scorer__project=project).first()


def _steps(
    solution: Solution,
    annotations: Sequence[Annotation],
    score: Score | None,
    decided: Sequence[int | None] | None,
) -> list[CaseStep]:
    steps = []
    for index, step in enumerate(solution.steps):
        said = [_said(letter, each, index) for letter, each in zip(LETTERS, annotations, strict=False)]
        labels = {each.label for each in said if each.label is not None}
        steps.append(
            CaseStep(
                index=index,
                kind=step["kind"],
                judged=step["judged"],
                text=step["text"],
                said=said if step["judged"] else [],
                differs=len(labels) > 1,
                value=score.values[index] if score else None,
                decided=decided[index] if decided else None,
            )
        )
    return steps


def _said(letter: str, annotation: Annotation, index: int) -> Said:
    details, key = annotation.details, str(index)
    return Said(
        letter=letter,
        label=annotation.labels[index],
        unsure=index in details.get("unsure", []),
        error_type=details.get("error_types", {}).get(key, ""),
        comment=details.get("comments", {}).get(key, ""),
    )


def _author(letter: str, annotation: Annotation, *, decided: bool) -> Author:
    return Author(
        letter=letter,
        name=annotation.member.pseudonym if decided else "",
        stop=annotation.stop,
        finish_reason=annotation.finish_reason,
        counted=annotation.counted,
        reason=annotation.details.get("reason", ""),
    )
