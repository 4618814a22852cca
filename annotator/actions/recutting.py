"""Cutting many solutions anew by one rule: first looked at, then done, one transaction for each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from django.db.models import QuerySet

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.actions.resegmenting import CannotResegment, NoSuchSolution, resegment
from annotator.actions.reserving import NothingChosen, Where
from annotator.core.segmentation import changes, segment
from annotator.core.solutions import Step
from annotator.models import Solution

#: Shown before anything is done.
PREVIEWED = 20
#: What a page may do while somebody waits; the command has no such bound.
MOST = 2_000


@dataclass(frozen=True)
class Cut:
    """One solution as it is and as the rule would have it."""

    solution_id: int
    external_id: str
    before: Sequence[Step]
    after: Sequence[Step]


@dataclass(frozen=True)
class Recut:
    """``changed`` solutions were (or would be) cut otherwise, ``same`` are so already; ``refused``: id and why.

    ``first`` are the first few that change.
    """

    changed: int = 0
    same: int = 0
    refused: Sequence[tuple[int, str]] = ()
    first: Sequence[Cut] = field(default_factory=list)


def preview(*, actor: Actor, where: Where, rule: str) -> Recut:
    """What the rule would change; nothing is written. Raises NotAllowed, NothingChosen, UnknownRule."""
    access.require(actor, Verb.MANAGE)
    changed = same = 0
    first: list[Cut] = []
    for cut in _cuts(_chosen(actor, where), rule):
        if [*cut.before] == [*cut.after]:
            same += 1
            continue
        changed += 1
        if len(first) < PREVIEWED:
            first.append(cut)
    return Recut(changed, same, first=first)


def recut(
    *, actor: Actor, where: Where, rule: str, progress: Callable[[int], None] = lambda _: None
) -> Recut:
    """Cut the chosen solutions anew. May be repeated: what is cut so already stays. Raises as `preview`."""
    access.require(actor, Verb.MANAGE)
    changed = same = 0
    refused: list[tuple[int, str]] = []
    for number, cut in enumerate(_cuts(_chosen(actor, where), rule), start=1):
        progress(number)
        if [*cut.before] == [*cut.after]:
            same += 1
            continue
        try:
            resegment(actor=actor, solution_id=cut.solution_id, steps=cut.after, reason=f"rule {rule}")
        except (CannotResegment, NoSuchSolution) as error:
            refused.append((cut.solution_id, str(error) or "Somebody else has changed it meanwhile."))
        else:
            changed += 1
    return Recut(changed, same, refused)


def count(*, actor: Actor, where: Where) -> int:
    """How many solutions the choice names, one at least. Raises NotAllowed, NothingChosen."""
    access.require(actor, Verb.MANAGE)
    found = _chosen(actor, where).count()
    if not found:
        raise NothingChosen("No solution in this project is of that subject, domain and import.")
    return found


def _chosen(actor: Actor, where: Where) -> QuerySet[Solution]:
    """Gold keeps the steps that its labels were decided for."""
    return where.solutions(actor.project_id).filter(superseded_at=None, gold=None).order_by("pk")


def _cuts(solutions: QuerySet[Solution], rule: str) -> Iterator[Cut]:
    segment("", rule)  # an unknown rule is told before the first solution
    keys = list(solutions.values_list("pk", flat=True))
    for at in range(0, len(keys), 200):
        rows = Solution.objects.filter(pk__in=keys[at : at + 200]).order_by("pk")
        for pk, external_id, steps in rows.values_list("pk", "external_id", "steps"):
            before = [Step.from_json(step) for step in steps]
            yield Cut(pk, external_id, before, changes.cut_anew(before, rule))
