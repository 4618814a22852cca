"""Cases for reviewers: what waits to be decided, and why."""

from __future__ import annotations

import random

from django.db import transaction
from django.db.models import Max, Min

from annotator.core.labels import CENSORED, Mode
from annotator.models import AdjudicationCase, Annotation, AuditEvent, Consensus, QueueRow, Solution

#: Why an annotation doesn't count that came when others had taken its slot (labeling.submit).
LATE = "late"

#: How many ids are drawn at a time, and how often, before no agreed solution is found.
DRAWN, DRAWS = 200, 25
_chance = random.SystemRandom()
DISPUTED = frozenset({AdjudicationCase.Reason.TIE, AdjudicationCase.Reason.DISPUTE})


def open_case(
    *, solution: Solution, reason: AdjudicationCase.Reason, blind: bool = False, again: bool = False
) -> AdjudicationCase | None:
    """Open a case unless the solution has an open one or (without ``again``) was decided. Returns the new case.

    With each dispute an agreed solution is drawn at random and goes blind to a reviewer too: else only those errors
    that people disagree on would ever be corrected.
    """
    known = AdjudicationCase.objects.filter(solution=solution)
    if known.filter(closed_at=None).exists() or (solution.adjudications.exists() and not again):
        return None
    case = AdjudicationCase.objects.create(
        solution=solution, project_id=solution.project_id, reason=reason, blind=blind
    )
    AuditEvent.objects.record(
        "case:opened",
        f"case {case.pk}",
        project_id=solution.project_id,
        member_id=None,
        data={"solution": solution.pk, "after": {"reason": reason.value}},
    )
    if reason in DISPUTED:
        _draw_one(solution.project_id)
    return case


@transaction.atomic
def dispute_late(*, annotation_id: int) -> AdjudicationCase | None:
    """Bring a label that came too late for a slot before a reviewer where it says otherwise than the consensus.

    It is kept and doesn't count; but work that somebody did is not put away unread. May run twice.
    """
    late = Annotation.objects.filter(pk=annotation_id, current=True, uncounted_reason=LATE)
    found = late.exclude(finish_reason__in=[reason.value for reason in CENSORED]).first()
    if found is None:
        return None
    solution = (
        Solution.objects.select_for_update(of=("self",), no_key=True)
        .select_related("project")
        .get(pk=found.solution_id)
    )
    agreed = Consensus.objects.filter(solution=solution, state=Consensus.State.AGREED).first()
    if agreed is None:
        return None
    by_stop = solution.project.mode == Mode.FIRST_ERROR
    same = agreed.stop == found.stop if by_stop else agreed.labels == found.labels
    return None if same else open_case(solution=solution, reason=AdjudicationCase.Reason.DISPUTE)


def _draw_one(project_id: int) -> None:
    """Open a blind case on an agreed solution, each as likely as any other.

    Ids are drawn and those that don't qualify rejected, so that the draw costs the same in a large project.
    """
    ends = QueueRow.objects.filter(project_id=project_id).aggregate(first=Min("pk"), last=Max("pk"))
    if ends["first"] is None:
        return
    qualified = (
        Consensus.objects.filter(
            solution__project_id=project_id,
            solution__gold=None,
            solution__cases=None,
            solution__adjudications=None,
            state=Consensus.State.AGREED,
        )
        .select_related("solution")
        .select_for_update(of=("solution",), no_key=True, skip_locked=True)
    )
    span = ends["last"] - ends["first"] + 1
    for _ in range(DRAWS if span > DRAWN else 1):
        size = min(DRAWN, span)
        drawn = [ends["first"] + offset for offset in _chance.sample(range(span), size)]
        found = {each.pk: each for each in qualified.filter(pk__in=drawn)}
        for pk in drawn:
            if pk in found:
                open_case(solution=found[pk].solution, reason=AdjudicationCase.Reason.RANDOM, blind=True)
                return
