"""What the workbench shows a person: never a gold mark, a score, an id of a solution, or another's label."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.db.models import Count, Q
from django.utils import timezone

from annotator.core.labels import Mode
from annotator.models import Annotation, Assignment, Gold, Project, QueueRow

#: "Left" is counted up to here, so that a page costs the same beside a million solutions.
LEFT_CAP = 1_000

#: Published answers shown beside the guidelines.
NOTES = 50

SENTENCES = {
    "all_done": "Every solution in this project has the labels it needs.",
    "waiting": "The solutions that are left are with other people or need somebody else's eyes.",
    "paused": "A manager has paused your work in this project.",
    "enough": "You hold as many solutions as one person may.",
    "skills": "What is left here asks for skills that you don't have in this project.",
    "cap": "You have done what one person may do here in a day; more tomorrow.",
    "exam_failed": "The exam was not passed; a manager can open it again.",
    "exam_pending": "Your exam is being looked at; this takes a moment.",
    "exam_unready": "The exam of this project isn't ready; a manager has to choose its solutions first.",
}


@dataclass(frozen=True)
class StepView:
    """One step. ``number`` counts from 1 for people; ``index`` is 0-based over all steps."""

    index: int
    kind: str
    judged: bool
    text: str
    label: int | None

    @property
    def number(self) -> int:
        return self.index + 1


@dataclass(frozen=True)
class Marked:
    """What a person has marked so far, from the draft or from a form that was refused."""

    labels: Sequence[int | None]
    details: Mapping[str, Any]
    finish_reason: str
    active_seconds: float


@dataclass(frozen=True)
class Progress:
    """The person's own pace, and how many solutions they may still be given; with ``more``, at least so many."""

    mine_today: int
    mine_total: int
    left: int
    more: bool = False


@dataclass(frozen=True)
class Note:
    """A question that was answered for all to see."""

    question: str
    answer: str


@dataclass(frozen=True)
class ProjectView:
    """The project's face and rules: ``guidelines`` is Markdown, ``mode`` is first_error or all_steps.

    ``aids`` are the names of those it offers (core.details.AIDS), ``macros`` LaTeX macros by name.
    """

    slug: str
    name: str
    mode: str
    #: Project.error_propagation, where every step is judged; else "".
    propagation: str
    guidelines: str
    guidelines_version: int | None
    notes: Sequence[Note]
    error_types: Sequence[str]
    require_error_type: bool
    require_comment: bool
    correct_through: bool
    verify_minutes: int
    aids: Sequence[str]
    macros: Mapping[str, str]
    has_practice: bool

    @property
    def error_types_json(self) -> str:
        return orjson.dumps(list(self.error_types)).decode()

    @property
    def macros_json(self) -> str:
        return orjson.dumps(dict(self.macros)).decode()


@dataclass(frozen=True)
class Bench:
    """One assignment, ready to be judged."""

    project: ProjectView
    assignment_id: str
    problem_text: str
    final_answer: str | None
    steps: Sequence[StepView]
    details: Mapping[str, Any]
    finish_reason: str
    draft_version: int
    active_seconds: float
    progress: Progress
    #: Which of the problem's solutions this is for the person, from 1.
    position: int
    #: [{"sha256", "alt"}]
    images: Sequence[Mapping[str, str]]
    reopened: bool

    @property
    def labels_json(self) -> str:
        return orjson.dumps([step.label for step in self.steps]).decode()

    @property
    def details_json(self) -> str:
        return orjson.dumps(self.details).decode()


@dataclass(frozen=True)
class NothingLeft:
    """Why there is nothing to judge now. ``reason``: all_done, waiting, paused."""

    project: ProjectView
    reason: str
    sentence: str
    progress: Progress


