"""Who gets what: how many labels, slots that come back, repeats, caps and skills."""

from __future__ import annotations

from collections import Counter

import pytest

from annotator.actions import labeling, members, queueing, standing
from annotator.actions.access import Actor
from annotator.actions.reserving import NothingChosen, Where, reserve
from annotator.core.screening import Override
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Annotation,
    Problem,
    Project,
    QueueRow,
    Role,
)
from tests import factories as make
from tests.actions.flow import CHECK, REPEAT, claim, hand_in, label, lapse, later, nothing

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def people(project: Project, n: int) -> list[Actor]:
    return [make.actor(project) for _ in range(n)]


def counted(row: QueueRow) -> list[int]:
    rows = Annotation.objects.filter(solution_id=row.pk, counted=True, current=True)
    return list(rows.values_list("member_id", flat=True))


# --- how many labels ---


def test_where_two_differ_a_third_person_is_asked(project: Project) -> None:
    row = make.work(project, wanted=2)
    first, second, third = people(project, 3)
    label(first, 1, -1, None)
    label(second, 1, 1, 1)

    assert label(third, 1, -1, None).solution_id == row.pk
    assert not AdjudicationCase.objects.exists()


def test_where_two_agree_no_third_is_asked(project: Project) -> None:
    make.work(project, wanted=2)
    first, second, third = people(project, 3)
    label(first, 1, -1, None)
    label(second, 1, -1, None)

    assert nothing(third) == "all_done"


