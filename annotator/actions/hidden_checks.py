"""Handing out what checks people: exam, calibration, hidden gold, repeats, and practice.

None of these holds a slot. All but practice look like work to the person, in page, ids, order and timing.
"""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from annotator.actions.claiming import seen_of_problem
from annotator.actions.slots import lease
from annotator.core.sampling import Route
from annotator.models import Annotation, Assignment, CalibrationRound, Gold, Membership, Project
from annotator.models.quality import GoldItems

#: A warned person gets checks this much more often, so that the doubt is settled soon.
TARGETED = 4.0
MOST = 0.5
#: Not drawn by a claim for work.
NOT_CLAIMED = (Assignment.Purpose.PRACTICE, Assignment.Purpose.EXAM, Assignment.Purpose.REVIEW)


class NoExam(Exception):
    """The project asks for an exam and has too few items for it."""


def gold_share(member: Membership, project: Project) -> float:
    """The share of hidden gold among this person's claims: more at first, in a round, after a warning."""
    rate = project.gold_rate
    if rate and (_is_new(member, project) or _calibration(member, project).exists()):
        rate = max(rate, project.gold_rate_start)
    if member.standing == Membership.Standing.WARNED:
        rate = max(rate, min(MOST, TARGETED * rate))
    return rate


def claim_gold(member: Membership, project: Project) -> Assignment | None:
    """A gold solution this person has never had: of the open calibration round first, else at random."""
    same = _calibration(member, project).order_by("?").first()
    if same is not None:
        return _hand_out(same, Assignment.Purpose.GOLD, "calibration", member, project)
    item = _hidden(member, project).order_by("?").first()
    return _hand_out(item, Assignment.Purpose.GOLD, Route.GOLD.value, member, project) if item else None


def claim_exam(member: Membership, project: Project) -> Assignment | None:
    """The next exam item, or None once this person has had all that the exam asks for. Skipped ones come anew.

    Raises NoExam where there are too few items.
    """
    asked = exam_items(member).exclude(state=Assignment.State.SKIPPED).exclude(solution__gold__void=True)
    if asked.count() >= project.exam_size:
        return None
    items = Gold.objects.filter(project=project).usable(Gold.Use.EXAM).unseen_by(member.pk)
    item = items.order_by("?").first()
    if item is None:
        raise NoExam
    return _hand_out(item, Assignment.Purpose.EXAM, "exam", member, project)


def exam_items(member: Membership) -> QuerySet[Assignment]:
    """What this person was given of the exam that is open for them."""
    items = Assignment.objects.filter(member=member, purpose=Assignment.Purpose.EXAM)
    return items.filter(claimed_at__gte=member.exam_since) if member.exam_since else items


def claim_practice(member: Membership, project: Project) -> Assignment | None:
    """The next practice solution, in the order of import."""
    items = Gold.objects.filter(project=project).usable(Gold.Use.PRACTICE).unseen_by(member.pk)
    item = items.order_by("solution_id").first()
    return _hand_out(item, Assignment.Purpose.PRACTICE, "practice", member, project) if item else None


def claim_repeat(member: Membership, project: Project) -> Assignment | None:
    """A solution this person labelled long ago, once more and blind, to see whether they agree with themselves."""
    again = Assignment.objects.filter(member=member, solution_id=OuterRef("solution_id"), round__gt=1)
    before = Annotation.objects.filter(
        ~Exists(again),
        member=member,
        current=True,
        counted=True,
        assignment__purpose=Assignment.Purpose.WORK,
        solution__gold=None,
        solution__adjudications=None,  # a learning note may have told what was decided
        submitted_at__lt=Now() - timedelta(days=project.repeat_days),
    )
    chosen = before.order_by("?").values_list("solution_id", flat=True).first()
    if chosen is None:
        return None
    assignment = Assignment.objects.create(
        project=project,
        solution_id=chosen,
        member=member,
        round=2,
        purpose=Assignment.Purpose.REPEAT,
        lease_expires_at=lease(project),
        selection={"route": "repeat", "strategy": "random", "round": 2},
    )
    assignment.refresh_from_db()
    return assignment


def _hidden(member: Membership, project: Project) -> GoldItems:
    found: GoldItems = Gold.objects.filter(project=project).usable(Gold.Use.HIDDEN).unseen_by(member.pk)
    return found


def _calibration(member: Membership, project: Project) -> GoldItems:
    """Items of the open calibration round that this person hasn't had."""
    current = CalibrationRound.objects.filter(project=project, closed_at=None).first()
    return _hidden(member, project).filter(solution_id__in=current.solution_ids if current else [])


def _is_new(member: Membership, project: Project) -> bool:
    claims = Assignment.objects.filter(member=member).exclude(purpose__in=NOT_CLAIMED)
    return claims[: project.gold_start].count() < project.gold_start


def _hand_out(
    item: Gold, purpose: Assignment.Purpose, route: str, member: Membership, project: Project
) -> Assignment:
    assignment = Assignment.objects.create(
        project=project,
        solution_id=item.solution_id,
        member=member,
        purpose=purpose,
        position=1 + seen_of_problem(item.solution_id, member),
        lease_expires_at=lease(project),
        selection={"route": route, "strategy": "random", "round": 1},
    )
    assignment.refresh_from_db()
    return assignment