def bench(assignment_id: uuid.UUID, *, typed: Marked | None = None) -> Bench:
    """Shape one assignment for its page: a constant number of queries, whatever the number of steps.

    ``typed`` is what a refused form held; it stands above the stored draft.
    """
    assignment = Assignment.objects.select_related("solution__problem", "project").get(pk=assignment_id)
    solution = assignment.solution
    marked = typed if typed is not None and len(typed.labels) == solution.n_steps else _marked(assignment)
    return Bench(
        project=project_view(assignment.project),
        assignment_id=str(assignment.pk),
        problem_text=solution.problem.text,
        final_answer=solution.final_answer,
        steps=[
            StepView(index, step["kind"], step["judged"], step["text"], marked.labels[index])
            for index, step in enumerate(solution.steps)
        ],
        details=marked.details,
        finish_reason=marked.finish_reason,
        draft_version=assignment.draft_version,
        active_seconds=marked.active_seconds,
        progress=progress(member_id=assignment.member_id, project_id=assignment.project_id),
        position=assignment.position,
        images=solution.problem.images,
        reopened=assignment.reopened,
    )


def is_open(assignment_id: uuid.UUID, *, member_id: int) -> bool:
    """Whether this is the person's own assignment and still takes labels."""
    takes = Q(state__in=[Assignment.State.LIVE, Assignment.State.EXPIRED]) | Q(reopened=True)
    return Assignment.objects.filter(takes, pk=assignment_id, member_id=member_id).exists()


def _marked(assignment: Assignment) -> Marked:
    draft = assignment.draft
    return Marked(
        labels=draft.get("labels") or [None] * assignment.solution.n_steps,
        details=draft.get("details") or {},
        finish_reason=draft.get("finish_reason") or "",
        active_seconds=draft.get("active_seconds") or 0.0,
    )


def nothing_left(*, member_id: int, project_id: int, reason: str) -> NothingLeft:
    """Shape the page that says why there is nothing to judge."""
    project = Project.objects.get(pk=project_id)
    return NothingLeft(
        project=project_view(project),
        reason=reason,
        sentence=SENTENCES[reason],
        progress=progress(member_id=member_id, project_id=project_id),
    )


def project_view(project: Project) -> ProjectView:
    """The project with its newest guidelines and the published answers."""
    guidelines = project.guidelines.order_by("-version").first()
    notes = project.questions.filter(published=True).order_by("answered_at")[:NOTES]
    offered = [name for name in ("equations", "reference", "answer") if getattr(project, f"aid_{name}")]
    return ProjectView(
        slug=project.slug,
        name=project.name,
        mode=project.mode,
        propagation=project.error_propagation if project.mode == Mode.ALL_STEPS.value else "",
        guidelines=guidelines.text if guidelines else "",
        guidelines_version=guidelines.version if guidelines else None,
        notes=[Note(note.text, note.answer) for note in notes],
        error_types=project.error_types,
        require_error_type=project.require_error_type,
        require_comment=project.require_comment,
        correct_through=project.correct_through,
        verify_minutes=project.verify_minutes,
        aids=offered,
        macros=project.macros,
        has_practice=Gold.objects.filter(project=project, use=Gold.Use.PRACTICE).exists(),
    )


def progress(*, member_id: int, project_id: int) -> Progress:
    """The person's own counts, and what is left for them. Hidden gold is in both, so that they tell nothing."""
    since = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    mine = Annotation.objects.filter(member_id=member_id, current=True).aggregate(
        today=Count("pk", filter=Q(submitted_at__gte=since)), total=Count("pk")
    )
    left = QueueRow.objects.filter(project_id=project_id).open().unseen_by(member_id)[: LEFT_CAP + 1].count()
    # Each claim takes one off, be it work or gold; counting work alone would tell them apart.
    gold = Gold.objects.filter(project_id=project_id).usable(Gold.Use.HIDDEN).unseen_by(member_id)
    shown = left + gold.count() if left else 0
    return Progress(mine["today"], mine["total"], left=min(shown, LEFT_CAP), more=shown > LEFT_CAP)
