"""With skills apart in the index, a claim still takes what is best over all that a person may have."""

from __future__ import annotations

import pytest

from annotator.actions import labeling, queueing
from annotator.actions.access import Actor
from annotator.models import Project, QueueRow
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def skilled(project: Project, *skills: str) -> Actor:
    return make.as_actor(make.member(project, skills=list(skills)))


def work(project: Project, skill: str, **fields: float) -> QueueRow:
    row = make.work(project, **fields)
    QueueRow.objects.filter(pk=row.pk).update(skill=skill)
    return row


def claims(actor: Actor, number: int) -> list[int]:
    given = []
    for _ in range(number):
        assignment = queueing.next_assignment(actor=actor)
        labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(1, 1, 1))
        given.append(assignment.solution_id)
    return given


def test_the_best_comes_first_whichever_skill_it_asks_for(project: Project) -> None:
    plain = work(project, "", priority=0.5)
    code = work(project, "code", priority=0.6)
    geometry = work(project, "geometry", priority=0.4)

    assert claims(skilled(project, "geometry", "code"), 3) == [code.pk, plain.pk, geometry.pk]


def test_work_for_others_skills_at_the_head_is_passed_over(project: Project) -> None:
    for _ in range(5):
        work(project, "code", priority=0.9)
    mine = work(project, "", priority=0.1)

    assert claims(skilled(project), 1) == [mine.pk]
