"""What chat models write is kept with their scores: for reviewers, never in a blind case, never for annotators."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from annotator.actions import pictures, scorers, scoring
from annotator.actions.access import operator
from annotator.models import AdjudicationCase, Problem, Project, QueueRow, ScoreDetail
from annotator.queries.cases import case_view
from annotator.queries.scorers import overview
from annotator.scorers import http
from tests import factories as make
from tests.actions.test_remote_scoring import run
from tests.core.test_pictures import drawn
from tests.scorers.stub import Stub

pytestmark = pytest.mark.django_db
RULING = json.dumps(
    {
        "steps": [
            {"step": 1, "label": "correct", "error_type": None, "why": "given"},
            {"step": 2, "label": "incorrect", "error_type": "calculation", "why": "2 + 2 is 4"},
            {"step": 3, "label": "incorrect", "error_type": "slip", "why": "as before"},
        ]
    }
)


@pytest.fixture
def stub(settings: Any) -> Iterator[Stub]:
    server = Stub()
    settings.SCORER_HOSTS = list(server.hosts)
    server.tell(answers=[RULING])
    yield server
    http.forget_all()
    server.kill()


@pytest.fixture
def project() -> Project:
    return make.project()


def judged(project: Project, stub: Stub, **work: Any) -> QueueRow:
    """A solution of three steps that a judge has labelled."""
    scorers.add(actor=operator(project), name="judge", kind="judge", config={"url": stub.url})
    row = make.work(project, **work)
    run(scoring.PLAN)
    run(scoring.SCORE)
    return row


def case_of(row: QueueRow, **fields: Any) -> Any:
    case = AdjudicationCase.objects.create(
        solution_id=row.pk, project_id=row.project_id, reason="tie", **fields
    )
    return case_view(case_id=case.pk)


def test_reasons_and_kinds_of_error_are_kept_with_the_score(project: Project, stub: Stub) -> None:
    row = judged(project, stub)
    detail = ScoreDetail.objects.select_related("score").get(score__solution_id=row.pk)
    assert detail.score.values == [1.0, 0.0, 0.0]
    assert detail.error_types == [None, "calculation", None]
    assert "Step 2: incorrect. 2 + 2 is 4" in detail.rationale


def test_the_projects_own_kinds_of_error_are_in_the_question(project: Project, stub: Stub) -> None:
    Project.objects.filter(pk=project.pk).update(error_types=["off by one", "circular"])
    judged(project, stub)
    asked = stub.seen("/chat")[0]["body"]["messages"][0]["content"]
    assert "Kinds of error: off by one; circular." in asked


def test_a_reviewer_reads_what_a_judge_wrote(project: Project, stub: Stub) -> None:
    (said,) = case_of(judged(project, stub)).critics
    assert (said.name, said.predicted_stop, said.error_type) == ("judge", 1, "calculation")
    assert "2 + 2 is 4" in said.rationale


@pytest.mark.parametrize(("case", "work"), [({"blind": True}, {}), ({}, {"holdout": True})])
def test_a_blind_case_and_the_holdout_show_no_word_of_it(
    project: Project, stub: Stub, case: dict[str, Any], work: dict[str, Any]
) -> None:
    assert case_of(judged(project, stub, **work), **case).critics == []


def test_a_problems_pictures_are_sent_along(project: Project, stub: Stub) -> None:
    kept = pictures.keep(actor=operator(project), data=drawn())
    scorers.add(actor=operator(project), name="judge", kind="judge", config={"url": stub.url})
    row = make.work(project)
    Problem.objects.filter(pk=row.solution.problem_id).update(images=[{"sha256": kept.sha256, "alt": ""}])
    run(scoring.PLAN)
    run(scoring.SCORE)
    picture, _words = stub.seen("/chat")[0]["body"]["messages"][0]["content"]
    assert picture["image_url"]["url"].startswith("data:image/png;base64,iVBOR")


def test_answers_that_hold_no_verdict_are_counted_on_the_page(project: Project, stub: Stub) -> None:
    stub.tell(answers=[RULING, "Hm."])
    scorers.add(actor=operator(project), name="judge", kind="judge", config={"url": stub.url, "votes": 2})
    make.work(project)
    run(scoring.PLAN)
    run(scoring.SCORE)
    judge = next(each for each in overview(project).scorers if each.kind == "judge")
    assert (judge.answers, judge.unparsed) == (2, 1)
