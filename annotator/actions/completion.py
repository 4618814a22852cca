"""When a solution has all that was wanted of it: announced to webhooks, once for each time it becomes so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, Q

from annotator.actions import hooks
from annotator.models import Adjudication, Consensus, Solution


@dataclass(frozen=True)
class Watch:
    """Which of some solutions were complete before a change. ``before`` None: nobody wants to know."""

    project_id: int
    ids: Sequence[int]
    before: frozenset[int] | None

    def announce(self) -> None:
        """Tell of those that became complete since; in the transaction of the change."""
        if self.before is None:
            return
        for told in _complete(self.ids, self.before).values():
            hooks.announce(project_id=self.project_id, event=hooks.Event.COMPLETED, data=told)


def watch(project_id: int, ids: Iterable[int]) -> Watch:
    """Look before a change of consensus or decision; the solutions are locked, so that no other change comes between.

    A solution is complete when its people agree and as many have spoken as are wanted of it, or when a reviewer has
    decided. Gold is nobody's work and never announced.
    """
    some = list(ids)
    if not hooks.is_wanted(project_id=project_id, event=hooks.Event.COMPLETED):
        return Watch(project_id, some, None)
    return Watch(project_id, some, frozenset(_complete(some, frozenset())))


def _complete(ids: Sequence[int], known: frozenset[int]) -> Mapping[int, dict[str, object]]:
    """What is told of each complete solution that is not known yet, by its key."""
    enough = Q(consensus__state=Consensus.State.AGREED, consensus__n_annotations__gte=F("queue_row__wanted"))
    rows = (
        Solution.objects.filter(pk__in=ids, gold=None)
        .annotate(decided=Exists(Adjudication.objects.filter(solution=OuterRef("pk"))))
        .filter(enough | Q(decided=True))
        .exclude(pk__in=known)
        .values_list("pk", "external_id", "consensus__n_annotations", "decided")
    )
    return {
        pk: {
            "solution": name or f"#{pk}",
            "people": people or 0,
            "by": "adjudication" if decided else "consensus",
        }
        for pk, name, people, decided in rows
    }
