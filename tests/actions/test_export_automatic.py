"""Labels that no person gave, and filters by what machines say: they leave under their own names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson
import pytest

from annotator.core.uncertainty import predicted_stop
from annotator.models import Project, Score, Scorer, ScorerVersion, Solution
from annotator.queries.export_filters import BadChoice
from annotator.queries.exports import LabelsFrom, Only
from tests import factories as make
from tests.actions.leaving import export, rows, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(name="Maths")


def version_of(project: Project, kind: str, measures: str = "correctness", name: str = "") -> ScorerVersion:
    scorer, _ = Scorer.objects.get_or_create(
        project=project, name=name or kind.replace("_", "-"), kind=kind, ranks=False
    )
    number = scorer.versions.count()
    return ScorerVersion.objects.create(scorer=scorer, version=f"v{number}", measures=measures, threshold=0.5)


@pytest.fixture
def judge(project: Project) -> ScorerVersion:
    return version_of(project, "critic")


@pytest.fixture
def rolling(project: Project) -> ScorerVersion:
    return version_of(project, "monte_carlo", "utility")


def says(version: ScorerVersion, solution: Solution, stop: int) -> None:
    values = [0.9 if stop == -1 or at < stop else 0.0 for at in range(solution.n_steps)]
    Score.objects.create(
        solution=solution,
        version=version,
        n_steps=len(values),
        values=values,
        spread=[None] * len(values),
        priority=0.1,
        tiebreak=0.0,
        predicted_stop=predicted_stop(values),
    )


def ids(project: Project, **more: Any) -> list[str]:
    return [row["id"] for row in rows(project, **more)]


def test_automatic_labels_leave_where_both_kinds_agree_and_say_whose_they_are(
    project: Project, judge: ScorerVersion, rolling: ScorerVersion
) -> None:
    found, sound, differ, alone = (make.solution(project) for _ in range(4))
    for solution, one, other in ((found, 1, 1), (sound, -1, -1), (differ, 1, 2)):
        says(judge, solution, one)
        says(rolling, solution, other)
    says(judge, alone, 1)

    written = export(project, labels=LabelsFrom.AUTOMATIC)
    lines = [orjson.loads(line) for line in written]
    assert [(row["id"], row["labels"], row["label_source"]) for row in lines] == [
        (found.external_id, [1, -1, None], "judge+monte_carlo"),
        (sound.external_id, [1, 1, 1], "judge+monte_carlo"),
    ]
    assert written.all_left_out == {"judge_and_estimate_differ": 1, "not_judged_and_estimated": 1}


def test_the_newest_version_of_a_scorer_speaks(
    project: Project, judge: ScorerVersion, rolling: ScorerVersion
) -> None:
    solution = make.solution(project)
    newer = version_of(project, "critic")
    for version, stop in ((judge, 2), (newer, 1), (rolling, 1)):
        says(version, solution, stop)

    assert len(rows(project, labels=LabelsFrom.AUTOMATIC)) == 1
    said(solution, 1, -1, None)
    assert ids(project, only=Only(automatic="agree")) == [solution.external_id]


def test_scores_leave_with_their_source_and_what_they_measure(
    project: Project, judge: ScorerVersion, rolling: ScorerVersion
) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None)
    says(judge, solution, 1)
    says(rolling, solution, 1)

    (row,) = rows(project)
    assert row["label_source"] == "human"
    assert [(one["source"], one["measures"]) for one in row["scores"]] == [
        ("judge", "correctness"),
        ("monte_carlo", "utility"),
    ]


def test_peoples_labels_can_be_limited_to_where_both_kinds_agree(
    project: Project, judge: ScorerVersion, rolling: ScorerVersion
) -> None:
    same, differ, alone = (make.solution(project) for _ in range(3))
    for solution in (same, differ, alone):
        said(solution, 1, 1, 1)
    for solution, one, other in ((same, 1, 1), (differ, 1, -1)):
        says(judge, solution, one)
        says(rolling, solution, other)
    says(rolling, alone, 1)
    assert ids(project, only=Only(automatic="agree")) == [same.external_id]


def test_another_projects_scorers_have_no_say(project: Project, judge: ScorerVersion) -> None:
    solution = make.solution(project)
    said(solution, 1, 1, 1)
    says(judge, solution, 1)
    version_of(make.project(), "monte_carlo", "utility")
    assert ids(project, only=Only(automatic="agree")) == []


@pytest.mark.parametrize(
    ("checks", "expected"), [("contradicted", ["wrong"]), ("clean", ["right", "unknown"]), ("", None)]
)
def test_solutions_can_be_chosen_by_their_equations(
    project: Project, checks: str, expected: Sequence[str] | None
) -> None:
    texts = {"wrong": "So 3 + 4 = 8.", "right": "So 3 + 4 = 7.", "unknown": "So it is."}
    made = {name: make.solution(project, ["One.", text, "Three."]) for name, text in texts.items()}
    for solution in made.values():
        said(solution, 1, 1, 1)
    wanted = [made[name].external_id for name in expected or texts]
    assert sorted(ids(project, only=Only(checks=checks))) == sorted(wanted)


def test_an_equation_in_context_counts_for_nothing(project: Project) -> None:
    solution = make.solution(project, ["Ask.", "3 + 4 = 8"], kinds=["reasoning", "observation"])
    said(solution, 1, None)
    assert ids(project, only=Only(checks="contradicted")) == []


@pytest.mark.parametrize("given", [{"checks": "maybe"}, {"automatic": "yes"}])
def test_other_words_are_refused(given: dict[str, str]) -> None:
    with pytest.raises(BadChoice, match="is one of"):
        Only.from_json(given)