def test_labels_are_asked_for_up_to_the_projects_most_and_then_a_reviewer_is(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(labels_max=3)
    make.work(project, wanted=2, texts=["a", "b", "c", "d"])
    for stop, actor in enumerate(people(project, 3)):
        label(actor, *[1] * stop, -1, *[None] * (3 - stop))

    assert nothing(make.actor(project)) == "all_done"
    assert AdjudicationCase.objects.get().reason == "tie"


def test_a_bad_problem_goes_to_a_reviewer_and_nobody_else_is_troubled(project: Project) -> None:
    make.work(project)
    actor, other = people(project, 2)
    label(actor, None, None, None, reason="bad_problem", details={"reason": "no question in it"})

    assert AdjudicationCase.objects.get().reason == "bad_problem"
    assert nothing(other) == "all_done"


# --- what is owed to somebody else ---


def test_what_a_person_gives_up_is_owed_to_somebody_else(project: Project) -> None:
    row = make.work(project)
    actor, other = people(project, 2)
    label(actor, None, None, None, reason="give_up", details={"reason": "beyond me"})

    assert nothing(actor) == "waiting"
    assert claim(other).solution_id == row.pk


def test_what_a_person_skips_is_owed_to_somebody_else(project: Project) -> None:
    row = make.work(project)
    actor, other = people(project, 2)
    labeling.skip(actor=actor, assignment_id=claim(actor).pk, reason="not my field")

    assert nothing(actor) == "waiting"
    assert claim(other).solution_id == row.pk


def test_what_a_person_lets_lapse_is_owed_to_somebody_else(project: Project) -> None:
    row = make.work(project)
    actor, other = people(project, 2)
    lapse(claim(actor))

    assert claim(other).solution_id == row.pk
    assert nothing(actor) == "waiting"


@pytest.mark.parametrize("how", ["paused", "removed"])
def test_the_slots_of_a_person_who_is_paused_or_removed_open_again(project: Project, how: str) -> None:
    row = make.work(project)
    manager, other = make.actor(project, Role.MANAGER), make.actor(project)
    gone = make.member(project)
    held = claim(make.as_actor(gone))
    if how == "paused":
        standing.override(actor=manager, member_id=gone.pk, word=Override.PAUSE, reason="ill")
    else:
        members.remove(actor=manager, member_id=gone.pk, reason="left")

    held.refresh_from_db()
    assert (held.state, held.slot) == ("expired", None)
    assert claim(other).solution_id == row.pk


def test_what_a_paused_person_still_hands_in_is_kept_and_does_not_count(project: Project) -> None:
    row = make.work(project)
    slow = make.member(project)
    held = claim(make.as_actor(slow))
    standing.override(
        actor=make.actor(project, Role.MANAGER), member_id=slow.pk, word=Override.PAUSE, reason="ill"
    )
    slow.refresh_from_db()

    assert not hand_in(make.as_actor(slow), held).counted
    assert (Annotation.objects.get().uncounted_reason, counted(row)) == ("paused", [])


# --- the same person ---


def test_a_repeat_is_a_round_of_its_own_that_does_not_count(project: Project) -> None:
    make.work(project), make.work(project)
    actor = make.actor(project)
    label(actor)
    first = Annotation.objects.get()
    later(days=15)

    again = label(actor, 1, -1, None, chance=REPEAT)

    assert (again.solution_id, again.purpose, again.round, again.slot) == (
        first.solution_id,
        "repeat",
        2,
        None,
    )
    rows = Annotation.objects.filter(solution_id=first.solution_id).order_by("round")
    assert list(rows.values_list("round", "counted", "uncounted_reason", "current")) == [
        (1, True, "", True),
        (2, False, "repeat", True),
    ]


def test_nothing_is_repeated_before_its_days_have_passed_or_twice(project: Project) -> None:
    make.work(project), make.work(project), make.work(project)
    actor = make.actor(project)
    label(actor)
    later(days=13)
    assert claim(actor, REPEAT).purpose == "work"
    hand_in(actor, claim(actor))
    later(days=15)

    repeated = [label(actor, chance=REPEAT) for _ in range(3)]

    assert Counter(each.purpose for each in repeated) == {"repeat": 2, "work": 1}
    assert len({each.solution_id for each in repeated}) == 3


def test_a_decided_solution_is_never_repeated_since_a_note_may_have_told_the_answer(project: Project) -> None:
    make.work(project), make.work(project)
    actor = make.actor(project)
    label(actor)
    done = Annotation.objects.get().solution_id
    Adjudication.objects.create(
        solution_id=done, member=make.member(project), n_steps=3, labels=[1, 1, 1], stop=-1
    )
    later(days=15)

    assert claim(actor, REPEAT).purpose == "work"


# --- caps, skills, reserved sets ---


def test_the_projects_cap_ends_the_day(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(cap_per_day=2)
    for _ in range(3):
        make.work(project)
    actor = make.actor(project)
    label(actor), label(actor)

    assert nothing(actor) == "cap"
    later(days=1)
    assert claim(actor).purpose == "work"


def test_a_persons_own_cap_stands_above_the_projects(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(cap_per_day=1)
    make.work(project), make.work(project)
    actor = make.as_actor(make.member(project, cap_per_day=2))
    label(actor)

    assert claim(actor).purpose == "work"


def test_a_cap_counts_what_is_held_ahead(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(cap_per_day=1)
    make.work(project), make.work(project)
    actor = make.actor(project)
    seen = claim(actor)

    with pytest.raises(queueing.NothingForYou) as none:
        queueing.next_assignment(actor=actor, after=seen.pk)
    assert none.value.reason == "cap"


def test_practice_uses_up_no_cap(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(cap_per_day=1)
    make.work(project)
    item = make.gold(project)
    type(item).objects.filter(pk=item.pk).update(use="practice")
    actor = make.actor(project)
    hand_in(actor, queueing.next_practice(actor=actor))

    assert claim(actor).purpose == "work"


def test_what_asks_for_a_skill_goes_to_those_who_have_it(project: Project) -> None:
    row = make.work(project)
    QueueRow.objects.filter(pk=row.pk).update(skill="topology")
    skilled = make.as_actor(make.member(project, skills=["topology"]))

    assert nothing(make.actor(project)) == "skills"
    assert claim(skilled).solution_id == row.pk


def test_a_subject_is_reserved_for_a_skill_and_given_free_again(project: Project) -> None:
    rows = [make.work(project) for _ in range(3)]
    Problem.objects.filter(pk=rows[0].solution.problem_id).update(subject="Geometry")
    manager = make.actor(project, Role.MANAGER)

    assert reserve(actor=manager, where=Where(subject="Geometry"), skill="geometry") == 1
    assert list(QueueRow.objects.exclude(skill="").values_list("pk", flat=True)) == [rows[0].pk]
    assert reserve(actor=manager, where=Where(subject="Geometry"), skill="") == 1
    assert not QueueRow.objects.exclude(skill="").exists()


def test_reserving_nothing_is_refused_rather_than_reserving_everything(project: Project) -> None:
    make.work(project)
    manager = make.actor(project, Role.MANAGER)
    for where in (Where(), Where(subject="Nothing like it")):
        with pytest.raises(NothingChosen):
            reserve(actor=manager, where=where, skill="x")


def test_another_projects_solutions_are_never_reserved(project: Project) -> None:
    foreign = make.work(make.project())
    manager = make.actor(project, Role.MANAGER)
    with pytest.raises(NothingChosen):
        reserve(actor=manager, where=Where(batch_id=foreign.solution.batch_id), skill="x")


# --- why there is nothing ---


def test_while_others_hold_what_is_left_it_says_so(project: Project) -> None:
    make.work(project)
    holder, other = people(project, 2)
    claim(holder)
    assert nothing(other) == "waiting"


def test_when_hidden_checks_are_used_up_work_goes_on_and_nothing_repeats() -> None:
    project = make.project(gold_rate=0.05)
    make.gold(project)
    for _ in range(3):
        make.work(project)
    actor = make.actor(project)

    got = [label(actor, chance=CHECK) for _ in range(4)]

    assert [each.purpose for each in got] == ["gold", "work", "work", "work"]
    assert len({each.solution_id for each in got}) == 4
