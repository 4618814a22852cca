"""Scoring people on gold: each result, the exam, and gold that may be wrong itself."""

from __future__ import annotations

from django.db import transaction

from annotator.actions import alerts, hidden_checks, standing
from annotator.core.labels import FinishReason, Mode
from annotator.core.screening import score_item, suspect_gold
from annotator.models import Annotation, Assignment, AuditEvent, Gold, GoldResult, Membership

#: Unseen hidden checks below which a manager is told that somebody runs out of them.
ENOUGH = 10


@transaction.atomic
def score_gold(*, annotation_id: int) -> bool:
    """Score an annotation of a gold solution. Returns False when the solution isn't gold. May run twice."""
    annotation = Annotation.objects.select_related("solution__project", "assignment", "member").get(
        pk=annotation_id
    )
    gold = Gold.objects.filter(solution_id=annotation.solution_id).first()
    if gold is None:
        return False
    solution = annotation.solution
    score = score_item(
        annotation.labels,
        gold.accept,
        [step["judged"] for step in solution.steps],
        Mode(solution.project.mode),
        FinishReason(annotation.finish_reason),
    )
    GoldResult.objects.update_or_create(
        annotation=annotation,
        defaults={
            "member_id": annotation.member_id,
            "item_right": score.item_right,
            "errors_reached": score.errors_reached,
            "errors_caught": score.errors_caught,
            "sound_reached": score.sound_reached,
            "false_alarms": score.false_alarms,
        },
    )
    purpose = annotation.assignment.purpose if annotation.assignment else ""
    if purpose == Assignment.Purpose.GOLD:
        standing.update(member_id=annotation.member_id)
        _suspect(gold)
        _warn_of_exhaustion(annotation.member, gold.project_id)
    elif purpose == Assignment.Purpose.EXAM:
        _mark_exam(annotation.member_id)
    return True


def _mark_exam(member_id: int) -> None:
    """Pass or fail a person once all exam items are in."""
    member = Membership.objects.select_for_update(no_key=True).select_related("project").get(pk=member_id)
    project = member.project
    results = list(
        GoldResult.objects.filter(
            annotation__assignment__in=hidden_checks.exam_items(member),
            annotation__current=True,
            annotation__solution__gold__void=False,
        ).values_list("item_right", flat=True)
    )
    if member.exam != Membership.Exam.OPEN or len(results) < project.exam_size:
        return
    passed = sum(right is True for right in results) >= project.exam_pass * len(results)
    member.exam = Membership.Exam.PASSED if passed else Membership.Exam.FAILED
    member.save(update_fields=["exam"])
    AuditEvent.objects.record(
        f"exam:{member.exam}",
        f"member {member.pseudonym}",
        project_id=project.pk,
        member_id=None,
        data={"right": sum(right is True for right in results), "of": len(results)},
    )


def _suspect(gold: Gold) -> None:
    """Stop handing out an item that most good people fail, and tell a manager."""
    results = GoldResult.objects.filter(
        annotation__solution_id=gold.solution_id,
        annotation__current=True,
        member__standing=Membership.Standing.CLEAR,
    )
    if gold.cleared_at is not None:
        results = results.filter(annotation__submitted_at__gt=gold.cleared_at)
    if gold.suspect or not suspect_gold(list(results.values_list("item_right", flat=True))):
        return
    Gold.objects.filter(pk=gold.pk).update(suspect=True)
    AuditEvent.objects.record(
        "gold:suspected",
        f"gold {gold.pk}",
        project_id=gold.project_id,
        member_id=None,
        data={"before": {"suspect": False}, "after": {"suspect": True}},
    )
    alerts.open_alert(
        project_id=gold.project_id,
        kind="suspect_gold",
        subject=f"gold {gold.pk}",
        sentence="Most good annotators fail this gold solution; look whether its labels are right.",
    )


def _warn_of_exhaustion(member: Membership, project_id: int) -> None:
    """Nobody gets a check twice, so a person who has had nearly all soon works unchecked."""
    left = (
        Gold.objects.filter(project_id=project_id)
        .usable(Gold.Use.HIDDEN)
        .unseen_by(member.pk)[:ENOUGH]
        .count()
    )
    if left < ENOUGH:
        alerts.open_alert(
            project_id=project_id,
            kind="gold_runs_out",
            subject=f"member {member.pseudonym}",
            sentence=f"{member.pseudonym} has had nearly all hidden gold; add some before it runs out.",
        )
