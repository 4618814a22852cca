"""Scorers beside people: on the audit prefix and the holdout alone, by hand-made labels."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from annotator.actions import consensus, labeling, queueing
from annotator.core.uncertainty import predicted_stop
from annotator.models import Assignment, Project, QueueRow, Score, ScorerVersion
from annotator.queries.scorer_blocks import blocks
from annotator.queries.scorer_report import comparison
from tests import factories as make
from tests.web.conftest import People

pytestmark = pytest.mark.django_db


@pytest.fixture
def version(project: Project) -> ScorerVersion:
    return ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="v1", measures="correctness", threshold=0.5
    )


def judged(
    project: Project,
    labels: Sequence[int | None],
    values: Sequence[float],
    version: ScorerVersion,
    **of: object,
) -> QueueRow:
    """A solution that one person labelled and the scorer scored."""
    route = of.pop("route", "audit")
    row = make.work(project, **of)
    Score.objects.create(
        solution=row.solution,
        version=version,
        n_steps=3,
        values=list(values),
        spread=[0.0] * 3,
        priority=0.1,
        tiebreak=0.0,
        predicted_stop=predicted_stop(values),
    )
    actor = make.actor(project)
    work = queueing.next_assignment(actor=actor)
    assert work.solution_id == row.pk
    Assignment.objects.filter(pk=work.pk).update(selection={**work.selection, "route": route})
    labeling.submit(actor=actor, assignment_id=work.pk, work=make.marked(*labels))
    consensus.update(solution_id=row.pk)
    return row


def test_figures_come_from_the_audit_prefix_and_the_holdout(project: Project, version: ScorerVersion) -> None:
    judged(project, [1, -1, None], [0.9, 0.2, 0.9], version, shuffle=0.1)
    judged(project, [1, 1, 1], [0.9, 0.9, 0.9], version, shuffle=0.2)
    judged(project, [1, 1, -1], [0.9, 0.9, 0.8], version, shuffle=0.3)
    judged(project, [-1, None, None], [0.9, 0.9, 0.8], version, shuffle=0.9, route="priority")

    found = comparison(project)
    (one,) = found.scorers
    assert (found.prefix, found.holdout, one.solutions) == (3, 0, 3)
    assert (one.erroneous, one.sound) == (0.5, 1.0)
    assert one.f1.value == pytest.approx(2 / 3)
    assert one.brier.n == 8
    assert sum(each.n for each in one.bins) == 8


def test_a_generator_that_pleases_the_scorer_more_than_people_is_named(
    project: Project, version: ScorerVersion
) -> None:
    for n in range(20):
        row = judged(project, [-1, None, None], [0.95, 0.9, 0.9], version, shuffle=n / 100)
        type(row.solution).objects.filter(pk=row.pk).update(generator={"model": "pleaser"})
    found = blocks(comparison(project))
    drift = next(block for block in found if block.slug.startswith("drift"))
    assert "kinder than people to pleaser" in drift.sentence


def test_the_page_draws_each_block_and_gives_its_table(
    people: People, project: Project, version: ScorerVersion
) -> None:
    judged(project, [1, -1, None], [0.9, 0.2, 0.9], version, shuffle=0.1)
    judged(project, [1, 1, 1], [0.9, 0.9, 0.9], version, shuffle=0.2)
    answer = people.manager.get("/p/maths/scorers/")
    slugs = [block.slug.split("-")[0] for block in answer.context["blocks"]]
    assert slugs == ["compared", "reliability", "calibration", "distribution", "drift"]
    drawn = [block for block in answer.context["blocks"] if not block.slug.startswith("calibration")]
    assert all(block.rows and block.plot for block in drawn)
    assert answer.content.decode().count("data-plot=") == 4


def test_without_labels_there_is_nothing_to_compare(people: People) -> None:
    assert "No comparison yet" in people.manager.get("/p/maths/scorers/").content.decode()
