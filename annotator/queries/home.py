"""A person's projects at a glance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotator.models import Annotation, Assignment, Gold, Membership, QueueRow, Role
from annotator.queries.queue import held


@dataclass(frozen=True)
class ProjectCard:
    """One project of a person. ``labelled`` of ``total`` solutions have all their labels; ``left`` want more.

    A manager sees what the whole project wants. Everybody else sees what is left for them, hidden gold included: by
    a figure without it, each claim of theirs would tell whether it was gold.
    ``practice`` practice solutions were not had yet by this person.
    """

    slug: str
    name: str
    role: str
    mode: str
    mine_today: int
    mine_total: int
    left: int
    total: int
    practice: int

    @property
    def labelled(self) -> int:
        return self.total - self.left


def projects_of(user_id: int) -> Sequence[ProjectCard]:
    """The projects in which a person is active or paused: one query, however many there are."""
    since = timezone.now().replace(hour=0, minute=0, second=0, microsecond=0)
    rows = QueueRow.objects.filter(project_id=OuterRef("project_id")).order_by().values("project_id")
    mine = Annotation.objects.filter(member_id=OuterRef("pk"), current=True).order_by().values("member_id")
    had = Assignment.objects.filter(
        solution_id=OuterRef("solution_id"), member_id=OuterRef(OuterRef("pk"))
    ).exclude(
        purpose=Assignment.Purpose.PRACTICE, state__in=[Assignment.State.LIVE, Assignment.State.EXPIRED]
    )
    practice = (
        Gold.objects.filter(~Exists(had), project_id=OuterRef("project_id"))
        .usable(Gold.Use.PRACTICE)
        .order_by()
        .values("project_id")
    )
    wanted = Count("pk", filter=Q(taken__lt=F("wanted")))
    seen = Assignment.objects.filter(solution_id=OuterRef("solution_id"), member_id=OuterRef(OuterRef("pk")))
    hidden = Gold.objects.filter(project_id=OuterRef("project_id")).usable(Gold.Use.HIDDEN)
    gold = hidden.order_by().values("project_id")
    members = (
        Membership.objects.filter(user_id=user_id)
        .exclude(state=Membership.State.REMOVED)
        .select_related("project")
        .annotate(
            total=Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), 0),
            wanted=Coalesce(Subquery(rows.annotate(n=wanted).values("n")), 0),
            held=Coalesce(Subquery(_held()), 0),
            unseen=Coalesce(Subquery(rows.filter(~Exists(seen)).annotate(n=wanted).values("n")), 0),
            gold=Coalesce(Subquery(gold.annotate(n=Count("pk")).values("n")), 0),
            gold_unseen=Coalesce(Subquery(gold.filter(~Exists(seen)).annotate(n=Count("pk")).values("n")), 0),
            practice=Coalesce(Subquery(practice.annotate(n=Count("pk")).values("n")), 0),
            mine_total=Coalesce(Subquery(mine.annotate(n=Count("pk")).values("n")), 0),
            mine_today=Coalesce(
                Subquery(mine.annotate(n=Count("pk", filter=Q(submitted_at__gte=since))).values("n")), 0
            ),
        )
        .order_by("project__name", "pk")
    )
    return [_card(member) for member in members]


def _held() -> Any:
    """``n`` solutions of the outer row's project that are full but for labels which people are still at."""
    full = held(OuterRef("project_id")).filter(solution__queue_row__taken=F("solution__queue_row__wanted"))
    counted = full.order_by().values("project_id").annotate(n=Count("solution", distinct=True))
    return counted.values("n")


def _card(member: Any) -> ProjectCard:
    manages = member.role == Role.MANAGER
    unseen = member.unseen + member.gold_unseen if member.unseen else 0
    return ProjectCard(
        slug=member.project.slug,
        name=member.project.name,
        role=member.role,
        mode=member.project.mode,
        mine_today=member.mine_today,
        mine_total=member.mine_total,
        left=member.wanted + member.held if manages else unseen,
        total=member.total if manages else member.total + member.gold,
        practice=member.practice,
    )
