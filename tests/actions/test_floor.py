"""The floor of solutions that are expected to be free of errors, from the order to what a claim keeps."""

from __future__ import annotations

import pytest

from annotator.actions import ordering, projects, queueing
from annotator.core.explaining import sentence
from annotator.models import Assignment, Problem, Project, QueueRow, ScorerVersion
from tests import factories as make
from tests.actions.test_strategies import scored, version_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    made = make.project()
    Project.objects.filter(pk=made.pk).update(siblings=1)
    made.refresh_from_db()
    return made


@pytest.fixture
def version(project: Project) -> ScorerVersion:
    return version_of(project)


def unlike(project: Project, version: ScorerVersion, *values: float) -> QueueRow:
    """A scored solution of a problem of its own words."""
    letters = "".join(chr(ord("a") + int(digit)) for digit in str(QueueRow.objects.count()))
    problem = Problem.objects.create(
        project=project, text=f"What about {letters}?", content_hash=make.digest(letters), split="train"
    )
    row = make.work(project, problem=problem)
    return scored(row, version, *values)


def handed_out(project: Project, number: int) -> list[tuple[str, float]]:
    """Strategy and score of what one person is given, one after the other."""
    actor, kept = make.actor(project), []
    for _ in range(number):
        given = queueing.next_assignment(actor=actor)
        Assignment.objects.filter(pk=given.pk).update(state="submitted")
        kept.append((given.selection["strategy"], given.selection["score"]))
    return kept


def test_new_projects_ask_that_two_in_five_are_expected_to_be_free_of_errors() -> None:
    assert projects.create(new=projects.NewProject(slug="new")).error_free_floor == 0.4


def test_what_the_floor_hands_out_says_so_and_no_strategys_score_ever_rises(
    project: Project, version: ScorerVersion
) -> None:
    for n in range(12):
        unlike(project, version, 0.5 + n / 100, 0.4, 0.5)
        unlike(project, version, 0.999, 0.98 + n / 1000, 0.97)
    ordering.reprioritize(version_id=version.pk)

    kept = handed_out(project, 20)
    scores = {name: [score for each, score in kept if each == name] for name in ("uncertainty", "error_free")}
    assert 7 <= len(scores["error_free"]) <= 9
    assert len(scores["error_free"]) + len(scores["uncertainty"]) == 20
    for mine in scores.values():
        assert mine == sorted(mine, reverse=True)


def test_a_solution_scored_later_takes_its_place_without_a_new_order(
    project: Project, version: ScorerVersion
) -> None:
    for n in range(6):
        unlike(project, version, 0.5 + n / 20, 0.4, 0.5)
        unlike(project, version, 0.999, 0.98 + n / 1000, 0.97)
    ordering.reprioritize(version_id=version.pk)
    new = unlike(project, version, 0.62, 0.4, 0.5)
    ordering.rank_new(solution_ids=[new.pk], version=version)

    mine = [score for name, score in handed_out(project, 13) if name == "uncertainty"]
    assert mine == sorted(mine, reverse=True)


def test_where_the_order_keeps_the_share_up_by_itself_no_row_is_touched(
    project: Project, version: ScorerVersion
) -> None:
    rows = [unlike(project, version, 0.95 - n / 100, 0.95, 0.95) for n in range(8)]
    ordering.rank_new(solution_ids=[row.pk for row in rows], version=version)
    assert ordering.reprioritize(version_id=version.pk) == 0


def test_the_sentence_says_that_the_floor_put_it_there() -> None:
    kept = {"route": "priority", "strategy": "error_free", "score": 0.1, "scorer_version": "v1", "round": 1}
    assert "is to be free of errors" in sentence(kept)
