"""Calibration rounds."""

from __future__ import annotations

import pytest

from annotator.actions import calibration
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.calibration import NoneOpen, NotEnoughGold
from annotator.core.labels import NO_ERROR, acceptable_stops
from annotator.models import CalibrationRound, Gold, Guidelines, Project, Role
from tests import factories as make
from tests.actions.flow import CHECK, claim, label

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    """Rounds of five items, of 14 that there are."""
    made = make.project(gold_rate=0.05)
    Project.objects.filter(pk=made.pk).update(calibration_size=5)
    for _ in range(6):
        make.gold(made, (1, -1, None))
    for _ in range(8):
        make.gold(made, (1, 1, 1))
    for _ in range(3):
        make.work(made)
    return made


@pytest.fixture
def manager(project: Project) -> Actor:
    return make.actor(project, Role.MANAGER)


def with_error(ids: list[int]) -> int:
    return sum(NO_ERROR not in acceptable_stops(item.accept) for item in Gold.objects.filter(pk__in=ids))


def test_everybody_gets_the_same_items(project: Project, manager: Actor) -> None:
    same = calibration.start(actor=manager).solution_ids
    for _ in range(2):
        actor = make.actor(project)
        got = [label(actor, *[1, 1, 1], chance=CHECK) for _ in range(5)]
        assert sorted(each.solution_id for each in got) == same
        assert {each.selection["route"] for each in got} == {"calibration"}


def test_after_the_round_other_hidden_gold_comes(project: Project, manager: Actor) -> None:
    same = calibration.start(actor=manager).solution_ids
    actor = make.actor(project)
    for _ in range(5):
        label(actor, chance=CHECK)

    assert claim(actor, CHECK).solution_id not in same


def test_at_least_two_in_five_have_an_error(project: Project, manager: Actor) -> None:
    assert with_error(calibration.start(actor=manager).solution_ids) >= 2


def test_too_few_items_with_an_error_are_refused_in_words(project: Project, manager: Actor) -> None:
    Gold.objects.filter(accept__contains=[1]).update(retired=True)
    with pytest.raises(NotEnoughGold, match="2 of them with an error"):
        calibration.start(actor=manager)


def test_a_round_holds_only_what_nobody_has_had(project: Project, manager: Actor) -> None:
    actor = make.actor(project)
    had = {label(actor, chance=CHECK).solution_id for _ in range(4)}
    assert not had & set(calibration.start(actor=manager).solution_ids)


def test_a_new_round_closes_the_old_one_and_is_new_to_all(project: Project, manager: Actor) -> None:
    Guidelines.objects.create(project=project, version=1, text="x")
    first = calibration.start(actor=manager)
    actor = make.actor(project)
    for _ in range(5):
        label(actor, chance=CHECK)
    second = calibration.start(actor=manager)

    first.refresh_from_db()
    assert first.closed_at is not None
    assert not set(first.solution_ids) & set(second.solution_ids)
    assert second.guidelines is not None


def test_a_round_that_is_closed_hands_out_nothing(project: Project, manager: Actor) -> None:
    calibration.start(actor=manager)
    calibration.close(actor=manager)

    assert claim(make.actor(project), CHECK).selection["route"] == "gold"
    with pytest.raises(NoneOpen):
        calibration.close(actor=manager)


def test_while_a_round_is_open_checks_come_as_often_as_at_the_start(project: Project, manager: Actor) -> None:
    from annotator.actions.hidden_checks import gold_share

    Project.objects.filter(pk=project.pk).update(gold_start=0, gold_rate_start=0.2)
    project.refresh_from_db()
    member = make.member(project)
    before = gold_share(member, project)
    calibration.start(actor=manager)

    assert (before, gold_share(member, project)) == (0.05, 0.2)


def test_only_a_manager_starts_or_ends_a_round(project: Project) -> None:
    for call in (calibration.start, calibration.close):
        with pytest.raises(NotAllowed):
            call(actor=make.actor(project, Role.REVIEWER))
    assert not CalibrationRound.objects.exists()
