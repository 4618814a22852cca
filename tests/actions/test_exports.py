"""Labels leave."""

from __future__ import annotations

import hashlib
from typing import Any

import orjson
import pytest

from annotator.actions import consensus, exports, labeling, queueing, scoring
from annotator.actions.access import NotAllowed
from annotator.actions.exports import Recipe
from annotator.core.codecs import UnknownFormat
from annotator.core.codecs.policies import (
    AfterFirstErrorPolicy,
    PolicyNotSupported,
)
from annotator.core.labels import Mode
from annotator.models import (
    AuditEvent,
    Project,
    Role,
    Score,
)
from annotator.queries.exports import LabelsFrom
from tests import factories as make
from tests.actions.leaving import brought, decided, export, left_out, rows, said

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def test_one_persons_labels_are_a_persons(project: Project) -> None:
    said(make.solution(project), 1, -1, None)

    (row,) = rows(project)
    assert (row["labels"], row["first_error"], row["label_source"]) == ([1, -1, None], 1, "human")


def test_what_two_agree_on_is_their_consensus(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None), said(solution, 1, -1, None)

    (row,) = rows(project)
    assert (row["labels"], row["label_source"]) == ([1, -1, None], "consensus")
    assert row["consensus"]["method"] == "plurality"


def test_the_latest_adjudication_wins(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None)
    decided(solution, -1, None, None), decided(solution, 1, 1, 1)

    (row,) = rows(project)
    assert (row["labels"], row["label_source"]) == ([1, 1, 1], "adjudicated")


def test_adjudicated_alone_leaves_out_what_nobody_decided(project: Project) -> None:
    said(make.solution(project), 1, 1, 1)

    assert left_out(project, labels=LabelsFrom.ADJUDICATED) == {"not_adjudicated": 1}


def test_reference_writes_the_labels_that_the_file_brought(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, 1, 1)
    brought(solution, 1, -1, None)

    (row,) = rows(project, labels=LabelsFrom.REFERENCE)
    assert (row["labels"], row["label_source"]) == ([1, -1, None], "imported")


def test_reference_leaves_out_what_came_without(project: Project) -> None:
    said(make.solution(project), 1, 1, 1)

    assert left_out(project, labels=LabelsFrom.REFERENCE) == {"no_reference_labels": 1}


def test_all_is_one_native_row_with_everybodys_labels(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None), said(solution, 1, 1, 1, counted=False, uncounted_reason="late")

    (row,) = rows(project, labels=LabelsFrom.ALL)
    assert [(each["labels"], each["counted"]) for each in row["annotations"]] == [
        ([1, -1, None], True),
        ([1, 1, 1], False),
    ]


def test_all_in_a_flat_format_is_one_row_for_each_that_counts(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None), said(solution, 1, 1, 1)
    said(solution, -1, None, None, counted=False, uncounted_reason="late")

    made = export(project, format="trl", labels=LabelsFrom.ALL)
    written = [orjson.loads(line)["labels"] for line in made]
    assert (written, made.all_left_out) == ([[True, False], [True, True, True]], {"not_counted": 1})


@pytest.mark.parametrize(
    ("people", "reason"),
    [
        pytest.param([], "not_labelled", id="nobody"),
        pytest.param([{"labels": (1, -1, None)}, {"labels": (1, 1, 1)}], "tied", id="two differ"),
        pytest.param(
            [{"labels": (1, None, None), "finish_reason": "give_up"}], "given_up_or_bad_problem", id="gave up"
        ),
        pytest.param(
            [{"labels": (1, 1, 1), "counted": False, "uncounted_reason": "late"}], "not_counted", id="late"
        ),
    ],
)
def test_what_has_no_agreed_labels_is_left_out_by_its_reason(
    project: Project, people: list[dict[str, Any]], reason: str
) -> None:
    solution = make.solution(project)
    for person in people:
        said(solution, *person.pop("labels"), **person)

    assert left_out(project) == {reason: 1}


@pytest.mark.parametrize("labels", list(LabelsFrom))
@pytest.mark.parametrize("format_name", ["native", "trl"])
def test_gold_is_left_out_whatever_is_asked(project: Project, labels: LabelsFrom, format_name: str) -> None:
    gold = make.gold(project, (1, 1, 1))
    said(gold.solution, 1, 1, 1)
    brought(gold.solution, 1, 1, 1)

    assert left_out(project, labels=labels, format=format_name) == {"gold": 1}


def test_gold_that_is_asked_for_says_that_it_is_gold(project: Project) -> None:
    make.gold(project, (1, -1, None))

    (row,) = rows(project, include_gold=True)
    assert (row["label_source"], row["labels"]) == ("gold", [1, -1, None])
    assert row["gold"] == {"accept": [6, 1, 0]}


