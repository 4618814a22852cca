"""Why a person gets nothing now, and how much they have done today."""

from __future__ import annotations

from django.utils import timezone

from annotator.models import Annotation, Assignment, Membership, Project, QueueRow


def cap_of(member: Membership, project: Project) -> int | None:
    """What this person may hand in a day: their own cap, else the project's; None: no cap."""
    return member.cap_per_day if member.cap_per_day is not None else project.cap_per_day


def done_today(member_id: int) -> int:
    """Solutions handed in since midnight (UTC), whatever they were for but practice; a new version is no new one."""
    since = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    handed_in = Annotation.objects.filter(member_id=member_id, version=1, submitted_at__gte=since)
    return handed_in.exclude(assignment__purpose=Assignment.Purpose.PRACTICE).count()


def why_no_work(member_id: int, project_id: int) -> str:
    """Once no row can be had: "skills", "waiting" or "all_done" (see actions.queueing.NothingForYou)."""
    rows = QueueRow.objects.filter(project_id=project_id).open()
    if rows.unseen_by(member_id).exists():
        return "skills"
    held = Assignment.objects.filter(
        project_id=project_id, state=Assignment.State.LIVE, purpose=Assignment.Purpose.WORK
    ).exists()
    return "waiting" if held or rows.exists() else "all_done"


def why_nothing(member: Membership, project: Project) -> str:
    """What a claim would answer now, without one; "" where there is work. A constant number of queries."""
    if member.state != Membership.State.ACTIVE:
        return "paused"
    cap = cap_of(member, project)
    if cap is not None and done_today(member.pk) >= cap:
        return "cap"
    if project.exam_size and member.exam != Membership.Exam.PASSED:
        return "exam_failed" if member.exam == Membership.Exam.FAILED else ""
    if Assignment.objects.filter(member=member, state=Assignment.State.LIVE).exists():
        return ""
    open_rows = QueueRow.objects.filter(project=project).open()
    if open_rows.for_skills(member.skills).unseen_by(member.pk).exists():
        return ""
    return why_no_work(member.pk, project.pk)
