"""What judging a solution is worth, against all the ways in which it can end, and small cases by hand."""

from __future__ import annotations

import numpy as np
import pytest

from annotator.core.ragged import Rows
from annotator.core.uncertainty import stop_probabilities
from annotator.core.worth import endings, expected_mistakes, information, wrong_stop

VALUES = [[0.9, None, 0.6, 0.8], [0.3], [0.95, 0.99], [0.5, 0.5, 0.5]]
ROWS = Rows.of_lists(VALUES)


def ways(values: list[float | None]) -> list[tuple[float, int]]:
    """Probability and stop of each way in which judging it can end."""
    return [(chance, stop) for stop, chance in stop_probabilities(values).items()]


def judged(values: list[float | None], stop: int) -> list[int]:
    end = len(values) if stop == -1 else stop + 1
    return [index for index in range(end) if values[index] is not None]


def test_a_person_is_expected_to_judge_the_mean_over_all_endings() -> None:
    expected = [
        sum(chance * len(judged(row, stop)) for chance, stop in ways(row) if stop != -1)
        + stop_probabilities(row)[-1] * len(judged(row, -1))
        for row in VALUES
    ]
    assert endings(ROWS).steps == pytest.approx(expected)


def test_expected_mistakes_are_the_mean_over_all_endings_of_calls_that_turn_out_wrong() -> None:
    threshold = 0.7
    expected = [
        sum(
            chance * sum((row[at] < threshold) != (at == stop) for at in judged(row, stop))
            for chance, stop in ways(row)
        )
        for row in VALUES
    ]
    found = expected_mistakes(ROWS, endings(ROWS), np.full(len(VALUES), threshold))
    assert found == pytest.approx(expected)


def test_calls_go_by_the_scorers_values_and_chances_by_probabilities() -> None:
    values, probabilities = Rows.of_lists([[0.4]]), Rows.of_lists([[0.9]])
    assert expected_mistakes(values, endings(probabilities), np.array([0.5])).tolist() == [0.9]


def test_the_chance_of_a_wrong_stop_leaves_out_the_likeliest_ending() -> None:
    expected = [1 - max(chance for chance, _ in ways(row)) for row in VALUES]
    assert wrong_stop(endings(ROWS)) == pytest.approx(expected)


@pytest.mark.parametrize(("answer", "if_wrong", "if_none"), [(1, 0.1, 1.0), (0, 0.9, 0.0), (-1, 1.0, 1.0)])
def test_what_is_known_of_the_answer_weighs_the_endings_by_bayes(
    answer: int, if_wrong: float, if_none: float
) -> None:
    threshold = 0.7
    known = endings(ROWS, np.full(len(VALUES), answer), right_by_luck=0.1)
    for place, row in enumerate(VALUES):
        weighed = [(chance * (if_none if stop == -1 else if_wrong), stop) for chance, stop in ways(row)]
        whole = sum(chance for chance, _ in weighed)
        mean_steps = sum(chance * len(judged(row, stop)) for chance, stop in weighed) / whole
        mistakes = sum(
            chance * sum((row[at] < threshold) != (at == stop) for at in judged(row, stop))
            for chance, stop in weighed
        )
        assert known.steps[place] == pytest.approx(mean_steps)
        found = expected_mistakes(ROWS, known, np.full(len(VALUES), threshold))
        assert found[place] == pytest.approx(mistakes / whole)
        assert wrong_stop(known)[place] == pytest.approx(1 - max(chance for chance, _ in weighed) / whole)


def test_context_is_neither_reached_nor_worth_anything() -> None:
    context = endings(Rows.of_lists([[None, None]]))
    assert context.reached.tolist() == [0.0, 0.0]
    assert context.steps.tolist() == wrong_stop(context).tolist() == [0.0]


def test_information_grows_with_the_spread_and_near_certainty() -> None:
    # s² / (2 p (1 - p)): .01 / .5 = .02, .01 / .18 = .056; the second step is reached with .5.
    found = information(
        endings(Rows.of_lists([[0.5], [0.9], [0.5, 0.5]])), Rows.of_lists([[0.1], [0.1], [0.0, 0.1]])
    )
    assert found == pytest.approx([0.02, 0.01 / 0.18, 0.01])


def test_information_is_close_to_that_of_the_ensemble() -> None:
    members = np.clip(np.random.default_rng(4).normal(0.7, 0.08, (200, 1)), 0.01, 0.99)
    mean, spread = members.mean(), members.std()
    exact = _entropy(mean) - _entropy(members).mean()
    told = information(endings(Rows.of_lists([[float(mean)]])), Rows.of_lists([[float(spread)]]))[0]
    assert told == pytest.approx(exact, rel=0.1)


def test_a_scorer_without_a_spread_has_nothing_to_learn_by_it() -> None:
    assert information(endings(Rows.of_lists([[0.5]])), Rows.of_lists([[None]])).tolist() == [0.0]


def _entropy(p: np.ndarray | np.floating) -> np.ndarray:
    return -(p * np.log(p) + (1 - p) * np.log(1 - p))
