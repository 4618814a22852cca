"""Handing out solutions."""

from __future__ import annotations

import random
import uuid
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from django.db.models.functions import Now
from django.test.utils import CaptureQueriesContext

from annotator.actions import claiming, labeling, queueing
from annotator.actions.access import Actor, NotAllowed, operator
from annotator.actions.queueing import NothingForYou
from annotator.models import Annotation, Assignment, Membership, QueueRow
from tests import factories as make

pytestmark = pytest.mark.django_db


class Draws(random.Random):
    """A source of chance that returns what the test says: the gold draw, then the route draw."""

    def __init__(self, *, gold: float = 1.0, route: float = 1.0) -> None:
        super().__init__()
        self._draws = [gold, route]

    def random(self) -> float:
        return self._draws.pop(0)


def label_next(actor: Actor, chance: random.Random | None = None) -> Assignment:
    assignment = queueing.next_assignment(actor=actor, chance=chance or random.Random())
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(1, 1, 1))
    return assignment


def expire(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(lease_expires_at=Now() - timedelta(seconds=1))


def test_the_highest_priority_comes_first_and_spread_breaks_ties() -> None:
    project = make.project()
    last = make.work(project, priority=0.1)
    second = make.work(project, priority=0.5, tiebreak=0.1)
    first = make.work(project, priority=0.5, tiebreak=0.2)
    actor = make.actor(project)

    order = [label_next(actor).solution_id for _ in range(3)]

    assert order == [first.pk, second.pk, last.pk]


def test_an_unscored_solution_is_served_after_the_scored_ones() -> None:
    project = make.project()
    unscored = make.work(project)
    scored = make.work(project, priority=0.2)
    actor = make.actor(project)

    assert [label_next(actor).solution_id for _ in range(2)] == [scored.pk, unscored.pk]


def test_a_live_assignment_comes_back_until_it_is_closed() -> None:
    project = make.project()
    make.work(project)
    make.work(project)
    actor = make.actor(project)

    assert queueing.next_assignment(actor=actor).pk == queueing.next_assignment(actor=actor).pk


def test_two_people_never_hold_a_solution_that_wants_one_label() -> None:
    project = make.project()
    make.work(project, wanted=1)
    queueing.next_assignment(actor=make.actor(project))

    with pytest.raises(NothingForYou) as nothing:
        queueing.next_assignment(actor=make.actor(project))
    assert nothing.value.reason == "waiting"


def test_a_person_never_gets_the_same_solution_twice() -> None:
    project = make.project()
    make.work(project, wanted=2)
    actor = make.actor(project)
    label_next(actor)

    with pytest.raises(NothingForYou) as nothing:
        queueing.next_assignment(actor=actor)
    assert nothing.value.reason == "waiting"


def test_when_all_have_their_labels_everything_is_done() -> None:
    project = make.project()
    make.work(project)
    actor = make.actor(project)
    label_next(actor)

    with pytest.raises(NothingForYou) as nothing:
        queueing.next_assignment(actor=actor)
    assert nothing.value.reason == "all_done"


def test_a_started_solution_is_finished_before_a_new_one_is_begun() -> None:
    project = make.project()
    started = make.work(project, wanted=2, priority=0.1)
    make.work(project, priority=0.9)
    QueueRow.objects.filter(pk=started.pk).update(taken=1)

    assert queueing.next_assignment(actor=make.actor(project)).solution_id == started.pk


def test_a_long_history_of_started_solutions_does_not_hide_the_one_that_is_left() -> None:
    project = make.project()
    member = make.member(project)
    rows = [make.work(project, wanted=2, priority=1.0) for _ in range(3)]
    left = make.work(project, wanted=2, priority=0.1)
    QueueRow.objects.filter(project=project).update(taken=1)
    for row in rows:
        Assignment.objects.create(
            project=project, solution_id=row.pk, member=member, state="submitted", lease_expires_at=Now()
        )

    assert queueing.next_assignment(actor=make.as_actor(member)).solution_id == left.pk


def test_the_audit_route_takes_the_lowest_shuffle_whatever_the_priority() -> None:
    project = make.project(audit_rate=0.1)
    make.work(project, priority=0.9, shuffle=0.8)
    lowest = make.work(project, priority=0.0, shuffle=0.2)

    got = queueing.next_assignment(actor=make.actor(project), chance=Draws(route=0.05))

    assert (got.solution_id, got.selection["route"]) == (lowest.pk, "audit")


def test_the_audit_route_raises_what_a_solution_wants_to_the_audit_prefixs_number() -> None:
    project = make.project(audit_rate=0.1)
    row = make.work(project, wanted=1)
    queueing.next_assignment(actor=make.actor(project), chance=Draws(route=0.05))

    row.refresh_from_db()
    assert (row.wanted, row.taken, row.audit_owed) == (2, 1, 1)


def test_when_the_watermark_passes_a_solution_it_wants_the_audit_prefixs_number_too() -> None:
    project = make.project(audit_rate=0.1)
    below = make.work(project, wanted=1, priority=0.9, shuffle=0.1)
    above = make.work(project, wanted=1, priority=0.8, shuffle=0.9)
    make.work(project, shuffle=0.5)
    first = make.actor(project)
    for _ in range(2):  # below, then above
        label_next(first, Draws(route=0.9))

    queueing.next_assignment(actor=first, chance=Draws(route=0.05))

    below.refresh_from_db(), above.refresh_from_db()
    assert (below.wanted, above.wanted) == (2, 1)


def test_one_claim_in_ten_takes_the_audit_route() -> None:
    project = make.project(audit_rate=0.1, labels_per_solution=1)
    for number in range(200):
        make.work(project, priority=number / 200)
    actor = make.actor(project)
    chance = random.Random(1)
    routes: Counter[str] = Counter()
    for _ in range(200):
        assignment = queueing.next_assignment(actor=actor, chance=chance)
        routes[assignment.selection["route"]] += 1
        Assignment.objects.filter(pk=assignment.pk).update(state="submitted")

    assert 10 <= routes["audit"] <= 32  # 20 expected; outside with chance < 0.5 %


def test_holdout_solutions_come_in_random_order_by_their_own_route() -> None:
    project = make.project(holdout_rate=0.1)
    make.work(project, priority=0.9)
    make.work(project, holdout=True, priority=0.9, shuffle=0.7, wanted=3)
    first = make.work(project, holdout=True, priority=0.1, shuffle=0.3, wanted=3)

    got = queueing.next_assignment(actor=make.actor(project), chance=Draws(route=0.05))

    assert (got.solution_id, got.selection["route"]) == (first.pk, "holdout")


def test_solutions_of_one_problem_come_one_after_the_other_with_their_position() -> None:
    project = make.project()
    first = make.work(project, priority=0.9)
    make.work(project, priority=0.8)
    sibling = make.work(project, priority=0.1, problem=first.solution.problem)
    actor = make.actor(project)

    got = [label_next(actor) for _ in range(2)]

    assert [each.solution_id for each in got] == [first.pk, sibling.pk]
    assert [each.position for each in got] == [1, 2]
    assert got[1].selection["route"] == "sibling"


def test_after_four_solutions_of_a_problem_another_problem_comes() -> None:
    project = make.project()
    problem = make.work(project, priority=0.9).solution.problem
    for _ in range(5):
        make.work(project, priority=0.1, problem=problem)
    other = make.work(project, priority=0.5)
    actor = make.actor(project)

    assert [label_next(actor).solution_id for _ in range(5)][4] == other.pk


def test_one_solution_is_claimed_ahead_and_no_more() -> None:
    project = make.project()
    for _ in range(3):
        make.work(project)
    actor = make.actor(project)
    seen = queueing.next_assignment(actor=actor)

    ahead = queueing.next_assignment(actor=actor, after=seen.pk)

    assert ahead.pk != seen.pk
    assert queueing.next_assignment(actor=actor, after=seen.pk).pk == ahead.pk
    assert queueing.next_assignment(actor=actor).pk == seen.pk


def test_an_unknown_id_claims_nothing_beyond_two() -> None:
    project = make.project()
    for _ in range(4):
        make.work(project)
    actor = make.actor(project)
    seen = queueing.next_assignment(actor=actor)
    ahead = queueing.next_assignment(actor=actor, after=seen.pk)

    assert queueing.next_assignment(actor=actor, after=uuid.uuid4()).pk in {seen.pk, ahead.pk}
    assert Assignment.objects.filter(state="live").count() == 2


def test_the_selection_says_route_score_version_rank_and_pool() -> None:
    project = make.project()
    make.work(project, priority=0.3)
    make.work(project, priority=0.7)

    selection = queueing.next_assignment(actor=make.actor(project)).selection

    assert selection == {
        "route": "priority",
        "strategy": "random",  # no scorer has ranked it
        "score": None,
        "scorer_version": None,
        "rank": 1,
        "pool": 2,
        "round": 1,
    }


def test_rank_and_pool_are_counted_up_to_a_cap_from_the_head_of_the_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(claiming, "COUNTED", 2)
    project = make.project(audit_rate=1.0)
    for n in range(4):
        make.work(project, priority=n / 10, shuffle=n / 10)

    with CaptureQueriesContext(connection) as asked:
        selection = queueing.next_assignment(actor=make.actor(project)).selection

    assert (selection["route"], selection["rank"], selection["pool"]) == ("audit", 3, 2)
    counts = [each["sql"] for each in asked if each["sql"].count("COUNT(") and "queuerow" in each["sql"]]
    assert [("ORDER BY" in sql, "LIMIT 2" in sql) for sql in counts] == [(True, True)] * 2


def test_gold_is_handed_out_at_its_rate_and_holds_no_slot() -> None:
    project = make.project(gold_rate=0.05)
    make.work(project)
    item = make.gold(project)

    got = queueing.next_assignment(actor=make.actor(project), chance=Draws(gold=0.01))

    assert (got.solution_id, got.purpose, got.slot) == (item.pk, "gold", None)


def test_gold_never_comes_twice_to_one_person() -> None:
    project = make.project(gold_rate=1.0)
    make.gold(project)
    row = make.work(project)
    actor = make.actor(project)
    label_next(actor)

    assert queueing.next_assignment(actor=actor).solution_id == row.pk


def test_a_lapsed_lease_gives_the_slot_to_somebody_else() -> None:
    project = make.project()
    row = make.work(project)
    expire(queueing.next_assignment(actor=make.actor(project)))

    other = queueing.next_assignment(actor=make.actor(project))

    assert other.solution_id == row.pk


def test_after_a_lapse_the_same_person_finds_the_draft_again() -> None:
    project = make.project()
    make.work(project)
    actor = make.actor(project)
    assignment = queueing.next_assignment(actor=actor)
    labeling.save_draft(actor=actor, assignment_id=assignment.pk, work=make.marked(1, None, None), version=0)
    expire(assignment)
    queueing.reclaim()

    again = queueing.next_assignment(actor=actor)

    assert (again.pk, again.state, again.draft["labels"]) == (assignment.pk, "live", [1, None, None])


def test_reclaiming_twice_frees_a_slot_once() -> None:
    project = make.project(labels_per_solution=2)
    row = make.work(project, wanted=2)
    queueing.next_assignment(actor=make.actor(project))
    expire(queueing.next_assignment(actor=make.actor(project)))

    assert (queueing.reclaim(), queueing.reclaim()) == (1, 0)
    row.refresh_from_db()
    assert (row.taken, row.audit_owed) == (1, 1)


def test_a_paused_person_is_told_so() -> None:
    project = make.project()
    make.work(project)
    actor = make.as_actor(make.member(project, state=Membership.State.PAUSED))

    with pytest.raises(NothingForYou) as nothing:
        queueing.next_assignment(actor=actor)
    assert nothing.value.reason == "paused"


def test_the_servers_operator_is_no_annotator() -> None:
    project = make.project()
    with pytest.raises(NotAllowed):
        queueing.next_assignment(actor=operator(project))


def in_thread(actor: Actor, times: int = 1) -> list[Assignment]:
    """Label until nothing is left, in a thread with its own connection."""
    done = []
    try:
        for _ in range(times):
            done.append(label_next(actor))
    except NothingForYou:
        pass
    finally:
        connection.close()
    return done


@pytest.mark.django_db(transaction=True)
def test_fifty_people_race_for_one_slot_and_exactly_one_gets_it() -> None:
    project = make.project()
    make.work(project)
    actors = [make.actor(project) for _ in range(50)]
    with ThreadPoolExecutor(50) as pool:
        got = [found for each in pool.map(in_thread, actors) for found in each]

    assert len(got) == 1
    assert Annotation.objects.filter(solution__project=project).count() == 1


@pytest.mark.django_db(transaction=True)
def test_eight_people_race_for_a_hundred_solutions_and_make_a_hundred_labels() -> None:
    project = make.project(labels_per_solution=1, audit_rate=0.1, holdout_rate=0.1)
    for _ in range(90):
        make.work(project)
    for _ in range(10):
        make.work(project, holdout=True)
    actors = [make.actor(project) for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda actor: in_thread(actor, 200), actors))

    per_solution = Counter(Annotation.objects.filter(counted=True).values_list("solution_id", flat=True))
    assert (len(per_solution), set(per_solution.values())) == (100, {1})
    assert not QueueRow.objects.exclude(taken=F("wanted")).exists()
