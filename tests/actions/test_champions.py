"""Champion and challenger: who is in force, what scores, and the way back."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest

from annotator import jobs
from annotator.actions import kept_weights, promotion, scoring, training
from annotator.actions.access import Actor
from annotator.actions.scorers import Refused
from annotator.core import promotion as rule
from annotator.models import (
    AuditEvent,
    Job,
    Project,
    QueueRow,
    Role,
    Score,
    Scorer,
    ScorerVersion,
    ScorerWeights,
)
from annotator.scorers import builtin, trainers
from annotator.scorers.builtin.features import FEATURES
from annotator.scorers.builtin.fit import Weights
from annotator.scorers.remote import InvalidSettings
from tests import factories as make
from tests.actions.flow import run_jobs
from tests.actions.lessons import pool, taken, trained

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


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty solutions decide, and ensembles are small."""
    monkeypatch.setattr(rule, "FEWEST", 20)
    monkeypatch.setattr(trainers, "FOLDS", 2)
    monkeypatch.setattr(trainers, "FOLD_MEMBERS", 2)


def knowing(sign: float) -> Weights:
    """Numbers that go by failing equations alone: 1 as they should, -1 the other way round, 0 not at all."""
    chosen = np.zeros((12, len(FEATURES)))
    chosen[:, FEATURES.index("checks_fail")] = -3.0 * sign
    return Weights(
        hashed=False,
        mean=np.zeros(len(FEATURES)),
        scale=np.ones(len(FEATURES)),
        coefficients=chosen,
        intercepts=np.ones(12),
        threshold=0.5,
    )


def begin_with(scorer: Scorer, weights: Weights) -> None:
    Scorer.objects.filter(pk=scorer.pk).update(config={"weights": weights.to_json()})
    scorer.refresh_from_db()


def learnt(monkeypatch: pytest.MonkeyPatch, weights: Weights) -> None:
    """What training comes to, whatever the labels."""
    monkeypatch.setattr(trainers, "fit", lambda *a, **k: weights)


def after_training(manager: Actor, scorer: Scorer) -> Scorer:
    training.ask(actor=manager, scorer_id=scorer.pk)
    job = taken()
    trained(job)
    jobs.finish(job)
    scorer.refresh_from_db()
    return scorer


def all_jobs() -> None:
    """Those too that jobs of another queue leave behind."""
    while Job.objects.filter(state=Job.State.QUEUED).exists():
        run_jobs()


def answer(scorer: Scorer) -> Any:
    return scorer.versions.order_by("-pk").first().training["decision"]["answer"]


def test_a_better_challenger_becomes_champion_and_scores_all_anew(manager: Actor, scorer: Scorer) -> None:
    begin_with(scorer, knowing(0.0))
    pool(scorer.project, 30, holdout=20)
    after_training(manager, scorer)

    version = scorer.champion
    assert version is not None
    assert (version.status, answer(scorer)) == ("live", "promoted")
    assert version.parent is not None
    assert version.parent.status == "retired"
    event = AuditEvent.objects.get(name="scorer:promoted")
    assert event.data == {"before": version.parent.version, "after": version.version, "by": "the rule"}
    run_jobs()
    assert set(Score.objects.values_list("version_id", flat=True)) == {version.pk}
    assert Score.objects.count() == 50


