"""Scorers side by side: who may look, what stands there, and when it is computed anew."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.actions import evaluation
from annotator.models import Project, QualityReport, ReferenceLabels, ScorerVersion
from annotator.scorers.builtin.training_data import problem_hash
from tests.queries.test_evaluation import referred, scored
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/scorers/evaluation/"


def a_version(project: Project, name: str = "builtin-one", **fields: Any) -> ScorerVersion:
    usual = {"measures": "correctness", "threshold": 0.5, **fields}
    return ScorerVersion.objects.create(scorer=project.scorers.get(), version=name, **usual)


@pytest.fixture
def version(project: Project) -> ScorerVersion:
    made = a_version(project)
    for stop, values in ((1, [0.9, 0.2]), (0, [0.9, 0.2]), (-1, [0.9, 0.8]), (-1, [0.9, 0.4])):
        referred(made, stop, values)
    return made


def test_managers_alone_see_it(people: People, version: ScorerVersion) -> None:
    asked = [who.get(PAGE).status_code for who in (people.manager, people.annotator, people.stranger)]
    assert asked == [200, 403, 404]
    assert people.nobody.get(PAGE).status_code == 302


def test_every_figure_stands_in_a_table_under_its_plot(people: People, version: ScorerVersion) -> None:
    answer = people.manager.get(PAGE)
    assert [block.slug.split("-")[0] for block in answer.context["blocks"]] == [
        "overall",
        "steps",
        "errors",
        "reliability",
    ]
    page = answer.content.decode()
    assert page.count("data-plot=") == 4
    for column in ("erroneous", "AUC", "Brier", "ECE", "PRMScore", "within one", "trained on"):
        assert f'<th scope="col" class="number">{column}</th>' in page


def test_versions_stand_side_by_side_and_overlap_is_flagged(
    people: People, project: Project, version: ScorerVersion
) -> None:
    seen = ReferenceLabels.objects.first()
    assert seen is not None
    other = a_version(
        project,
        "builtin-two",
        training={"problems": [problem_hash(seen.solution.problem.text)]},
        status="challenger",
    )
    for row in ReferenceLabels.objects.select_related("solution"):
        other.scores.create(
            solution=row.solution,
            version=other,
            n_steps=2,
            values=[0.9, 0.9],
            spread=[0.0, 0.0],
            priority=0.0,
            tiebreak=0.0,
            predicted_stop=-1,
        )
    overall = people.manager.get(PAGE).context["blocks"][0]
    assert [(row[0], row[1]) for row in overall.rows] == [
        ("builtin two", "challenger"),
        ("builtin one", "live"),
    ]
    assert [row[overall.columns.index("trained on")] for row in overall.rows] == [1, 0]
    assert "1 of 2 were trained on some of these problems" in overall.sentence


def test_best_of_n_stands_there_where_problems_have_several_candidates(
    people: People, version: ScorerVersion
) -> None:
    first = referred(version, -1, [0.9, 0.9])
    other = scored(version, [0.9, 0.3], problem=first.problem)
    ReferenceLabels.objects.create(solution=other, n_steps=2, labels=[1, -1], first_error=1)
    for solution, right in ((first, True), (other, False)):
        type(solution).objects.filter(pk=solution.pk).update(answer_correct=right)
    blocks = {block.slug: block for block in people.manager.get(PAGE).context["blocks"]}
    assert "100% of answers are right; drawn by lot, 50%" in blocks["best-of-n"].sentence


@pytest.mark.parametrize(
    ("against", "says"),
    [
        ("holdout", "No holdout figures yet"),
        ("gold", "No gold to measure"),
        ("reference", "No reference labels"),
    ],
)
def test_what_is_missing_is_said(people: People, against: str, says: str) -> None:
    assert says in people.manager.get(f"{PAGE}?against={against}").content.decode()


def test_another_yardstick_is_refused(people: People) -> None:
    assert people.manager.get(f"{PAGE}?against=taste").status_code == 400


def test_it_is_computed_once_until_something_changes(
    people: People, version: ScorerVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    people.manager.get(PAGE)
    kept = QualityReport.objects.get(kind="evaluation_reference").fingerprint
    with monkeypatch.context() as patch:
        patch.setattr(evaluation, "compared", None)
        assert people.manager.get(PAGE).status_code == 200
    referred(version, -1, [0.9, 0.8])
    assert people.manager.get(PAGE).context["blocks"][0].rows[0][2] == 5
    assert QualityReport.objects.get(kind="evaluation_reference").fingerprint != kept


def test_the_queries_do_not_grow_with_versions_and_solutions(
    people: People, project: Project, version: ScorerVersion, django_assert_max_num_queries: Any
) -> None:
    for number in range(3):
        other = a_version(project, f"builtin-{number}")
        referred(other, -1, [0.9, 0.8])
    with django_assert_max_num_queries(20):
        people.manager.get(PAGE)


def test_the_scorers_page_leads_there(people: People) -> None:
    assert f'href="{PAGE}"' in people.manager.get("/p/maths/scorers/").content.decode()
