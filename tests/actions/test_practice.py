"""Handing out practice: each item once to each person, and nothing hidden among them."""

from __future__ import annotations

import pytest

from annotator.actions import demo, labeling, queueing
from annotator.actions.access import Actor
from annotator.actions.import_rows import LabelsAs
from annotator.actions.imports import Source, run
from annotator.actions.queueing import NothingForYou
from annotator.core.demo import PRACTICE
from annotator.models import Assignment, Gold, Project, QueueRow, Role
from annotator.queries import practice as queries
from tests import factories as make
from tests.files import jsonl

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def me(project: Project) -> Actor:
    return make.actor(project)


def practice_item(project: Project) -> Gold:
    item = make.gold(project)
    Gold.objects.filter(pk=item.pk).update(use=Gold.Use.PRACTICE)
    return item


def done(me: Actor) -> Assignment:
    assignment = queueing.next_practice(actor=me)
    labeling.submit(actor=me, assignment_id=assignment.pk, work=make.marked(1, -1, None))
    return assignment


def test_items_come_in_the_order_of_their_import_each_once(me: Actor, project: Project) -> None:
    items = [practice_item(project).solution_id for _ in range(3)]
    assert [done(me).solution_id for _ in items] == items
    with pytest.raises(NothingForYou):
        queueing.next_practice(actor=me)


def test_the_one_that_is_open_comes_back(me: Actor, project: Project) -> None:
    practice_item(project), practice_item(project)
    assert queueing.next_practice(actor=me).pk == queueing.next_practice(actor=me).pk


def test_hidden_gold_is_no_practice_and_practice_no_hidden_check(me: Actor, project: Project) -> None:
    hidden, shown = make.gold(project), practice_item(project)
    Project.objects.update(gold_rate=1.0)
    make.work(project)
    assert queueing.next_practice(actor=me).solution_id == shown.solution_id
    assert queueing.next_assignment(actor=me).solution_id == hidden.solution_id


def test_an_open_practice_solution_does_not_stand_in_the_way_of_work(me: Actor, project: Project) -> None:
    practice_item(project)
    work = make.work(project)
    queueing.next_practice(actor=me)
    assert queueing.next_assignment(actor=me).solution_id == work.solution_id


def test_nothing_is_revealed_before_the_submit(me: Actor, project: Project) -> None:
    practice_item(project)
    assignment = queueing.next_practice(actor=me)
    assert queries.reveal(assignment_id=assignment.pk, member_id=me.member) is None


def test_after_the_submit_it_is_revealed_to_that_person_alone(me: Actor, project: Project) -> None:
    practice_item(project)
    assignment = done(me)
    other = make.actor(project, Role.MANAGER)
    assert queries.reveal(assignment_id=assignment.pk, member_id=me.member) is not None
    assert queries.reveal(assignment_id=assignment.pk, member_id=other.member) is None


def test_a_hidden_check_is_never_revealed(me: Actor, project: Project) -> None:
    make.gold(project)
    Project.objects.update(gold_rate=1.0)
    make.work(project)
    hidden = queueing.next_assignment(actor=me)
    labeling.submit(actor=me, assignment_id=hidden.pk, work=make.marked(1, -1, None))
    assert queries.reveal(assignment_id=hidden.pk, member_id=me.member) is None


def test_a_file_can_be_imported_as_practice_with_its_notes(project: Project) -> None:
    row = {
        "problem": {"text": "1+1?"},
        "steps": [{"text": "It is 3."}],
        "labels": [-1],
        "meta": {"note": "It is 2."},
    }
    source = Source(file=jsonl(row), filename="practice.jsonl", labels_as=LabelsAs.PRACTICE)
    report = run(actor=make.actor(project, Role.MANAGER), source=source)
    item = Gold.objects.get(project=project)
    assert (report.imported, item.use, item.note) == (1, Gold.Use.PRACTICE, "It is 2.")
    assert not QueueRow.objects.exists()


def test_the_demo_offers_three_with_a_reason_each() -> None:
    project = demo.seed()
    items = Gold.objects.filter(project=project, use=Gold.Use.PRACTICE).select_related("solution__problem")
    assert sorted(item.solution.external_id for item in items) == sorted(PRACTICE)
    assert all(item.note for item in items)
    problems = {item.solution.problem_id for item in items}
    hidden = Gold.objects.filter(project=project, use=Gold.Use.HIDDEN)
    assert not hidden.filter(solution__problem_id__in=problems).exists()


def test_a_second_seeding_changes_no_practice() -> None:
    before = [
        (gold.pk, gold.use, gold.note) for gold in Gold.objects.filter(project=demo.seed()).order_by("pk")
    ]
    after = [
        (gold.pk, gold.use, gold.note) for gold in Gold.objects.filter(project=demo.seed()).order_by("pk")
    ]
    assert before == after
