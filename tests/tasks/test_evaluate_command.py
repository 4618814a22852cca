"""The figures of a scorer for the shell, by the keys that scripts rely on."""

from __future__ import annotations

import pytest

from annotator.models import Project, ScorerVersion
from tests import factories as make
from tests.queries.test_evaluation import referred
from tests.tasks.commands import CHECK_FAILED, DONE, UNUSABLE, Ended

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(slug="algebra")


@pytest.fixture
def version(project: Project) -> ScorerVersion:
    return ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="v1", measures="correctness", threshold=0.5
    )


def test_the_keys_are_those_of_the_interface(version: ScorerVersion) -> None:
    for stop, values in ((1, [0.9, 0.2]), (0, [0.9, 0.2]), (-1, [0.9, 0.8])):
        referred(version, stop, values)
    ended = Ended(
        *("evaluate_scorer", "--project", "algebra", "--scorer", "builtin"),
        *("--against", "reference", "--json"),
    )

    said = ended.json
    assert ended.status == DONE
    assert (said["scorer"], said["version"], said["solutions"]) == ("builtin", "v1", 3)
    assert (said["threshold"], said["threshold_from"], said["overlap_with_training"]) == (
        0.5,
        "even odds, not tuned",
        0,
    )
    f1 = said["processbench_f1"]
    assert f1["value"] == pytest.approx(2 / 3)
    assert (f1["erroneous"], f1["correct"]) == (0.5, 1.0)
    # Correct .9 .9 .8 against wrong .2 .9: of 6 pairs 3 + .5 + .5 = 4 won.
    assert said["step_auc"] == pytest.approx(4 / 6)
    assert said["brier"] == pytest.approx((3 * 0.01 - 0.01 + 0.04 + 0.04 + 0.81) / 5)
    assert said["intervals"]["ece"]["value"] == said["ece"]


def test_a_table_is_printed_for_people(version: ScorerVersion) -> None:
    referred(version, 1, [0.9, 0.2])
    ended = Ended("evaluate_scorer", "--project", "algebra")
    assert "ProcessBench F1" in ended.out
    assert "none (single_category)" in ended.out


def test_nothing_to_measure_is_a_failed_check(version: ScorerVersion) -> None:
    ended = Ended("evaluate_scorer", "--project", "algebra", "--against", "gold", "--json")
    assert (ended.status, ended.json["processbench_f1"]["value"]) == (CHECK_FAILED, None)
    assert "labels of the kind 'gold'" in ended.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--scorer", "other"], "no scorer 'other'"),
        (["--version-of-scorer", "v9"], "no version 'v9'"),
        (["--against", "taste"], "invalid choice"),
    ],
)
def test_what_does_not_exist_is_unusable(version: ScorerVersion, arguments: list[str], says: str) -> None:
    ended = Ended("evaluate_scorer", "--project", "algebra", *arguments)
    assert ended.status == UNUSABLE
    assert says in ended.err or ended.err == ""
