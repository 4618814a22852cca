"""Having solutions judged anew, because the guidelines have changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Greatest

from annotator.actions import access, cases
from annotator.actions.access import Actor, Verb
from annotator.actions.members import recount
from annotator.actions.reserving import NothingChosen, Where
from annotator.models import (
    AdjudicationCase,
    Annotation,
    Assignment,
    AuditEvent,
    Guidelines,
    Project,
    QueueRow,
    Solution,
)

GUIDELINES = "guidelines"
CHUNK = 500
#: A choice of more than this is a new project, not a correction.
MOST = 20_000


@dataclass(frozen=True)
class Relabeled:
    """``solutions`` wait for other people, or (where a reviewer had decided) for a reviewer: ``cases`` of them."""

    solutions: int
    cases: int
    annotations: int


def relabel(*, actor: Actor, where: Where, before_version: int | None = None) -> Relabeled:
    """Stop counting labels made under older guidelines than ``before_version`` (None: the newest); slots reopen.

    Nothing is deleted: the annotations stay with the reason "guidelines". Other people get the solutions, since
    nobody gets one twice. What a reviewer had decided goes to a reviewer again. Gold stays as it is. In committed
    chunks; may be repeated. Raises NotAllowed, NothingChosen.
    """
    access.require(actor, Verb.MANAGE)
    project = Project.objects.get(pk=actor.project_id)
    version = before_version or _newest(project)
    chosen = where.solutions(project.pk).filter(gold=None)
    old = _old(project, version)
    ids = list(
        chosen.filter(pk__in=old.values("solution_id"))
        .order_by("pk")
        .values_list("pk", flat=True)[: MOST + 1]
    )
    if not ids:
        raise NothingChosen("Nothing of that choice was labelled under older guidelines.")
    if len(ids) > MOST:
        raise NothingChosen(f"That is more than {MOST:,} solutions; choose a smaller part.")
    annotations = opened = 0
    for at in range(0, len(ids), CHUNK):
        done, new_cases = _relabel(actor, project, ids[at : at + CHUNK], version, where)
        annotations, opened = annotations + done, opened + new_cases
    return Relabeled(len(ids), opened, annotations)


def _newest(project: Project) -> int:
    newest = Guidelines.objects.filter(project=project).order_by("-version").first()
    if newest is None:
        raise NothingChosen("This project has no guidelines yet, so none have changed.")
    return newest.version


def _old(project: Project, version: int) -> QuerySet[Annotation]:
    current = Annotation.objects.filter(
        solution__project=project, current=True, counted=True, assignment__purpose=Assignment.Purpose.WORK
    )
    return current.exclude(guidelines__version__gte=version)


@transaction.atomic
def _relabel(actor: Actor, project: Project, ids: list[int], version: int, where: Where) -> tuple[int, int]:
    rows = _old(project, version).filter(solution_id__in=ids)
    held = Assignment.objects.select_for_update(of=("self",)).filter(
        annotations__in=rows.values("pk"), slot__isnull=False
    )
    slots = list(held.order_by("solution_id", "pk").values_list("pk", "solution_id"))
    annotations = list(rows.values_list("pk", flat=True))
    Annotation.objects.filter(pk__in=annotations).update(counted=False, uncounted_reason=GUIDELINES)
    Assignment.objects.filter(pk__in=[pk for pk, _ in slots]).update(slot=None)
    _owe_again(Counter(solution for _, solution in slots), project)
    opened = _ask_reviewers(ids)
    recount(project.pk, ids)
    AuditEvent.objects.record(
        "annotations:outdated",
        f"{len(ids)} solutions",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data={
            "where": where.in_words(),
            "annotations": annotations,
            "before": {"counted": True},
            "after": {"counted": False, "guidelines": version},
        },
    )
    return len(annotations), opened


def _owe_again(slots: Counter[int], project: Project) -> None:
    """As slots.release_slot, for many at once: one update for each number of slots. All are locked before, in the order
    of their ids, so that nobody who does the same waits for us while we wait for them."""
    list(QueueRow.objects.filter(pk__in=list(slots)).order_by("pk").locked(blocking=True).values_list("pk"))
    for n in sorted(set(slots.values())):
        due = sorted(pk for pk, count in slots.items() if count == n)
        rows = QueueRow.objects.filter(pk__in=due)
        rows.filter(holdout=False).update(
            taken=F("taken") - n, audit_owed=Greatest(0, project.labels_audit - F("taken") + n)
        )
        rows.filter(holdout=True).update(taken=F("taken") - n)


def _ask_reviewers(ids: list[int]) -> int:
    decided = Solution.objects.filter(pk__in=ids, adjudications__isnull=False).distinct()
    reason = AdjudicationCase.Reason.GUIDELINES
    made = [cases.open_case(solution=solution, reason=reason, again=True) for solution in decided]
    return sum(case is not None for case in made)