def test_a_worse_challenger_is_refused_and_the_champion_stays(
    manager: Actor, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_with(scorer, knowing(1.0))
    pool(scorer.project, 30, holdout=20)
    learnt(monkeypatch, knowing(-1.0))
    after_training(manager, scorer)
    assert (scorer.champion, answer(scorer)) == (None, "refused")
    assert scorer.versions.get(status="refused").training["decision"]["why"].startswith("Worse")
    assert not AuditEvent.objects.filter(name="scorer:promoted").exists()


def test_a_tie_is_not_enough_evidence(
    manager: Actor, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_with(scorer, knowing(1.0))
    pool(scorer.project, 30, holdout=20)
    twin = knowing(1.0)
    twin.mean[0] += 1e-9  # other numbers, the same sayings
    learnt(monkeypatch, twin)
    after_training(manager, scorer)
    assert (scorer.champion, answer(scorer)) == (None, "not enough evidence")
    assert scorer.versions.filter(status="challenger").count() == 1


def test_a_small_holdout_decides_nothing_until_it_has_grown(manager: Actor, scorer: Scorer) -> None:
    begin_with(scorer, knowing(0.0))
    pool(scorer.project, holdout=10)
    after_training(manager, scorer)
    assert (scorer.champion, answer(scorer)) == (None, "not enough evidence")

    pool(scorer.project, 0, holdout=20)
    after_training(manager, scorer)  # the same labels, so the same challenger, and a larger holdout
    assert scorer.champion is not None
    assert scorer.versions.count() == 2


def test_a_manager_may_use_a_challenger_that_waits_for_evidence(manager: Actor, scorer: Scorer) -> None:
    pool(scorer.project, 30)
    after_training(manager, scorer)
    waiting = scorer.versions.get(status="challenger")
    promotion.use_anyway(actor=manager, scorer_id=scorer.pk, version_id=waiting.pk)
    scorer.refresh_from_db()
    assert scorer.champion == waiting
    event = AuditEvent.objects.get(name="scorer:promoted")
    assert (event.member_id, event.data["by"]) == (manager.member_id, "a manager")
    with pytest.raises(Refused, match="Only a challenger"):
        promotion.use_anyway(actor=manager, scorer_id=scorer.pk, version_id=waiting.pk)


def test_what_was_refused_is_not_used_by_hand(
    manager: Actor, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_with(scorer, knowing(1.0))
    pool(scorer.project, 30, holdout=20)
    learnt(monkeypatch, knowing(-1.0))
    after_training(manager, scorer)
    refused = scorer.versions.get(status="refused")
    with pytest.raises(Refused, match="Only a challenger"):
        promotion.use_anyway(actor=manager, scorer_id=scorer.pk, version_id=refused.pk)


def test_rolled_back_the_old_version_is_in_force_with_the_scores_it_had(
    manager: Actor, scorer: Scorer
) -> None:
    begin_with(scorer, knowing(0.0))
    scoring.request(actor=manager)
    pool(scorer.project, 30, holdout=20)
    for solution in scorer.project.solutions.all():
        QueueRow.objects.create(
            solution=solution, project=scorer.project, holdout=False, wanted=1, audit_owed=0, shuffle=0.5
        )
    scoring.request(actor=manager)
    all_jobs()
    first = Score.objects.values_list("version_id", flat=True).distinct().get()
    after_training(manager, scorer)
    all_jobs()
    assert QueueRow.objects.exclude(ranked_by=first).count() == 50

    back = promotion.roll_back(actor=manager, scorer_id=scorer.pk)
    scorer.refresh_from_db()
    assert (scorer.champion, back.pk, back.status) == (None, first, "live")
    assert ScorerVersion.objects.filter(scorer=scorer).in_force().get() == back
    all_jobs()
    assert Score.objects.count() == 100  # nothing was scored a third time
    assert QueueRow.objects.filter(ranked_by=first).count() == 50
    with pytest.raises(Refused, match="no version to go back to"):
        promotion.roll_back(actor=manager, scorer_id=scorer.pk)


def test_a_version_that_was_taken_back_is_not_promoted_by_the_same_labels(
    manager: Actor, scorer: Scorer
) -> None:
    begin_with(scorer, knowing(0.0))
    pool(scorer.project, 30, holdout=20)
    after_training(manager, scorer)
    promotion.roll_back(actor=manager, scorer_id=scorer.pk)
    after_training(manager, scorer)
    assert scorer.champion is None


def test_every_worker_scores_with_the_champions_numbers(manager: Actor, scorer: Scorer) -> None:
    pool(scorer.project, 30)
    after_training(manager, scorer)
    waiting = scorer.versions.get(status="challenger")
    promotion.use_anyway(actor=manager, scorer_id=scorer.pk, version_id=waiting.pk)
    found, version = scoring.current_version(Scorer.objects.get(pk=scorer.pk))
    assert (found.version, version) == (waiting.version, waiting)
    assert found.version != builtin.shipped().version


def test_damaged_numbers_score_nothing_and_say_so(manager: Actor, scorer: Scorer) -> None:
    pool(scorer.project, 30)
    after_training(manager, scorer)
    waiting = scorer.versions.get(status="challenger")
    promotion.use_anyway(actor=manager, scorer_id=scorer.pk, version_id=waiting.pk)
    ScorerWeights.objects.filter(version=waiting).update(data=b"{}")
    run_jobs()
    scorer.refresh_from_db()
    assert not Score.objects.exists()
    assert (scorer.circuit["state"], "damaged" in scorer.circuit["error"]) == ("refused", True)


def test_numbers_of_another_version_are_not_taken_for_the_champions(manager: Actor, scorer: Scorer) -> None:
    pool(scorer.project, 30)
    after_training(manager, scorer)
    waiting = scorer.versions.get(status="challenger")
    data = builtin.shipped().to_json()
    swapped = orjson.dumps(data)
    ScorerWeights.objects.filter(version=waiting).update(data=swapped, sha256=kept_weights.digest(swapped))
    Scorer.objects.filter(pk=scorer.pk).update(champion=waiting)
    with pytest.raises(InvalidSettings, match="are another version, builtin-"):
        scoring.current_version(Scorer.objects.get(pk=scorer.pk))


def test_a_champion_that_changed_meanwhile_decides_nothing(
    manager: Actor, scorer: Scorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_with(scorer, knowing(0.0))
    pool(scorer.project, 30, holdout=20)
    judge = promotion.duel

    def overtaken(*args: Any, **more: Any) -> Any:
        ScorerVersion.objects.filter(scorer=scorer, status="live").update(status="retired")
        ScorerVersion.objects.create(scorer=scorer, version="other", threshold=0.5, measures="correctness")
        return judge(*args, **more)

    monkeypatch.setattr(promotion, "duel", overtaken)
    after_training(manager, scorer)
    assert scorer.champion is None
    assert not Job.objects.filter(kind="scoring.plan").exists()
