"""Small makers of rows for tests. Each makes what it needs and no more; names tell a test's reader what matters."""

from __future__ import annotations

import itertools
import random
from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User

from annotator.actions import access
from annotator.actions.access import Actor
from annotator.actions.labeling import Work
from annotator.actions.projects import NewProject, add_member, create
from annotator.core.labels import accept_masks
from annotator.core.solutions import digest
from annotator.models import Gold, ImportBatch, Membership, Problem, Project, QueueRow, Role, Solution

_numbers = itertools.count(1)


def project(**new: Any) -> Project:
    """A project; unless told otherwise it hands out no gold and draws no audit or holdout claims."""
    shares = {name: new.pop(name, 0.0) for name in ("gold_rate", "audit_rate", "holdout_rate")}
    made = create(new=NewProject(slug=new.pop("slug", f"project-{next(_numbers)}"), **new))
    Project.objects.filter(pk=made.pk).update(**shares)
    made.refresh_from_db()
    return made


def user(name: str = "", **fields: Any) -> User:
    return User.objects.create(username=name or f"person-{next(_numbers)}", **fields)


def member(of: Project, role: Role = Role.ANNOTATOR, **fields: Any) -> Membership:
    made = add_member(project=of, user=fields.pop("user", None) or user(), role=role)
    if fields:
        Membership.objects.filter(pk=made.pk).update(**fields)
        made.refresh_from_db()
    return made


def actor(of: Project, role: Role = Role.ANNOTATOR) -> Actor:
    return as_actor(member(of, role))


def as_actor(made: Membership) -> Actor:
    return access.enter(user_id=made.user_id, slug=made.project.slug)


def batch(of: Project) -> ImportBatch:
    return ImportBatch.objects.create(
        project=of, filename="tests.jsonl", format="native", labels_as="reference"
    )


def solution(
    of: Project,
    texts: Sequence[str] = ("one", "two", "three"),
    *,
    holdout: bool = False,
    kinds: Any = None,
    problem: Problem | None = None,
) -> Solution:
    """A solution without a queue row, of a problem of its own unless one is given."""
    number = next(_numbers)
    problem = problem or Problem.objects.create(
        project=of,
        text=f"Problem {number}",
        content_hash=digest(f"problem {number}"),
        split="holdout" if holdout else "train",
    )
    kinds = kinds or ["reasoning"] * len(texts)
    steps = [
        {"text": text, "kind": kind, "judged": kind != "observation", "sep": "\n\n", "alternatives": []}
        for text, kind in zip(texts, kinds, strict=True)
    ]
    return Solution.objects.create(
        project=of,
        problem=problem,
        batch=batch(of),
        external_id=f"s{number}",
        steps=steps,
        n_steps=len(steps),
        content_hash=digest([number, list(texts)]),
    )


def work(of: Project, *, wanted: int = 1, holdout: bool = False, **fields: Any) -> QueueRow:
    """A solution in the queue."""
    ranks = {name: fields.pop(name) for name in ("priority", "tiebreak", "shuffle") if name in fields}
    made = solution(of, holdout=holdout, **fields)
    return QueueRow.objects.create(
        solution=made,
        project=of,
        holdout=holdout,
        wanted=wanted,
        audit_owed=0 if holdout else of.labels_audit,
        **{"shuffle": random.random(), **ranks},
    )


def gold(of: Project, labels: Sequence[int | None] = (1, -1, None), **fields: Any) -> Gold:
    """A gold solution whose acceptable labels are these."""
    made = solution(of, [f"gold step {index}" for index in range(len(labels))], **fields)
    return Gold.objects.create(
        solution=made, project=of, n_steps=len(labels), accept=list(accept_masks(labels)), source="import"
    )


def marked(*labels: int | None, reason: str = "", details: dict[str, Any] | None = None) -> Work:
    """What a person hands in; the finish reason follows from the labels unless given."""
    implied = "found_error" if -1 in labels else "solution"
    return Work(list(labels), details or {}, reason or implied, active_seconds=12.5)
