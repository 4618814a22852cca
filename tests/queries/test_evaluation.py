"""What a scorer is measured against, and what is said about where its figures come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from django.db.models.functions import Now

from annotator.core.labels import NOT_AN_ERROR, Label, accept_bit
from annotator.core.uncertainty import predicted_stop
from annotator.models import (
    Adjudication,
    Consensus,
    Gold,
    Project,
    ReferenceLabels,
    Score,
    ScorerVersion,
    Solution,
)
from annotator.queries.evaluation.known import Against
from annotator.queries.evaluation.measured import (
    TUNED,
    NoSuchScorer,
    measured,
    plain,
    usual,
    version_of,
)
from annotator.scorers.builtin import shipped
from annotator.scorers.builtin.training_data import problem_hash
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def version(project: Project) -> ScorerVersion:
    return ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="v1", measures="correctness", threshold=0.5
    )


def scored(version: ScorerVersion, values: Sequence[float | None], **of: Any) -> Solution:
    made = make.solution(version.scorer.project, ["a step"] * len(values), **of)
    Score.objects.create(
        solution=made,
        version=version,
        n_steps=len(values),
        values=list(values),
        spread=[None if value is None else 0.0 for value in values],
        priority=0.1,
        tiebreak=0.0,
        predicted_stop=predicted_stop(values),
    )
    return made


def referred(version: ScorerVersion, stop: int, values: Sequence[float], **of: Any) -> Solution:
    made = scored(version, values, **of)
    labels = [1 if stop < 0 or at < stop else -1 if at == stop else None for at in range(len(values))]
    ReferenceLabels.objects.create(solution=made, n_steps=len(values), labels=labels, first_error=stop)
    return made


def agreed(version: ScorerVersion, labels: list[int | None], values: Sequence[float], **of: Any) -> Solution:
    made = scored(version, values, **{"holdout": True, **of})
    Consensus.objects.create(
        solution=made,
        n_steps=len(labels),
        method="plurality",
        state="agreed",
        labels=labels,
        stop=labels.index(-1) if -1 in labels else -1,
        n_annotations=3,
    )
    return made


def test_reference_labels_make_the_figures(version: ScorerVersion) -> None:
    referred(version, 1, [0.9, 0.2, 0.9])  # hit
    referred(version, 0, [0.9, 0.2])  # missed, the stop is one late
    referred(version, -1, [0.9, 0.8])  # passed
    found = measured(version, Against.REFERENCE).found

    # a = 1/2, b = 1/1, F1 = 2·(1/2)·1/(3/2). At risk: .9 .2(e) | .9(e) | .9 .8.
    assert found.processbench_f1.value == pytest.approx(2 / 3)
    assert (found.first_error_exact.value, found.first_error_within_one.value) == (pytest.approx(2 / 3), 1.0)
    assert (found.steps, found.errors.recall.value) == (5, 0.5)


def test_the_holdout_counts_agreed_consensus_on_its_own_problems_alone(version: ScorerVersion) -> None:
    agreed(version, [1, -1, None], [0.9, 0.2, 0.9])
    agreed(version, [1, 1], [0.9, 0.9], holdout=False)
    assert measured(version, Against.HOLDOUT).found.solutions == 1


def test_an_adjudication_stands_above_the_consensus(version: ScorerVersion) -> None:
    made = agreed(version, [1, -1, None], [0.9, 0.9, 0.2])
    member = make.member(version.scorer.project)
    for labels, stop in (([-1, None, None], 0), ([1, 1, -1], 2)):
        Adjudication.objects.create(solution=made, member=member, n_steps=3, labels=labels, stop=stop)
    assert measured(version, Against.HOLDOUT).found.first_error_exact.value == 1.0


@pytest.mark.parametrize("against", [Against.HOLDOUT, Against.REFERENCE])
def test_a_solution_that_was_cut_otherwise_since_counts_no_more(
    version: ScorerVersion, against: Against
) -> None:
    referred(version, 1, [0.9, 0.2])
    made = agreed(version, [1, -1], [0.9, 0.2])
    decision = {"labels": [1, -1], "stop": 1, "n_steps": 2}
    Adjudication.objects.create(solution=made, member=make.member(version.scorer.project), **decision)
    assert measured(version, against).found.solutions == 1
    Solution.objects.update(superseded_at=Now())
    assert measured(version, against).found.solutions == 0


def test_gold_takes_any_acceptable_stop_and_leaves_out_what_may_be_either(version: ScorerVersion) -> None:
    wrong = accept_bit(Label.INCORRECT)
    made = scored(version, [0.9, 0.9, 0.1])
    Gold.objects.create(
        solution=made,
        project=version.scorer.project,
        n_steps=3,
        accept=[NOT_AN_ERROR, NOT_AN_ERROR | wrong, wrong],
        source="import",
    )
    found = measured(version, Against.GOLD).found
    assert found.processbench_f1.erroneous == 1.0
    assert found.steps == 2


def test_suspect_gold_measures_nobody(version: ScorerVersion) -> None:
    gold = make.gold(version.scorer.project)
    Gold.objects.filter(pk=gold.pk).update(suspect=True)
    found = measured(version, Against.GOLD)
    assert (found.found.solutions, found.unscored) == (0, 0)


def test_what_has_no_score_is_counted_apart(version: ScorerVersion) -> None:
    make.gold(version.scorer.project)
    assert measured(version, Against.GOLD).unscored == 1


def test_a_problem_of_the_training_labels_is_overlap_and_left_out_of_the_figures_beside(
    version: ScorerVersion,
) -> None:
    seen = referred(version, 0, [0.1, 0.9])
    referred(version, -1, [0.9, 0.9])
    referred(version, 1, [0.9, 0.9])
    version.training = {"problems": [problem_hash(seen.problem.text.upper())]}
    found = measured(version, Against.REFERENCE)
    assert (found.overlap, found.found.solutions) == (1, 3)
    assert found.unseen is not None
    assert (found.unseen.solutions, found.unseen.processbench_f1.erroneous) == (2, 0.0)


def test_the_shipped_weights_are_known_by_their_version(project: Project) -> None:
    weights = shipped()
    version = ScorerVersion.objects.create(
        scorer=project.scorers.get(), version=weights.version, measures="correctness", threshold=0.7
    )
    referred(version, -1, [0.9])
    found = plain(measured(version, Against.REFERENCE))
    assert found["overlap_with_training"] == 0
    assert found["threshold_from"] == weights.provenance["threshold_from"]


def test_no_threshold_comes_from_what_is_evaluated_unless_said(version: ScorerVersion) -> None:
    referred(version, 1, [0.9, 0.7])
    referred(version, -1, [0.9, 0.8])
    as_it_is, tuned = measured(version, Against.REFERENCE), measured(version, Against.REFERENCE, tuned=True)
    assert (as_it_is.found.threshold, as_it_is.found.processbench_f1.value) == (0.5, 0.0)
    assert as_it_is.threshold_from == "even odds, not tuned"
    assert (tuned.found.processbench_f1.value, tuned.threshold_from) == (1.0, TUNED)


def test_a_tuned_threshold_passes_over_context_steps(version: ScorerVersion) -> None:
    made = scored(version, [None, 0.9, None, 0.7], kinds=["observation", "reasoning"] * 2)
    ReferenceLabels.objects.create(solution=made, n_steps=4, labels=[None, 1, None, -1], first_error=3)
    referred(version, -1, [0.9, 0.8])
    assert measured(version, Against.REFERENCE, tuned=True).found.processbench_f1.value == 1.0


def test_usually_the_holdout_is_asked_then_the_reference(version: ScorerVersion) -> None:
    assert usual(version.scorer.project) == Against.HOLDOUT
    referred(version, -1, [0.9])
    assert usual(version.scorer.project) == Against.REFERENCE
    agreed(version, [1], [0.9])
    assert usual(version.scorer.project) == Against.HOLDOUT


def test_the_queries_do_not_grow_with_the_solutions(
    version: ScorerVersion, django_assert_num_queries: Any
) -> None:
    for stop in (-1, 0, 1):
        referred(version, stop, [0.9, 0.8])
    with django_assert_num_queries(2):
        measured(version, Against.REFERENCE)


def test_an_unknown_scorer_is_named_with_those_that_there_are(project: Project) -> None:
    with pytest.raises(NoSuchScorer, match="It has: builtin"):
        version_of(project, "other")
    with pytest.raises(NoSuchScorer, match="scored nothing yet"):
        version_of(project, "builtin")
