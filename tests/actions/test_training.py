"""Training a scorer: asked for, by itself, once, and given up."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from annotator import jobs
from annotator.actions import scoring, training, training_run
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.scorers import NoSuchScorer, Refused
from annotator.jobs import LeaseLost
from annotator.models import Gold, Job, Project, QualityReport, Role, Scorer, ScorerVersion, ScorerWeights
from annotator.queries.training_state import state_of
from annotator.scorers import trainers
from tests import factories as make
from tests.actions.lessons import labelled, pool, taken, trained

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def manager(project: Project) -> Actor:
    return make.actor(project, Role.MANAGER)


@pytest.fixture
def scorer(project: Project) -> Scorer:
    return project.scorers.get()


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two folds and two members: what is tested here is not how good it gets."""
    monkeypatch.setattr(trainers, "FOLDS", 2)
    monkeypatch.setattr(trainers, "FOLD_MEMBERS", 2)


def said(scorer: Scorer) -> tuple[str, str]:
    state = state_of(scorer.project, scorer.pk)
    assert state is not None
    return state.state, state.said


def test_a_run_leaves_a_challenger_with_its_lineage_and_its_numbers(
    manager: Actor, scorer: Scorer, hurried: None
) -> None:
    pool(scorer.project, 30)
    training.ask(actor=manager, scorer_id=scorer.pk)
    trained()

    version = ScorerVersion.objects.get(scorer=scorer, status="challenger")
    assert version.parent is not None
    assert version.parent.version == scoring.running(scorer).version
    told = version.training
    assert told["snapshot"]["sources"] == {"human": 30}
    assert told["snapshot"]["labels"] == 30
    assert (told["parameters"]["stages"], told["parameters"]["base"]) == (["people"], version.parent.version)
    assert told["metrics"]["solutions"] == 30
    assert told["metrics"]["f1"]["value"] > 0.9
    assert len(told["problems"]) == 30
    assert told["decision"]["answer"] == "not enough evidence"
    weights = ScorerWeights.objects.get(version=version)
    assert len(weights.sha256) == 64
    assert said(scorer)[0] == "done"


def test_the_same_labels_make_no_second_version(manager: Actor, scorer: Scorer, hurried: None) -> None:
    pool(scorer.project, 30)
    for _ in range(2):
        training.ask(actor=manager, scorer_id=scorer.pk)
        job = taken()
        trained(job)
        jobs.finish(job)
    assert ScorerVersion.objects.filter(scorer=scorer).count() == 2  # the shipped one and the challenger
    assert ScorerWeights.objects.count() == 1


def test_one_label_more_makes_another_challenger_and_ends_the_first(
    manager: Actor, scorer: Scorer, hurried: None
) -> None:
    pool(scorer.project, 30)
    for _ in range(2):
        training.ask(actor=manager, scorer_id=scorer.pk)
        job = taken()
        trained(job)
        jobs.finish(job)
        labelled(scorer.project, 1)
    rows = ScorerVersion.objects.filter(scorer=scorer).order_by("pk")
    assert list(rows.values_list("status", flat=True)) == ["live", "retired", "challenger"]


def test_too_few_labels_say_how_many_are_missing(manager: Actor, scorer: Scorer) -> None:
    pool(scorer.project, 10)
    training.ask(actor=manager, scorer_id=scorer.pk)
    trained()
    state, sentence = said(scorer)
    assert state == "nothing"
    assert sentence.startswith(
        "There are 10 labelled solutions to learn from, 5 of them with an error; it takes 30"
    )
    assert not ScorerWeights.objects.exists()


def test_a_scorer_whose_settings_do_not_work_says_so(manager: Actor, scorer: Scorer) -> None:
    Scorer.objects.filter(pk=scorer.pk).update(config={"weights": "{}"})
    training.ask(actor=manager, scorer_id=scorer.pk)
    trained()
    state, sentence = said(scorer)
    assert state == "failed"
    assert "weights file is damaged" in sentence


def test_while_a_run_is_on_no_other_is_asked_for(manager: Actor, scorer: Scorer) -> None:
    training.ask(actor=manager, scorer_id=scorer.pk)
    with pytest.raises(Refused, match="on already"):
        training.ask(actor=manager, scorer_id=scorer.pk)
    taken()
    with pytest.raises(Refused, match="on already"):
        training.ask(actor=manager, scorer_id=scorer.pk)
    assert Job.objects.filter(kind="training.run").count() == 1


@pytest.mark.parametrize(
    ("change", "reason"), [({"paused": True}, "paused"), ({"kind": "vllm"}, "not trained here")]
)
def test_what_cannot_be_trained_is_refused(
    manager: Actor, scorer: Scorer, change: dict[str, Any], reason: str
) -> None:
    Scorer.objects.filter(pk=scorer.pk).update(**change)
    with pytest.raises(Refused, match=reason):
        training.ask(actor=manager, scorer_id=scorer.pk)


