"""Claiming a solution from the queue, by the route that was drawn."""

from __future__ import annotations

from typing import Any

from annotator.actions.slots import lease, take_slot
from annotator.core.explaining import COUNTED
from annotator.core.sampling import Route
from annotator.core.selection import Strategy
from annotator.models import Assignment, Membership, Project, QueueRow, ScorerVersion, Solution
from annotator.models.labeling import QueueRows
from annotator.queries.scores import entropies

NOT_IN_THE_FLOW = (Assignment.Purpose.PRACTICE, Assignment.Purpose.REVIEW)
#: Routes that follow no strategy of the queue.
STRATEGIES = {Route.SIBLING: "same problem", Route.AUDIT: "random", Route.HOLDOUT: "random"}


def claim(route: Route, member: Membership, project: Project, *, blocking: bool) -> Assignment | None:
    """An assignment by this route, or None where it has nothing for the member.

    ``blocking`` waits for rows that others hold and looks at all of them: only so may "nothing left" be said.
    """
    sibling = _pick_sibling(route, member, project)
    row = sibling or _pick(route, member, project, blocking=blocking)
    if row is None:
        return None
    return _claim_row(row, Route.SIBLING if sibling else route, member, project)


def seen_of_problem(solution_id: int, member: Membership) -> int:
    """How many solutions of the same problem this person was given before."""
    problem = Solution.objects.filter(pk=solution_id).values("problem_id")
    had = Assignment.objects.filter(member=member, solution__problem_id__in=problem)
    return had.exclude(purpose=Assignment.Purpose.REVIEW).count()


def _pick(route: Route, member: Membership, project: Project, *, blocking: bool) -> QueueRow | None:
    """Lock the row that the route names next for this member, or None.

    The audit route takes the lowest untouched shuffle. The others first probe started solutions, 200 at most, so
    that a long history costs nothing; the blocking pass, which decides whether nothing is left, looks at all.
    """
    side = QueueRow.objects.filter(project=project, holdout=route is Route.HOLDOUT)
    if route is not Route.AUDIT:
        started = side.started().by_priority()
        for rows in _by_skill(started, member):
            mine = rows if blocking else rows.among_first(rows)
            if (found := mine.unseen_by(member.pk).locked(blocking=blocking).first()) is not None:
                return found
    untouched = side.untouched()
    ranked = untouched.by_priority() if route is Route.PRIORITY else untouched.by_shuffle()
    for rows in _by_skill(ranked, member):
        if (found := rows.unseen_by(member.pk).locked(blocking=blocking).first()) is not None:
            return found
    return None


def _by_skill(ranked: QueueRows, member: Membership) -> list[QueueRows]:
    """The rows a member may have, apart by skill, the skill with the best row first.

    One skill at a time is one range of an index; several at once would mean to walk past, or to sort, all the rest.
    """
    apart = [ranked.filter(skill=skill) for skill in ["", *member.skills]]
    if len(apart) == 1:
        return apart
    best = {head: rows for rows in apart if (head := rows.values_list("pk", flat=True).first()) is not None}
    return [best[head] for head in ranked.filter(pk__in=list(best)).values_list("pk", flat=True)]


def _pick_sibling(route: Route, member: Membership, project: Project) -> QueueRow | None:
    """Another solution of the problem this person has just read, so that nobody solves a problem four times.

    Only in place of priority and holdout, so that the audit route keeps its share; at most ``project.siblings``.
    Hidden checks end a run of siblings as an audit does: going back to the run would give them away.
    """
    if route is Route.AUDIT or project.siblings < 2:
        return None
    had = Assignment.objects.filter(member=member).exclude(purpose__in=NOT_IN_THE_FLOW)
    last = had.order_by("-claimed_at").values_list("solution__problem_id", flat=True).first()
    if last is None or had.filter(solution__problem_id=last).count() >= project.siblings:
        return None
    rows = QueueRow.objects.filter(
        project=project, holdout=route is Route.HOLDOUT, solution__problem_id=last
    ).for_skills(member.skills)
    return rows.unseen_by(member.pk).open().by_priority().locked(blocking=False).first()


def _claim_row(row: QueueRow, route: Route, member: Membership, project: Project) -> Assignment:
    if route is Route.AUDIT:
        row.wanted = max(row.wanted, project.labels_audit)
        _raise_below(row, project)
    selection = _selection(row, route, project)
    assignment = Assignment.objects.create(
        project=project,
        solution_id=row.solution_id,
        member=member,
        slot=take_slot(row, project),
        lease_expires_at=lease(project),
        selection=selection,
        position=1 + seen_of_problem(row.solution_id, member),
    )
    assignment.refresh_from_db()
    return assignment


def _raise_below(row: QueueRow, project: Project) -> None:
    """The watermark now stands at this row: what the priority route labelled below it wants the audit's number too.

    Rows that others hold are left to the next audit claim, whose range includes them.
    """
    below = (
        QueueRow.objects.filter(project=project, holdout=False, shuffle__lt=row.shuffle)
        .owed_to_audit()
        .filter(wanted__lt=project.labels_audit)
        .locked(blocking=False)
    )
    QueueRow.objects.filter(pk__in=list(below.values_list("pk", flat=True))).update(
        wanted=project.labels_audit
    )


def _selection(row: QueueRow, route: Route, project: Project) -> dict[str, Any]:
    """Why this row: kept with the assignment, and with the exported label.

    Rank and pool are among untouched solutions of its side of the split that ask for the same skill, before this
    claim and for whomever. Both are counted up to COUNTED: after a new order each costs a look into the table. Said in
    order, they are read from the head of an index; else the planner, which hears late of a new order, may think it
    quicker to read the table until enough are found, and read all of it.
    """
    rows = QueueRow.objects.filter(project=project, holdout=row.holdout, skill=row.skill)
    untouched = rows.untouched().by_priority().values("project")
    ahead = untouched.filter(priority__gt=row.priority)[:COUNTED].count()
    ranked_by = ScorerVersion.objects.filter(pk=row.ranked_by_id or 0)
    return {
        "route": route.value,
        "strategy": STRATEGIES.get(route) or row.strategy or "random",
        "score": _score(row),
        "scorer_version": ranked_by.values_list("version", flat=True).first(),
        "rank": ahead + 1,
        "pool": untouched[:COUNTED].count(),
        "round": 1,
    }


def _score(row: QueueRow) -> float | None:
    """The row's mean entropy; as it was ordered by where that is what put it in its place."""
    if row.ranked_by_id is None:
        return None
    if row.strategy == Strategy.UNCERTAINTY.value and not row.holdout:
        return row.priority
    return entropies([(row.solution_id, row.ranked_by_id)]).get(row.solution_id)
