"""What a label costs, by who gave it."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotator.actions import scoring
from annotator.actions.score_rows import keep
from annotator.core.solutions import Step
from annotator.models import Annotation, Gold, Project, Rollouts, Score, ScoreDetail, Scorer, ScorerVersion
from annotator.queries.costs import costs
from annotator.scorers.base import Scored, ScoringInput
from tests import factories as make
from tests.actions.flow import run_jobs
from tests.actions.lessons import labelled

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = make.project()
    Project.objects.filter(pk=project.pk).update(hourly_cost=36.0, currency="CHF")
    project.refresh_from_db()
    return project


def spent(seconds: float | None, **fields: Any) -> None:
    """The newest annotation took this long."""
    newest = Annotation.objects.order_by("-pk").first()
    assert newest is not None
    with connection.cursor() as cursor:  # the database refuses to change what was handed in
        cursor.execute("SET session_replication_role = replica")
        Annotation.objects.filter(pk=newest.pk).update(active_seconds=seconds, **fields)
        cursor.execute("SET session_replication_role = origin")


def scored(project: Project, usage: dict[str, float], prices: dict[str, float] | None = None) -> Scorer:
    """A judge that has scored one more solution."""
    scorer, _ = Scorer.objects.update_or_create(
        project=project, name="judge", defaults={"kind": "critic", "ranks": False, "prices": prices or {}}
    )
    version, _ = ScorerVersion.objects.get_or_create(
        scorer=scorer, version="v", defaults={"measures": "correctness", "threshold": 0.5}
    )
    solution = make.solution(project)
    steps = tuple(map(Step.from_json, solution.steps))
    said = Scored((0.9,) * 3, (None,) * 3, usage=usage, rationale="So it is.")
    keep([(solution, ScoringInput("p", steps), said)], version)
    return scorer


def test_people_cost_their_hours(project: Project) -> None:
    labelled(project)
    spent(60.0)
    labelled(project, 1)
    spent(30.0)
    people = costs(project).people
    assert (people.labels, people.steps, people.seconds) == (2, 5, 90.0)
    assert (people.seconds_each, people.money_each) == (45.0, pytest.approx(0.45))
    assert costs(project).currency == "CHF"


def test_time_on_checks_and_thrown_away_labels_is_paid_by_the_rest(project: Project) -> None:
    labelled(project)
    spent(60.0)
    gold = labelled(project)
    Gold.objects.create(solution=gold, project=project, n_steps=3, accept=[4, 4, 4], source="import")
    spent(30.0)
    labelled(project)
    spent(30.0, counted=False, uncounted_reason="late")
    found = costs(project)
    assert (found.people.labels, found.people.seconds_each, found.on_checks) == (1, 120.0, 0.5)


def test_without_an_hourly_cost_there_is_no_money_and_a_reason(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(hourly_cost=None)
    project.refresh_from_db()
    labelled(project)
    spent(60.0)
    people = costs(project).people
    assert (people.seconds_each, people.money, people.missing) == (60.0, None, "no hourly cost is set")


def test_without_a_label_nothing_is_defined(project: Project) -> None:
    found = costs(project)
    assert (found.people.labels, found.people.seconds_each, found.people.missing) == (
        0,
        None,
        "no time was measured",
    )
    assert found.on_checks is None


def test_a_judge_costs_its_tokens_and_seconds(project: Project) -> None:
    prices = {"input_per_million": 2.0, "output_per_million": 10.0, "per_hour": 3.6}
    usage = {"prompt_tokens": 1000.0, "completion_tokens": 200.0, "seconds": 5.0}
    for _ in range(2):
        scored(project, usage, prices)
    judge = costs(project).sources[-1]
    assert (judge.source, judge.labels, judge.steps, judge.seconds) == ("judge", 2, 6, 10.0)
    assert judge.money_each == pytest.approx(0.002 + 0.002 + 0.005)


def test_rollouts_are_paid_before_their_solution_has_a_score(project: Project) -> None:
    scorer = scored(project, {}, {"output_per_million": 1.0})
    Rollouts.objects.create(
        solution=make.solution(project),
        version=scorer.versions.get(),
        step=0,
        tried=4,
        usage={"output_tokens": 5e5, "seconds": 7.0},
    )
    assert costs(project).sources[-1].money == 0.5


@pytest.mark.parametrize(
    ("prices", "missing"), [({}, "no price is set"), ({"per_hour": 1.0}, "no usage was kept")]
)
def test_what_is_not_known_says_why(project: Project, prices: dict[str, float], missing: str) -> None:
    scored(project, {"prompt_tokens": 10.0}, prices)
    judge = costs(project).sources[-1]
    assert (judge.money, judge.missing) == (None, missing)


def test_what_a_judge_wrote_and_used_is_kept_once_and_a_readers_is_not(project: Project) -> None:
    scored(project, {"prompt_tokens": 10.0})
    detail = ScoreDetail.objects.get()
    assert (detail.rationale, detail.usage) == ("So it is.", {"prompt_tokens": 10.0})
    scoring.request(actor=make.actor(project, make.Role.MANAGER), scorer_name="builtin")
    run_jobs()
    assert Score.objects.count() == 2
    assert ScoreDetail.objects.count() == 1


def test_the_number_of_queries_does_not_grow(project: Project) -> None:
    scored(project, {"seconds": 1.0})
    with CaptureQueriesContext(connection) as few:
        costs(project)
    for _ in range(3):
        scored(project, {"seconds": 1.0})
        labelled(project)
    with CaptureQueriesContext(connection) as many:
        costs(project)
    assert len(many) == len(few) == 4


def test_another_projects_costs_are_not_ours(project: Project) -> None:
    theirs = make.project()
    scored(theirs, {"seconds": 1.0})
    labelled(theirs)
    found = costs(project)
    assert [each.source for each in found.sources] == ["people", "builtin"]
    assert found.people.labels == 0