def test_only_who_may_ask_asks(project: Project, scorer: Scorer, manager: Actor) -> None:
    with pytest.raises(NotAllowed):
        training.ask(actor=make.actor(project, Role.REVIEWER), scorer_id=scorer.pk)
    with pytest.raises(NoSuchScorer):
        training.ask(actor=manager, scorer_id=make.project().scorers.get().pk)


def test_a_cancelled_run_stops_and_leaves_nothing(
    manager: Actor, scorer: Scorer, hurried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool(scorer.project, 30)
    training.ask(actor=manager, scorer_id=scorer.pk)
    monkeypatch.setattr(training_run, "TELL_SECONDS", 0.0)
    fit = trainers.fit

    def cancelled_meanwhile(*examples: Any, **more: Any) -> Any:
        training.cancel(actor=manager, scorer_id=scorer.pk)
        return fit(*examples, **more)

    monkeypatch.setattr(trainers, "fit", cancelled_meanwhile)
    with pytest.raises(LeaseLost):
        trained()
    assert said(scorer) == ("cancelled", "It was cancelled.")
    assert not ScorerWeights.objects.exists()
    assert not training.cancel(actor=manager, scorer_id=scorer.pk)


@pytest.mark.django_db(transaction=True)
def test_no_transaction_is_open_while_it_learns(
    manager: Actor, scorer: Scorer, hurried: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool(scorer.project, 30)
    fit, open_ = trainers.fit, []
    monkeypatch.setattr(
        trainers, "fit", lambda *a, **k: (open_.append(connection.in_atomic_block), fit(*a, **k))[1]
    )
    training.ask(actor=manager, scorer_id=scorer.pk)
    trained()
    assert set(open_) == {False}


def due(project: Project, **rule: Any) -> int:
    Project.objects.filter(pk=project.pk).update(retraining=rule)
    return training.look_at_all()


def test_so_many_new_labels_begin_a_run_once(project: Project, scorer: Scorer, hurried: None) -> None:
    pool(project, 31)
    assert due(project, every=32) == 0
    labelled(project)
    assert due(project, every=32) == 1
    assert due(project, every=32) == 0  # it waits already
    job = taken()
    trained(job)
    jobs.finish(job)
    assert due(project, every=32) == 0  # none of them is new any more
    assert job.payload["why"] == "32 new labels"


def test_hours_begin_a_run_only_where_something_is_new(
    project: Project, scorer: Scorer, hurried: None
) -> None:
    assert due(project, hours=2) == 0
    labelled(project)
    assert due(project, hours=2) == 1
    job = taken()
    trained(job)
    jobs.finish(job)
    labelled(project)
    assert due(project, hours=2) == 0
    kept = QualityReport.objects.get(kind=f"training {scorer.pk}")
    began = timezone.now() - timedelta(hours=2, seconds=1)
    QualityReport.objects.filter(pk=kept.pk).update(data={**kept.data, "started": began.isoformat()})
    assert due(project, hours=2) == 1


@pytest.mark.parametrize("change", [{"paused": True}, {"kind": "vllm"}], ids=["paused", "not trained here"])
def test_nothing_begins_by_itself_for(project: Project, scorer: Scorer, change: dict[str, Any]) -> None:
    Scorer.objects.filter(pk=scorer.pk).update(**change)
    labelled(project)
    assert due(project, every=1, hours=1) == 0


def test_a_run_that_failed_is_not_begun_again_before_something_is_new(
    project: Project, scorer: Scorer
) -> None:
    Scorer.objects.filter(pk=scorer.pk).update(config={"weights": "{}"})
    labelled(project)
    assert due(project, every=1) == 1
    job = taken()
    trained(job)
    jobs.finish(job)
    assert said(scorer)[0] == "failed"
    assert due(project, every=1) == 0
    labelled(project)
    assert due(project, every=1) == 1


def test_labels_of_holdout_and_gold_begin_nothing(project: Project) -> None:
    labelled(project, n=3, holdout=True)
    solution = labelled(project)
    Gold.objects.create(solution=solution, project=project, n_steps=3, accept=[4, 4, 4], source="import")
    assert due(project, every=1) == 0


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"every": 0}, "every"), ({"hours": 0.0}, "hours"), ({"target": 1.5}, "target")],
)
def test_rules_that_make_no_sense_are_refused(manager: Actor, wrong: dict[str, Any], field: str) -> None:
    rule: dict[str, Any] = {"every": None, "hours": None, "automatic": True, **wrong}
    with pytest.raises(Refused) as refused:
        training.set_triggers(actor=manager, **rule)
    assert refused.value.field == field


def test_a_killed_run_is_done_again_by_another_worker(manager: Actor, scorer: Scorer, hurried: None) -> None:
    pool(scorer.project, 30)
    training.ask(actor=manager, scorer_id=scorer.pk)
    dead = taken()
    Job.objects.filter(pk=dead.id).update(lease_expires_at=F("created_at") - timedelta(hours=1))
    jobs.reconcile()
    trained()
    assert ScorerWeights.objects.count() == 1
    with pytest.raises(LeaseLost):
        trained(dead)
