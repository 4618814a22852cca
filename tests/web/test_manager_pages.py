"""Queue and exports: managers only."""

from __future__ import annotations

import json

import pytest

from annotator.actions import consensus, labeling, queueing
from annotator.models import Project
from tests import factories as make
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
PAGES = ["/p/maths/queue/", "/p/maths/exports/", "/p/maths/exports/download?format=native"]


def label(project: Project, *labels: int | None) -> None:
    actor = make.actor(project)
    assignment = queueing.next_assignment(actor=actor)
    labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(*labels))
    consensus.update(solution_id=assignment.solution_id)


@pytest.mark.parametrize("page", PAGES)
def test_a_manager_gets_in_and_others_do_not(people: People, page: str) -> None:
    codes = [
        who.get(page).status_code
        for who in (people.manager, people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [200, 403, 404, 302]


def test_the_queue_shows_the_next_solutions_with_the_reason(people: People, project: Project) -> None:
    make.work(project, priority=0.2)
    queue = people.manager.get("/p/maths/queue/").context["queue"]
    assert [(row.rank, row.wanted, row.taken) for row in queue.rows] == [(1, 1, 0)]
    assert "not scored yet" in queue.rows[0].reason.lower()


def test_what_somebody_has_begun_is_not_labelled_yet(people: People, project: Project) -> None:
    make.work(project), make.work(project)
    queueing.next_assignment(actor=make.actor(project))

    shown = people.manager.get("/p/maths/queue/").context
    counts = dict(shown["queue"].counts)
    assert [counts[name] for name in ("Untouched", "Started", "Labelled")] == [1, 1, 0]
    assert shown["queue"].sentence.startswith("0 of 2 solutions have the labels they need")
    assert shown["outlook"].forecast.owed == 2


def test_an_empty_queue_says_what_to_do(people: People) -> None:
    assert "import a file" in people.manager.get("/p/maths/queue/").context["queue"].sentence


def test_the_queue_takes_as_many_queries_for_many_rows_as_for_one(
    people: People,
    project: Project,
    django_assert_max_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    for _ in range(30):
        make.work(project)
    with django_assert_max_num_queries(26):
        people.manager.get("/p/maths/queue/")


def test_the_native_download_holds_the_labels_and_leaves_gold_out(people: People, project: Project) -> None:
    make.work(project)
    make.gold(project)
    label(project, 1, -1, None)

    reply = people.manager.get("/p/maths/exports/download", {"format": "native"})
    rows = [json.loads(line) for line in b"".join(reply.streaming_content).splitlines()]

    assert [(row["labels"], row["first_error"], row["label_source"]) for row in rows] == [
        ([1, -1, None], 1, "human")
    ]
    assert reply["Content-Disposition"].startswith('attachment; filename="maths-native-')


def test_where_neutrals_need_a_policy_the_form_comes_back_with_the_reason(
    people: People, project: Project
) -> None:
    make.work(project)
    label(project, 1, 0, 1)

    reply = people.manager.get("/p/maths/exports/download", {"format": "trl", "labels": "consensus"})

    assert reply.status_code == 422
    assert "neutral" in reply.context["error"]
    assert reply.context["chosen"]["format"] == "trl"


@pytest.mark.parametrize(
    "query", ["format=pickle", "labels=everyone", "neutral=maybe", "after_first_error=x"]
)
def test_a_choice_that_no_field_offers_is_refused_in_words(people: People, query: str) -> None:
    reply = people.manager.get(f"/p/maths/exports/download?{query}")
    assert (reply.status_code, bool(reply.context["error"])) == (422, True)
