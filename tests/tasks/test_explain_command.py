"""explain_selection says why a solution came to a person."""

from __future__ import annotations

import json
import uuid

import pytest
from django.core.management import CommandError, call_command

from annotator.actions import queueing
from tests import factories as make

pytestmark = pytest.mark.django_db


def test_it_says_route_strategy_score_rank_pool_and_round_in_one_sentence(
    capsys: pytest.CaptureFixture[str],
) -> None:
    project = make.project()
    make.work(project, priority=0.3), make.work(project, priority=0.7)
    work = queueing.next_assignment(actor=make.actor(project))

    call_command("explain_selection", str(work.pk))
    said = capsys.readouterr().out.strip()
    assert said == (
        "It came by the priority route, strategy random, because its lot came up: "
        "no score was known; rank 1 of 2 untouched solutions; round 1."
    )


def test_with_json_it_prints_one_object(capsys: pytest.CaptureFixture[str]) -> None:
    project = make.project(gold_rate=1.0)
    make.gold(project)
    work = queueing.next_assignment(actor=make.actor(project))

    call_command("explain_selection", str(work.pk), "--json")
    told = json.loads(capsys.readouterr().out)
    assert (told["assignment"], told["purpose"]) == (str(work.pk), "gold")
    assert told["sentence"].startswith("It came as a hidden check")


@pytest.mark.parametrize("named", ["no-id", str(uuid.UUID(int=7))])
def test_what_is_no_assignment_is_refused(named: str) -> None:
    with pytest.raises(CommandError) as refused:
        call_command("explain_selection", named)
    assert refused.value.returncode == 2
