"""What fills the queue: mixtures, the floor of sound solutions, what is certain, and what is kept of it."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from annotator.actions import ordering, queueing, scorers
from annotator.actions.access import Actor, NotAllowed, operator
from annotator.actions.scorers import Refused
from annotator.core.uncertainty import priority
from annotator.models import Assignment, AuditEvent, Job, Project, QueueRow, Role, Score, ScorerVersion
from tests import factories as make

EVEN_FLOOR = 0.0


@pytest.fixture
def project() -> Project:
    made = make.project()
    Project.objects.filter(pk=made.pk).update(error_free_floor=EVEN_FLOOR)
    made.refresh_from_db()
    return made


@pytest.fixture
def version(project: Project) -> ScorerVersion:
    return version_of(project)


def version_of(project: Project, name: str = "v1", scorer: str = "builtin") -> ScorerVersion:
    of, _ = project.scorers.get_or_create(name=scorer, defaults={"kind": "builtin", "ranks": False})
    return ScorerVersion.objects.create(scorer=of, version=name, measures="correctness", threshold=0.5)


def scored(row: QueueRow, version: ScorerVersion, *values: float, spread: float = 0.1) -> QueueRow:
    rank = priority(values, [spread] * len(values), 0.5)
    Score.objects.create(
        solution=row.solution,
        version=version,
        n_steps=3,
        values=list(values),
        spread=[spread] * len(values),
        priority=rank.score,
        tiebreak=rank.tiebreak,
        predicted_stop=rank.predicted_stop,
    )
    return row


def in_order(project: Project) -> list[int]:
    rows = QueueRow.objects.filter(project=project, holdout=False).untouched().by_priority()
    return list(rows.values_list("pk", flat=True))


def fill(
    project: Project, floor: float = EVEN_FLOOR, certain: dict[str, float] | None = None, **by: float
) -> None:
    scorers.fill_by(actor=operator(project), strategies=by, error_free_floor=floor, certain=certain or {})


@pytest.mark.django_db
def test_by_uncertainty_alone_a_row_has_its_own_entropy(project: Project, version: ScorerVersion) -> None:
    sure, unsure = (scored(make.work(project), version, p, p, p) for p in (0.9, 0.6))
    ordering.reprioritize(version_id=version.pk)

    assert in_order(project) == [unsure.pk, sure.pk]
    entropies = dict(Score.objects.values_list("solution_id", "priority"))
    assert dict(QueueRow.objects.values_list("pk", "priority")) == entropies


@pytest.mark.django_db
def test_strategies_take_turns_and_each_row_says_which_one_chose_it(
    project: Project, version: ScorerVersion
) -> None:
    for n in range(40):
        scored(make.work(project, texts=(f"{n}", "b", "c")), version, *[0.51 + n / 100] * 3)
    fill(project, uncertainty=0.5, random=0.5)
    ordering.reprioritize(version_id=version.pk)

    first = QueueRow.objects.by_priority().values_list("strategy", flat=True)[:10]
    assert sorted(first) == ["random"] * 5 + ["uncertainty"] * 5


@pytest.mark.django_db
def test_two_in_five_of_what_people_get_are_expected_to_be_sound(
    project: Project, version: ScorerVersion
) -> None:
    for _ in range(10):
        scored(make.work(project), version, 0.999, 0.999, 0.999)
    for _ in range(30):
        scored(make.work(project), version, 0.6, 0.3, 0.5)
    fill(project, floor=0.4, uncertainty=1)
    ordering.reprioritize(version_id=version.pk)

    sound = [Score.objects.get(solution_id=pk).predicted_stop == -1 for pk in in_order(project)[:20]]
    assert 6 <= sum(sound) <= 10


@pytest.mark.django_db
def test_convincing_solutions_with_a_wrong_answer_come_first_where_they_are_asked_for(
    project: Project, version: ScorerVersion
) -> None:
    convincing, doubtful, right = (scored(make.work(project), version, p, p, p) for p in (0.95, 0.6, 0.97))
    for row, answer in ((convincing, False), (doubtful, False), (right, True)):
        type(row.solution).objects.filter(pk=row.pk).update(answer_correct=answer)
    fill(project, convincing_wrong=1)
    ordering.reprioritize(version_id=version.pk)

    assert in_order(project) == [convincing.pk, doubtful.pk, right.pk]


@pytest.mark.django_db
def test_where_scorers_differ_comes_first_where_it_is_asked_for(
    project: Project, version: ScorerVersion
) -> None:
    other = version_of(project, "v1", "second")
    alike, apart = (scored(make.work(project), version, 0.8, 0.8, 0.8) for _ in range(2))
    scored(alike, other, 0.8, 0.8, 0.8), scored(apart, other, 0.51, 0.99, 0.51)
    fill(project, disagreement=1)
    ordering.reprioritize(version_id=version.pk)

    assert in_order(project) == [apart.pk, alike.pk]


@pytest.mark.django_db
def test_what_is_certain_comes_last_and_says_so(project: Project, version: ScorerVersion) -> None:
    certain = scored(make.work(project), version, 0.99, 0.99, 0.99, spread=0.001)
    unsure = scored(make.work(project), version, 0.99, 0.99, 0.99, spread=0.1)
    fill(project, certain={"pred": 0.95, "std": 0.005}, uncertainty=1)
    ordering.reprioritize(version_id=version.pk)

    assert in_order(project) == [unsure.pk, certain.pk]
    certain.refresh_from_db()
    assert (certain.strategy, certain.priority) == ("certain", -1.0)


@pytest.mark.django_db
def test_a_claim_keeps_the_strategy_the_entropy_and_the_version(
    project: Project, version: ScorerVersion
) -> None:
    scored(make.work(project), version, 0.5, 0.5, 0.5)
    fill(project, coverage=1)
    ordering.reprioritize(version_id=version.pk)

    kept = queueing.next_assignment(actor=make.actor(project)).selection
    assert (kept["route"], kept["strategy"], kept["scorer_version"]) == ("priority", "coverage", "v1")
    assert kept["score"] == pytest.approx(math.log(2))


@pytest.mark.django_db
def test_a_scorer_that_does_not_rank_changes_nothing(project: Project, version: ScorerVersion) -> None:
    other = version_of(project, "v9", "second")
    row = scored(make.work(project), version, 0.6, 0.6, 0.6)
    scored(row, other, 0.9, 0.9, 0.9)
    ordering.reprioritize(version_id=version.pk)

    assert ordering.reprioritize(version_id=other.pk) == 0
    row.refresh_from_db()
    assert row.ranked_by_id == version.pk


@pytest.mark.django_db
def test_another_scorer_takes_over_the_order(project: Project, version: ScorerVersion) -> None:
    other = version_of(project, "v9", "second")
    row = scored(make.work(project), version, 0.6, 0.6, 0.6)
    scored(row, other, 0.9, 0.9, 0.9)
    ordering.reprioritize(version_id=version.pk)
    scorers.rank_by(actor=operator(project), scorer_id=other.scorer_id)

    order = Job.objects.get(kind=ordering.REORDER)
    assert ordering.reprioritize(version_id=order.payload["version_id"]) == 1
    row.refresh_from_db()
    assert row.ranked_by_id == other.pk


@pytest.mark.django_db
def test_changing_what_fills_the_queue_is_for_managers_and_logged(project: Project) -> None:
    with pytest.raises(NotAllowed):
        scorers.fill_by(
            actor=make.actor(project, Role.REVIEWER),
            strategies={"random": 1},
            error_free_floor=0.4,
            certain={},
        )
    fill(project, random=1)
    event = AuditEvent.objects.get(name="queue:filled_by")
    assert event.data["after"]["strategies"] == {"random": 1.0}


@pytest.mark.django_db
@pytest.mark.parametrize("strategies", [{}, {"uncertainty": 0}, {"oracle": 1}, {"random": float("nan")}])
def test_weights_that_make_no_order_are_refused(project: Project, strategies: dict[str, float]) -> None:
    with pytest.raises(Refused):
        fill(project, **strategies)


@pytest.mark.django_db(transaction=True)
def test_while_the_queue_is_re_ranked_nobody_who_claims_is_told_that_nothing_is_left(
    project: Project, version: ScorerVersion
) -> None:
    for n in range(300):
        scored(make.work(project), version, *[0.5 + n / 1000] * 3)
    actors = [make.actor(project) for _ in range(4)]
    done, everybody_has_claimed = threading.Event(), threading.Barrier(5)

    def rank() -> int:
        try:
            changed = 0
            everybody_has_claimed.wait(timeout=60)
            for by in ({"random": 1.0}, {"uncertainty": 1.0}, {"coverage": 1.0}):
                Project.objects.filter(pk=project.pk).update(strategies=by)
                changed += ordering.reprioritize(version_id=version.pk, chunk=20)
            return changed
        finally:
            done.set()
            connection.close()

    def claim(actor: Actor) -> int:
        got = 0
        try:
            while not done.is_set() and got < 60:
                work = queueing.next_assignment(actor=actor)
                Assignment.objects.filter(pk=work.pk).update(state="submitted")
                got += 1
                if got == 1:
                    everybody_has_claimed.wait(timeout=60)
                time.sleep(0.01)
            return got
        finally:
            connection.close()

    with ThreadPoolExecutor(5) as pool:
        ranking = pool.submit(rank)
        claims = [pool.submit(claim, actor) for actor in actors]
        assert ranking.result() > 300
        assert all(each.result() > 1 for each in claims)


@pytest.mark.django_db
@pytest.mark.parametrize("strategy", ["mistakes", "gain", "learning"])
def test_what_is_worth_most_by_step_leads_the_queue(
    project: Project, version: ScorerVersion, strategy: str
) -> None:
    # Long and sure, long and doubtful at its end, short in effect and doubtful at once.
    sure = scored(make.work(project), version, 0.98, 0.98, 0.98, spread=0.01)
    late = scored(make.work(project), version, 0.98, 0.98, 0.6, spread=0.05)
    early = scored(make.work(project), version, 0.4, 0.6, 0.6, spread=0.2)
    fill(project, **{strategy: 1.0})
    ordering.reprioritize(version_id=version.pk)

    assert in_order(project) == [early.pk, late.pk, sure.pk]
    assert set(QueueRow.objects.values_list("strategy", flat=True)) == {strategy}