def test_the_holdout_stays_out_of_training_formats(project: Project) -> None:
    said(make.solution(project, holdout=True), 1, 1, 1)

    assert left_out(project, format="trl") == {"holdout": 1}


def test_the_holdout_stays_out_even_where_it_is_gold(project: Project) -> None:
    make.gold(project, (1, 1, 1), holdout=True)

    assert left_out(project, format="trl", include_gold=True) == {"holdout": 1}


def test_the_native_format_says_which_side_a_solution_is_on(project: Project) -> None:
    said(make.solution(project), 1, 1, 1), said(make.solution(project, holdout=True), 1, 1, 1)

    assert [row["split"] for row in rows(project)] == ["train", "holdout"]


@pytest.mark.parametrize(("format_name", "holdout"), [("native", False), ("trl", True)])
def test_whether_the_holdout_leaves_can_be_chosen(project: Project, format_name: str, holdout: bool) -> None:
    said(make.solution(project, holdout=True), 1, 1, 1)

    assert len(rows(project, format=format_name, holdout=holdout)) == holdout


def test_trl_has_a_prompt_completions_and_one_boolean_each(project: Project) -> None:
    solution = make.solution(project)
    said(solution, 1, -1, None)

    assert rows(project, format="trl") == [
        {"prompt": solution.problem.text, "completions": ["one", "two"], "labels": [True, False]}
    ]


def test_in_all_steps_labels_after_an_error_leave_too() -> None:
    project = make.project(mode=Mode.ALL_STEPS)
    said(make.solution(project), 1, -1, 1)

    (row,) = rows(project, format="trl")
    assert row["labels"] == [True, False, True]


@pytest.mark.parametrize(
    ("recipe", "error"),
    [
        ({"format": "xml"}, UnknownFormat),
        ({"format": "trl", "after_first_error": AfterFirstErrorPolicy.MASK}, PolicyNotSupported),
    ],
)
def test_what_cannot_be_done_is_refused_and_leaves_no_trace(
    project: Project, recipe: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        export(project, **recipe)

    assert not AuditEvent.objects.filter(name="export:started").exists()


def test_who_exported_what_is_written_down(project: Project) -> None:
    manager = make.actor(project, Role.MANAGER)
    exports.start(actor=manager, recipe=Recipe(format="trl"))

    event = AuditEvent.objects.get(name="export:started")
    assert (event.member_id, event.data["format"]) == (manager.member, "trl")


def test_an_annotator_exports_nothing(project: Project) -> None:
    with pytest.raises(NotAllowed):
        exports.start(actor=make.actor(project), recipe=Recipe())


def test_another_projects_solutions_stay_there(project: Project) -> None:
    said(make.solution(make.project()), 1, 1, 1)

    assert rows(project) == []


def test_people_appear_under_their_pseudonyms(project: Project) -> None:
    user = make.user("emmy.noether", email="emmy@example.org")
    make.work(project)
    actor = make.as_actor(make.member(project, user=user))
    assignment = queueing.next_assignment(actor=actor)
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(1, 1, 1))

    written = b"".join(export(project, labels=LabelsFrom.ALL))
    assert b'"annotator":"A1"' in written
    assert b"emmy" not in written


def test_a_row_says_why_it_was_handed_out_and_what_a_scorer_said(project: Project) -> None:
    row = make.work(project)
    _, version = scoring.current_version(project.scorers.get())
    Score.objects.create(
        solution=row.solution,
        version=version,
        n_steps=3,
        values=[0.5, 0.25, 1.0],
        spread=[0.0, 0.125, None],
        priority=0.5,
        tiebreak=0.1,
        predicted_stop=1,
    )
    actor = make.actor(project)
    assignment = queueing.next_assignment(actor=actor)
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(1, 1, 1))
    consensus.update(solution_id=row.pk)

    (written,) = rows(project)
    assert written["selection"] == assignment.selection
    assert written["scores"] == [
        {
            "scorer": "builtin",
            "version": version.version,
            "source": "scorer",
            "measures": "correctness",
            "values": [0.5, 0.25, 1.0],
            "spread": [0.0, 0.125, None],
        }
    ]


def test_the_checksum_is_that_of_what_was_written_and_the_same_each_time(project: Project) -> None:
    for _ in range(3):
        said(make.solution(project), 1, -1, None)
    first, second = export(project), export(project)
    written = b"".join(first)
    list(second)

    assert first.sha256 == second.sha256 == hashlib.sha256(written).hexdigest()


def test_a_large_export_takes_no_more_queries_for_each_solution(
    project: Project, django_assert_max_num_queries: Any
) -> None:
    for _ in range(30):
        said(make.solution(project), 1, 1, 1)

    with django_assert_max_num_queries(23):  # nine reads; the rest is the history and its manifest
        assert len(rows(project)) == 30
