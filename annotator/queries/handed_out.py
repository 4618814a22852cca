"""One assignment as a program gets it: never a gold mark, a score, an id of a solution, or another's label."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse

from annotator.models import Annotation, Assignment


@dataclass(frozen=True)
class HandedOutStep:
    """``index`` is 0-based over all steps; only judged steps take labels."""

    index: int
    kind: str
    judged: bool
    text: str


@dataclass(frozen=True)
class HandedOut:
    """An assignment with what there is to judge and what was marked so far.

    ``draft`` has labels, details, finish_reason, active_seconds, version.
    """

    assignment: uuid.UUID
    expires_at: datetime
    mode: str
    problem: Mapping[str, Any]
    steps: Sequence[HandedOutStep]
    draft: Mapping[str, Any]


def handed_out(assignment_id: uuid.UUID) -> HandedOut:
    """Shape one assignment; one query."""
    found = Assignment.objects.select_related("solution__problem", "project").get(pk=assignment_id)
    solution = found.solution
    return HandedOut(
        assignment=found.pk,
        expires_at=found.lease_expires_at,
        mode=found.project.mode,
        problem={
            "text": solution.problem.text,
            "final_answer": solution.final_answer,
            "images": [
                {
                    "url": reverse("api_picture", args=[found.project.slug, image["sha256"]]),
                    "alt": image["alt"],
                }
                for image in solution.problem.images
            ],
        },
        steps=[
            HandedOutStep(index, step["kind"], step["judged"], step["text"])
            for index, step in enumerate(solution.steps)
        ],
        draft=draft_of(found),
    )


def draft_of(assignment: Assignment) -> dict[str, Any]:
    """The stored draft in the shape in which one is sent; empty labels where there is none."""
    draft = assignment.draft
    return {
        "labels": draft.get("labels") or [None] * assignment.solution.n_steps,
        "details": draft.get("details") or {},
        "finish_reason": draft.get("finish_reason") or "",
        "active_seconds": draft.get("active_seconds") or 0.0,
        "version": assignment.draft_version,
    }


def told_as_counted(annotation_id: int) -> bool:
    """Whether a person is told that their labels count: a repeat is told as any other, or it would be known as one."""
    row = Annotation.objects.values_list("counted", "uncounted_reason").get(pk=annotation_id)
    return counts_for_its_author(*row)


def counts_for_its_author(counted: bool, why_not: str) -> bool:
    """As above, for an annotation that is at hand."""
    return counted or why_not == "repeat"
