"""A person's projects at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.models import Annotation, Membership, QueueRow


@dataclass(frozen=True)
class ProjectCard:
    """One project of a person. ``labelled`` of ``total`` solutions have all their labels; ``left`` want more."""

    slug: str
    name: str
    role: str
    mode: str
    mine_today: int
    mine_total: int
    left: int
    total: int

    @property
    def labelled(self) -> int:
        return self.total - self.left


def projects_of(user_id: int) -> Sequence[ProjectCard]:
    """The projects in which a person is active or paused: one query, however many there are."""
    since = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    rows = QueueRow.objects.filter(project_id=OuterRef("project_id")).order_by().values("project_id")
    mine = Annotation.objects.filter(member_id=OuterRef("pk"), current=True).order_by().values("member_id")
    members = (
        Membership.objects.filter(user_id=user_id)
        .exclude(state=Membership.State.REMOVED)
        .select_related("project")
        .annotate(
            total=Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0),
            left=Coalesce(
                Subquery(rows.annotate(n=Count("pk", filter=Q(taken__lt=F("wanted")))).values("n")), 0
            ),
            mine_total=Coalesce(Subquery(mine.annotate(n=Count("pk")).values("n")), 0),
            mine_today=Coalesce(
                Subquery(mine.annotate(n=Count("pk", filter=Q(submitted_at__gte=since))).values("n")), 0
            ),
        )
        .order_by("project__name", "pk")
    )
    return [
        ProjectCard(
            slug=member.project.slug,
            name=member.project.name,
            role=member.role,
            mode=member.project.mode,
            mine_today=member.mine_today,
            mine_total=member.mine_total,
            left=member.left,
            total=member.total,
        )
        for member in members
    ]
