"""Which labels leave, and what is said about them beside the file."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import orjson
import pytest

from annotator.actions import quality
from annotator.actions.access import NotAllowed, operator
from annotator.actions.exports import Recipe, manifest_of
from annotator.models import Problem, Project
from annotator.queries.exports import Only
from tests import factories as make
from tests.actions.leaving import export, rows, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project(name="Maths")


def ids(project: Project, **only: Any) -> list[str]:
    return [row["id"] for row in rows(project, only=Only(**only))]


def test_only_one_side_of_the_split_where_it_is_named(project: Project) -> None:
    train, holdout = make.solution(project), make.solution(project, holdout=True)
    said(train, 1, 1, 1), said(holdout, 1, 1, 1)
    assert ids(project, split="train") == [train.external_id]
    assert ids(project, split="holdout") == [holdout.external_id]
    assert len(ids(project)) == 2


def test_the_holdout_alone_leaves_in_a_training_format_once_it_is_named(project: Project) -> None:
    said(make.solution(project, holdout=True), 1, 1, 1)
    assert rows(project, format="trl") == []
    assert len(rows(project, format="trl", only=Only(split="holdout"))) == 1


def test_only_one_domain_where_it_is_named(project: Project) -> None:
    first, second = make.solution(project), make.solution(project)
    said(first, 1, 1, 1), said(second, 1, 1, 1)
    Problem.objects.filter(pk=first.problem_id).update(domain="algebra")
    assert ids(project, domain="algebra") == [first.external_id]


def test_only_what_was_labelled_on_these_days_both_included(project: Project) -> None:
    made = [make.solution(project) for _ in range(3)]
    for day, solution in enumerate(made, start=1):
        said(solution, 1, 1, 1, submitted_at=datetime(2026, 5, day, 12, tzinfo=UTC))
    assert ids(project, since=date(2026, 5, 2)) == [each.external_id for each in made[1:]]
    assert ids(project, until=date(2026, 5, 2)) == [each.external_id for each in made[:2]]
    assert ids(project, since=date(2026, 5, 2), until=date(2026, 5, 2)) == [made[1].external_id]


def test_a_neutral_label_that_is_filtered_out_asks_for_no_policy(project: Project) -> None:
    said(make.solution(project), 1, 0, 1)
    assert rows(project, format="trl", only=Only(domain="elsewhere")) == []


def test_the_same_state_gives_the_same_bytes(project: Project) -> None:
    for _ in range(3):
        solution = make.solution(project)
        said(solution, 1, -1, None), said(solution, 1, 1, 1)
    for name in ("native", "prm800k", "processbench"):
        first, second = (b"".join(export(project, format=name)) for _ in range(2))
        assert first == second


def test_the_manifest_says_what_the_file_holds(project: Project) -> None:
    said(make.solution(project), 1, 1, 1)
    make.solution(project), make.gold(project)
    recipe = Recipe(only=Only(split="train"))
    done = export(project, only=recipe.only)
    content = b"".join(done)
    manifest = manifest_of(actor=operator(project), recipe=recipe, export=done)

    assert (manifest["written"], manifest["left_out"]) == (1, {"gold": 1, "not_labelled": 1})
    assert manifest["recipe"] == {
        "format": "native",
        "labels": "consensus",
        "include_gold": False,
        "split": "train",
    }
    assert len(manifest["sha256"]) == 64
    assert content
    assert manifest["agreement"] is None
    orjson.dumps(manifest)


def test_the_card_tells_a_person_the_same(project: Project) -> None:
    said(make.solution(project), 1, 1, 1)
    make.gold(project)
    quality.compute(project=project)
    done = export(project)
    assert list(done)
    manifest = manifest_of(actor=operator(project), recipe=Recipe(), export=done)
    card = manifest["card"]
    assert card.startswith("# Maths\n")
    assert "1 rows" in card
    assert "| gold | 1 |" in card
    assert manifest["agreement"]["sentence"] in card
    assert manifest["sha256"] in card


def test_a_manifest_is_for_those_who_may_export(project: Project) -> None:
    with pytest.raises(NotAllowed):
        manifest_of(actor=make.actor(project), recipe=Recipe(), export=export(project))
