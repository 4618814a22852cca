"""Side by side: reviewers and managers see where utility and correctness part, and only of what is settled."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotator.actions import consensus, labeling, queueing
from annotator.core.uncertainty import predicted_stop
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Assignment,
    Membership,
    Project,
    QueueRow,
    Role,
    Rollouts,
    Score,
    Scorer,
    ScorerVersion,
    Solution,
)
from annotator.queries.side_by_side import PEOPLE, side_by_side
from tests import factories as make
from tests.web.conftest import People, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/scorers/sources/"
FILES = [f"{PAGE}steps.csv", f"{PAGE}steps.jsonl"]


def version_of(project: Project, name: str, kind: str, measures: str = "correctness") -> ScorerVersion:
    scorer = Scorer.objects.create(project=project, name=name, kind=kind, ranks=False)
    threshold = 0.5 if measures == "correctness" else 0.0625
    return ScorerVersion.objects.create(scorer=scorer, version="v1", measures=measures, threshold=threshold)


@pytest.fixture
def rolling(project: Project) -> ScorerVersion:
    return version_of(project, "rolling", "monte_carlo", "utility")


@pytest.fixture
def judge(project: Project) -> ScorerVersion:
    return version_of(project, "judge", "critic")


def says(version: ScorerVersion, solution: Solution, values: Sequence[float]) -> None:
    Score.objects.create(
        solution=solution,
        version=version,
        n_steps=len(values),
        values=list(values),
        spread=[None] * len(values),
        priority=0.1,
        tiebreak=0.0,
        predicted_stop=predicted_stop(values, version.threshold),
    )


def labelled(project: Project, *labels: int | None, **of: Any) -> Solution:
    """A solution that one person labelled."""
    row = make.work(project, **of)
    actor = make.actor(project)
    work = queueing.next_assignment(actor=actor)
    assert work.solution_id == row.pk
    labeling.submit(actor=actor, assignment_id=work.pk, work=make.marked(*labels))
    consensus.update(solution_id=row.pk)
    return row.solution


def decided(project: Project, solution: Solution, *labels: int | None) -> None:
    Adjudication.objects.create(
        solution=solution,
        member=Membership.objects.filter(project=project).first() or make.member(project, Role.REVIEWER),
        n_steps=len(labels),
        labels=list(labels),
        stop=labels.index(-1) if -1 in labels else -1,
    )


def shown(client: Client) -> str:
    response = client.get(PAGE)
    assert response.status_code == 200
    return response.content.decode()


@pytest.mark.parametrize("address", [PAGE, *FILES])
def test_reviewers_and_managers_get_in_and_others_do_not(
    people: People, project: Project, address: str
) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    codes = [
        who.get(address).status_code
        for who in (people.manager, reviewer, people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [200, 200, 403, 404, 302]


def test_a_project_without_estimates_says_what_to_do(people: People) -> None:
    assert "There is no Monte-Carlo estimate yet" in shown(people.manager)


def test_steps_are_counted_by_correctness_and_utility(project: Project, rolling: ScorerVersion) -> None:
    says(rolling, labelled(project, 1, -1, None), [1.0, 0.5, 0.0])  # an error that may be mended
    says(rolling, labelled(project, 1, 0, 1), [1.0, 0.0, 1.0])  # a sound step, a dead end
    says(rolling, labelled(project, 1, 1, -1), [1.0, 1.0, 0.0])

    found = side_by_side(project)
    table = found.table
    assert (table.sound_ends_well, table.sound_does_not) == (5, 1)
    assert (table.wrong_ends_well, table.wrong_does_not) == (1, 1)
    assert found.parting_solutions == 2
    assert [step.parts for step in found.partings[-1].steps] == ["", "wrong_ends_well", ""]


def test_where_they_part_is_shown_step_by_step_with_what_was_counted(
    people: People, project: Project, rolling: ScorerVersion
) -> None:
    solution = labelled(project, 1, -1, None, texts=["Let $x = 1$.", "Then $x = 2$.", "So 3."])
    says(rolling, solution, [1.0, 0.375, 0.0])
    Rollouts.objects.create(solution=solution, version=rolling, step=1, tried=8, right=3)

    page = shown(people.manager)
    assert "3 of 8" in page
    assert "yet it may end well" in page
    assert "Then $x = 2$." in page
    assert "after the error" in page


def test_work_that_is_still_to_be_done_is_not_shown(
    people: People, project: Project, rolling: ScorerVersion
) -> None:
    live = labelled(project, 1, -1, None, texts=["live one", "b", "c"])
    Assignment.objects.filter(solution=live).update(state=Assignment.State.LIVE)
    wanted = labelled(project, 1, -1, None, texts=["wanted one", "b", "c"])
    cased = labelled(project, 1, -1, None, texts=["cased one", "b", "c"])
    AdjudicationCase.objects.create(solution=cased, project=project, reason="random", blind=True)
    gold = make.gold(project, (1, -1, None)).solution
    decided(project, gold, 1, -1, None)
    QueueRow.objects.filter(pk=wanted.pk).update(wanted=2)
    for solution in (live, wanted, cased, gold):
        says(rolling, solution, [1.0, 1.0, 1.0])

    assert side_by_side(project).settled == 0
    page = shown(people.manager)
    assert not any(word in page for word in ("live one", "wanted one", "cased one", "gold step"))
    assert people.manager.get(FILES[1]).getvalue() == b""


def test_sources_are_held_against_adjudicators_by_domain_and_depth(
    project: Project, rolling: ScorerVersion, judge: ScorerVersion
) -> None:
    for person, final, stops in (
        ((1, -1, None), (1, -1, None), (1, 1)),
        ((1, 1, 1), (1, 1, -1), (2, 1)),
        ((1, 1, 1), (1, 1, 1), (-1, 1)),
    ):
        solution = labelled(project, *person)
        decided(project, solution, *final)
        for version, stop in zip((judge, rolling), stops, strict=True):
            says(version, solution, [0.9 if stop == -1 or at < stop else 0.0 for at in range(3)])

    by_name = {one.name: one for one in side_by_side(project).agreements}
    assert by_name[PEOPLE].total.value == pytest.approx(2 / 3)
    assert by_name["judge"].total.value == 1.0
    assert by_name["rolling"].total.value == pytest.approx(1 / 3)
    assert (by_name["rolling"].measures, by_name["rolling"].source) == ("utility", "monte_carlo")
    assert [(name, figure.n) for name, figure in by_name["judge"].depths] == [
        ("no error", 1),
        ("step 2", 1),
        ("step 3", 1),
    ]
    assert [(name, figure.n) for name, figure in by_name["judge"].domains] == [("no domain", 3)]


def test_what_was_not_adjudicated_is_held_against_nobody(project: Project, judge: ScorerVersion) -> None:
    says(judge, labelled(project, 1, -1, None), [0.9, 0.1, 0.9])
    (people, one) = (each for each in side_by_side(project).agreements if each.name in {PEOPLE, "judge"})
    assert (people.total.n, one.total.n) == (0, 0)


def test_a_label_has_its_cost_by_source(people: People, project: Project, rolling: ScorerVersion) -> None:
    project.hourly_cost = 36.0
    project.save()
    rolling.scorer.prices = {"output_per_million": 2.0}
    rolling.scorer.save()
    solution = labelled(project, 1, 1, 1)
    says(rolling, solution, [1.0, 1.0, 1.0])
    Rollouts.objects.create(
        solution=solution, version=rolling, step=0, tried=8, right=8, usage={"output_tokens": 500_000}
    )
    found = side_by_side(project).costs
    assert found is not None
    by_name = {one.source: one for one in found.sources}
    assert by_name["people"].money_each == pytest.approx(36.0 * 12.5 / 3600)
    assert by_name["rolling"].money_each == pytest.approx(1.0)
    assert "1.0000" in shown(people.manager)


def test_what_labels_cost_is_for_managers(people: People, project: Project) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    assert ["What does a label cost?" in shown(who) for who in (people.manager, reviewer)] == [True, False]


def test_the_consensus_filter_counts_where_judge_and_estimate_agree(
    people: People, project: Project, rolling: ScorerVersion, judge: ScorerVersion
) -> None:
    for one, other in ((1, 1), (1, -1), (None, 1)):
        solution = make.work(project).solution
        for version, stop in ((judge, one), (rolling, other)):
            if stop is not None:
                says(version, solution, [0.9 if stop == -1 or at < stop else 0.0 for at in range(3)])

    assert "in 1 of 2 solutions" in shown(people.manager)


@pytest.mark.parametrize("hostile", ["=1+1", "@SUM(A1)", "+1"])
def test_the_file_has_every_step_and_runs_nothing(
    people: People, project: Project, rolling: ScorerVersion, hostile: str
) -> None:
    solution = labelled(project, 1, -1, None)
    says(rolling, solution, [1.0, 0.5, 0.0])
    Rollouts.objects.create(solution=solution, version=rolling, step=1, tried=8, right=4)
    type(solution.problem).objects.update(domain=hostile)

    table = list(csv.DictReader(io.StringIO(people.manager.get(FILES[0]).getvalue().decode())))
    lines = [orjson.loads(line) for line in people.manager.get(FILES[1]).getvalue().splitlines()]
    assert [row["domain"] for row in table] == [f"'{hostile}"] * 2
    assert [row["domain"] for row in lines] == [hostile] * 2
    assert lines[1] == {
        "solution": solution.external_id,
        "domain": hostile,
        "step": 1,
        "people": -1,
        "adjudicated": False,
        "measures": "utility",
        "estimate": 0.5,
        "tried": 8,
        "right": 4,
        "parts": "wrong_ends_well",
    }


def test_exports_can_be_limited_to_what_both_agree_on(
    people: People, project: Project, rolling: ScorerVersion, judge: ScorerVersion
) -> None:
    for other in (1, -1):
        solution = make.work(project, texts=["One.", "So 3 + 4 = 8.", "Three."]).solution
        for version, stop in ((judge, 1), (rolling, other)):
            says(version, solution, [0.9 if stop == -1 or at < stop else 0.0 for at in range(3)])
    exports = people.manager.get("/p/maths/exports/").content.decode()
    assert all(f'name="{name}"' in exports for name in ("automatic", "checks"))

    choice = {"format": "native", "labels": "automatic", "automatic": "agree", "checks": "contradicted"}
    response = people.manager.get("/p/maths/exports/download", choice)
    (line,) = b"".join(response.streaming_content).splitlines()
    assert orjson.loads(line)["label_source"] == "judge+monte_carlo"


def test_there_is_no_other_kind_of_file(people: People) -> None:
    assert people.manager.get(f"{PAGE}steps.xml").status_code == 404


def test_queries_do_not_grow_with_solutions(people: People, project: Project, rolling: ScorerVersion) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as caught:
            shown(people.manager)
        return len(caught)

    says(rolling, labelled(project, 1, -1, None), [1.0, 0.5, 0.0])
    few = queries()
    for _ in range(4):
        says(rolling, labelled(project, 1, -1, None), [1.0, 0.5, 0.0])
    assert queries() == few
