"""The loop in small: people who err label generated solutions, and a scorer that began with nothing gets better.

At full size, by the real rule and with an interval: `deploy/bench_loop.py`.
"""

from __future__ import annotations

import pytest

from annotator.actions import training_run
from annotator.core import promotion
from annotator.models import Scorer, ScorerVersion, Solution, Split
from annotator.scorers import trainers
from deploy import simulated_loop as simulated
from tests.actions.lessons import agree

pytestmark = pytest.mark.django_db


def test_generations_rise_from_nothing_on_the_holdout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(promotion, "FEWEST", 24)  # the rule asks for 1,000: minutes of simulated people
    monkeypatch.setattr(training_run, "LEAST", 10)
    monkeypatch.setattr(training_run, "LEAST_OF_A_KIND", 2)
    monkeypatch.setattr(trainers, "FOLDS", 2)
    monkeypatch.setattr(trainers, "FOLD_MEMBERS", 2)
    loop = simulated.begin(60, 24, people=3, miss=0.05, false_alarm=0.0, seed=3)
    start = ScorerVersion.objects.filter(scorer=loop.scorer).in_force().get()
    for solution in Solution.objects.filter(problem__split=Split.HOLDOUT):
        agree(solution, loop.truth[solution.pk], n=3)
    for labels in (30, 60):
        simulated.label_train(loop, labels)
        simulated.next_generation(loop)

    assert [mark["labels"] for mark in loop.marks] == [30, 60]
    assert ScorerVersion.objects.filter(scorer=loop.scorer, training__has_key="run").count() == 2
    champion = Scorer.objects.get(pk=loop.scorer.pk).champion
    assert champion is not None
    assert simulated.compared(loop, start, champion, by_truth=True)["difference"] > 0.0
