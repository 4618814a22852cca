"""Fitting the built-in scorer from examples in memory, as the training loop and the simulations do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from annotator.core.solutions import Step
from annotator.scorers import make
from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.builtin import shipped
from annotator.scorers.builtin.fit import Example, Model, NothingToLearn, Weights, features, fit


def example(number: int, *, right: bool, target: float | None = None) -> Example:
    """A problem of its own; the last of its two steps adds up, or does not."""
    problem = f"Ann has {number} eggs and buys 3 more. How many has she?"
    steps = (Step("Add them up."), Step(f"She has {number} + 3 = {number + (3 if right else 5)} eggs."))
    last = float(right) if target is None else target
    return Example(problem, steps, (1.0, last), group=str(number))


EXAMPLES = [example(number, right=number % 2 == 0) for number in range(10, 70)]


def last_value(weights: Weights, *, right: bool) -> float:
    unseen = example(500, right=right)
    mean, _ = Model(weights).score_features(features(unseen.problem, unseen.steps))
    return float(mean[-1])


def test_what_the_examples_show_is_learned() -> None:
    weights = fit(EXAMPLES, seed=1)
    assert last_value(weights, right=True) > last_value(weights, right=False) + 0.3


def test_the_same_examples_and_seed_give_the_same_weights() -> None:
    assert fit(EXAMPLES, seed=1).version == fit(EXAMPLES, seed=1).version != fit(EXAMPLES, seed=2).version


def test_features_computed_before_give_the_same_weights() -> None:
    ready = [replace(one, rows=features(one.problem, one.steps)) for one in EXAMPLES]
    assert fit(ready, seed=1).version == fit(EXAMPLES, seed=1).version


def test_a_soft_target_pulls_less_than_a_sure_one() -> None:
    wrong = [example(number, right=False, target=0.3) for number in range(11, 71, 2)]
    soft = fit([*EXAMPLES[::2], *wrong], seed=1)
    assert last_value(soft, right=False) > last_value(fit(EXAMPLES, seed=1), right=False) + 0.05


def test_an_example_of_weight_nought_teaches_nothing() -> None:
    lies = [replace(example(n, right=False, target=1.0), weight=0.0) for n in range(100, 140)]
    assert last_value(fit([*EXAMPLES, *lies], seed=1), right=False) < 0.7


def test_undefined_steps_are_left_out() -> None:
    longer = [
        replace(one, steps=(*one.steps, Step("It is 1 + 1 = 3.")), targets=(*one.targets, None))
        for one in EXAMPLES
    ]
    assert fit(longer, seed=1).version == fit(EXAMPLES, seed=1).version


def test_a_warm_start_stays_near_where_it_came_from() -> None:
    few = EXAMPLES[:4]
    far = np.abs(fit(few, seed=1).coefficients - shipped().coefficients).sum()
    assert np.abs(fit(few, seed=1, warm=shipped()).coefficients - shipped().coefficients).sum() < far / 2


@pytest.mark.parametrize(
    ("examples", "said"),
    [
        ([], "no judged step"),
        (EXAMPLES[:1], "only correct"),
        ([replace(EXAMPLES[1], targets=(0.0, None))], "only errors"),
    ],
)
def test_examples_that_can_not_teach_are_refused(examples: list[Example], said: str) -> None:
    with pytest.raises(NothingToLearn, match=said):
        fit(examples)


def test_fitted_weights_score_through_the_one_door() -> None:
    weights = fit(EXAMPLES, seed=1)
    scorer = make("builtin", {"weights": weights.to_json()})
    unseen = example(500, right=False)
    (result,) = scorer.score([ScoringInput(unseen.problem, unseen.steps)], cancelled=lambda: False)
    assert isinstance(result, Scored)
    assert result.values[-1] == pytest.approx(last_value(weights, right=False))
    assert scorer.version == weights.version == Weights.from_json(weights.to_json()).version
