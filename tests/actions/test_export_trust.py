"""Only labels that can be trusted leave: by agreement, posterior, people and where they come from."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.actions.access import operator
from annotator.actions.export_choices import Recipe
from annotator.actions.exports import start
from annotator.core.codecs.writing import NoSoftLabels, Values
from annotator.models import Consensus, Project
from annotator.queries.export_filters import BadChoice, LabelsFrom, Only
from tests import factories as make
from tests.actions.leaving import brought, decided, export, rows, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def ids(project: Project, labels: LabelsFrom = LabelsFrom.CONSENSUS, **only: Any) -> list[str]:
    return [row["id"] for row in rows(project, labels=labels, include_gold=True, only=Only(**only))]


def test_only_what_enough_people_put_in_the_same_place(project: Project) -> None:
    all_agree, two_of_three = make.solution(project), make.solution(project)
    for labels in ((1, -1, None), (1, -1, None), (1, -1, None)):
        said(all_agree, *labels)
    for labels in ((1, -1, None), (1, -1, None), (1, 1, 1)):
        said(two_of_three, *labels)
    assert ids(project, min_agreement=0.9) == [all_agree.external_id]
    assert ids(project, min_agreement=0.6) == [all_agree.external_id, two_of_three.external_id]


def test_who_gave_up_is_not_asked_for_agreement(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None), said(solution, 1, None, None, finish_reason="give_up")
    assert ids(project, min_agreement=1.0) == [solution.external_id]


def test_what_was_decided_passes_whatever_people_said(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None), said(solution, 1, 1, 1)
    decided(solution, 1, 1, 1)
    assert ids(project, min_agreement=1.0, min_posterior=1.0) == [solution.external_id]


def test_only_what_the_posterior_is_sure_of(project: Project) -> None:
    made = [make.solution(project) for _ in range(3)]
    for solution, posterior in zip(made, (0.95, 0.6, None), strict=True):
        said(solution, 1, 1, 1)
        Consensus.objects.filter(solution=solution).update(posterior=posterior)
    assert ids(project, min_posterior=0.9) == [made[0].external_id]


def test_only_what_so_many_people_judged(project: Project) -> None:
    one, two = make.solution(project), make.solution(project)
    said(one, 1, 1, 1), said(two, 1, 1, 1), said(two, 1, 1, 1)
    assert ids(project, min_people=2) == [two.external_id]


def test_only_what_these_people_judged_and_of_every_annotation_theirs(project: Project) -> None:
    mine, both = make.solution(project), make.solution(project)
    me = said(mine, 1, 1, 1).member
    said(both, -1, None, None, member=me), said(both, -1, None, None)
    others = make.solution(project)
    said(others, 1, 1, 1)
    assert ids(project, people=(me.pseudonym,)) == [mine.external_id, both.external_id]
    every = rows(project, format="trl", labels=LabelsFrom.ALL, only=Only(people=(me.pseudonym,)))
    assert [row["labels"] for row in every] == [[True, True, True], [False]]


@pytest.mark.parametrize("source", ["human", "consensus", "adjudicated", "gold"])
def test_only_labels_from_one_source(project: Project, source: str) -> None:
    alone, agreed, judged = (make.solution(project) for _ in range(3))
    said(alone, 1, 1, 1), said(agreed, 1, 1, 1), said(agreed, 1, 1, 1), said(judged, 1, 1, 1)
    decided(judged, 1, -1, None)
    gold = make.gold(project).solution
    expected = {"human": alone, "consensus": agreed, "adjudicated": judged, "gold": gold}[source]
    found = rows(project, include_gold=True, only=Only(sources=(source,)))
    assert [(row["id"], row["label_source"]) for row in found] == [(expected.external_id, source)]


def test_imported_labels_are_a_source_where_the_reference_is_exported(project: Project) -> None:
    solution = make.solution(project)
    brought(solution, 1, 1, 1), make.solution(project)
    assert ids(project, LabelsFrom.REFERENCE, sources=("imported",)) == [solution.external_id]


def test_a_person_whom_nobody_knows_is_named(project: Project) -> None:
    with pytest.raises(BadChoice, match="Nobody here is called nobody-9"):
        export(project, only=Only(people=("nobody-9",)))


def test_soft_labels_are_the_posterior_where_there_is_one(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None)
    Consensus.objects.filter(solution=solution).update(posterior=0.9)
    (row,) = rows(project, values=Values.SOFT)
    assert (row["soft"], row["weight"], row["labels"]) == ([0.9, 0.1, None], 0.9, [1, -1, None])


def test_soft_labels_are_shares_of_people_where_there_is_none(project: Project) -> None:
    solution = make.solution(project)
    for labels in ((1, -1, None), (1, -1, None), (1, 1, 1)):
        said(solution, *labels)
    (row,) = rows(project, values=Values.SOFT)
    assert (row["soft"], row["weight"]) == ([1.0, 0.3333, None], 0.6667)


def test_a_trainer_gets_soft_labels_as_numbers(project: Project) -> None:
    solution = make.solution(project)
    for labels in ((1, -1, None), (1, -1, None), (1, 1, 1)):
        said(solution, *labels)
    (row,) = rows(project, format="openrlhf", values=Values.SOFT)
    assert (row["value"], row["weight"]) == ([1.0, 0.3333], 0.6667)


def test_a_format_without_soft_labels_says_which_have_them(project: Project) -> None:
    with pytest.raises(
        NoSoftLabels, match="trl holds no soft labels; these formats do: native, openrlhf, csv"
    ):
        export(project, format="trl", values=Values.SOFT)


def test_a_weight_goes_into_every_format_that_is_asked_for_one(project: Project) -> None:
    said(make.solution(project), 1, 1, 1)
    for name in ("trl", "math_shepherd", "native"):
        assert rows(project, format=name, values=Values.WEIGHTED)[0]["weight"] == 1.0
    assert "weight" not in rows(project, format="trl")[0]


def test_choices_come_back_as_they_were_kept(project: Project) -> None:
    given = {
        "format": "openrlhf",
        "labels": "all",
        "neutral": "correct",
        "include_gold": "on",
        "values": "soft",
        "split_by_problem": "80/10/10",
        "seed": "7",
        "since": "2026-03-01",
        "min_agreement": "0.8",
        "min_people": "2",
        "people": "a-1, a-2",
        "sources": ["human", "consensus"],
        "licence": "CC-BY-4.0",
    }
    recipe = Recipe.from_json(given)
    assert Recipe.from_json(recipe.to_json()) == recipe
    assert recipe.only.people == ("a-1", "a-2")


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("min_agreement", "80", "min_agreement is a number from 0 to 1"),
        ("min_people", "none", "min_people is a whole number"),
        ("since", "soon", "since is a day such as"),
        ("sources", "rumour", "sources are among: human"),
        ("split", "left", "split is one of: train, holdout"),
        ("values", "fuzzy", "values is one of: hard"),
        ("labels", "mine", "labels is one of: consensus"),
        ("split_by_problem", "80/30", "shares that make 100"),
        ("seed", "x", "A seed is a whole number"),
        ("part", "train", "part names a part of split_by_problem"),
        ("include_gold", "maybe", "include_gold is 1 or 0"),
        ("licence", "x" * 101, "licence is the name"),
    ],
)
def test_a_choice_that_can_not_be_is_told_by_its_name(name: str, value: str, said: str) -> None:
    more = {"split_by_problem": "90/10"} if name == "seed" else {}
    with pytest.raises(ValueError, match=said):
        Recipe.from_json({name: value, **more})


def test_the_start_of_an_export_says_what_it_will_be(project: Project) -> None:
    table = start(actor=operator(project), recipe=Recipe(format="csv"))
    assert (table.extension, table.media_type) == ("csv", "text/csv; charset=utf-8")
