"""What ways of choosing find, on real scores and human first errors; docs/scorers.md tells the figures.

Out-of-fold scores: the built-in scorer of each fold never saw its problems.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import orjson
import pytest

from annotator.core.selection import Mixture, Pool, Strategy, expected_sound, preference, rank
from annotator.core.selection_study import (
    Effort,
    certain_shares,
    effort,
    ensemble,
    found_by_budget,
    overlooked,
)
from annotator.core.uncertainty import (
    aggregate,
    disagreement,
    max_entropy,
    max_spread,
    mean_entropy,
    mean_spread,
    predicted_stop,
)
from annotator.scorers.builtin.fit import Settings, by_solution, fit_members, folds, tune_threshold
from annotator.scorers.builtin.training_data import read_processbench, tabulate

SPENT = 0.2


@dataclass(frozen=True)
class Replay:
    """ProcessBench's gsm8k part: out-of-fold values and spread, human stops, and whether the answer is wrong."""

    values: list[list[float]]
    spread: list[list[float]]
    stops: list[int]
    wrong: np.ndarray
    threshold: float

    @property
    def effort(self) -> Effort:
        return effort(self.values, self.stops, self.threshold)

    def found(self, doubt: list[float]) -> float:
        """Share of misjudged steps found once a fifth of all steps is judged, the most doubtful first."""
        order = np.argsort(-np.array(doubt), kind="stable")
        return float(found_by_budget(order, self.effort, [SPENT])[0])


@pytest.fixture(scope="module")
def replay(shared_data: Path) -> Replay:
    path = shared_data / "processbench_gsm8k.jsonl"
    table = tabulate(read_processbench(path), words=False)
    settings = Settings()
    mean, spread = np.zeros(len(table.rows)), np.zeros(len(table.rows))
    fold = folds(table, settings)
    for number in range(settings.folds):
        test = fold[table.owner] == number
        members = fit_members(table, fold != number, settings).predict(table.rows[test])
        mean[test], spread[test] = members.mean(axis=0), members.std(axis=0)
    values, stops = by_solution(table, mean), list(table.stops)
    wrong = [not orjson.loads(line)["final_answer_correct"] for line in path.read_bytes().splitlines()]
    return Replay(values, by_solution(table, spread), stops, np.array(wrong), tune_threshold(values, stops))


@pytest.fixture(scope="module")
def seven(shared_data: Path) -> list[dict[str, list[float]]]:
    """The step scores of seven PRMs on 909 solutions."""
    lines = (shared_data / "strictprmbench_7prm_scores_gsm8k.jsonl").read_bytes().splitlines()
    return [orjson.loads(line)["prm_step_scores"] for line in lines]


def pool(replay: Replay, *, answers: bool = True) -> Pool:
    """The replayed solutions; without answers, nobody knows which are wrong."""
    answer_wrong = replay.wrong & answers
    size = len(replay.values)
    return Pool(
        uncertainty=np.array([mean_entropy(row, replay.threshold) for row in replay.values]),
        tiebreak=np.array([mean_spread(*both) for both in zip(replay.values, replay.spread, strict=True)]),
        trajectory=np.array([aggregate(row) for row in replay.values], dtype=np.float64),
        answer_wrong=answer_wrong,
        disagreement=np.full(size, np.nan),
        sound=expected_sound(replay.values, [not bad for bad in replay.wrong] if answers else [None] * size),
        stratum=np.zeros(size, dtype=np.int64),
        done=np.zeros(size, dtype=np.int64),
        group=np.arange(size),
        shuffle=np.random.default_rng(5).random(size),
        certain=np.zeros(size, dtype=np.bool_),
        **dict.fromkeys(("mistakes", "gain", "learning"), np.full(size, np.nan)),
    )


def test_at_actprms_own_thresholds_seven_prms_are_certain_of_nothing(
    seven: list[dict[str, list[float]]],
) -> None:
    solutions = [ensemble(list(row.values())) for row in seven]
    assert len(solutions) == 909
    assert certain_shares(solutions, [0.95], [0.005]).tolist() == [[0.0]]
    assert np.median([width for _, spread in solutions for width in spread]) == pytest.approx(
        0.234, abs=0.001
    )


def test_only_thresholds_far_laxer_make_the_rule_say_certain(seven: list[dict[str, list[float]]]) -> None:
    table = certain_shares([ensemble(list(row.values())) for row in seven], [0.5, 0.8, 0.9], [0.1, 0.2, 0.3])
    assert np.round(100 * table, 1).tolist() == [[0.1, 10.2, 60.3], [0.1, 8.0, 10.7], [0.0, 0.1, 0.1]]


def test_prms_disagree_more_where_one_would_stop_and_another_would_not(
    seven: list[dict[str, list[float]]],
) -> None:
    differ, agree = [], []
    for row in seven:
        two = [row["qwen_prm"], row["math_shepherd"]]
        stops = {predicted_stop(values) for values in two}
        (differ if len(stops) > 1 else agree).append(disagreement(two))
    assert np.mean(differ) > 3 * np.mean(agree)


def test_convincing_wrong_finds_errors_that_the_scorer_lets_pass(replay: Replay) -> None:
    passed = overlooked(replay.values, replay.stops)
    first = preference(pool(replay), Strategy.CONVINCING_WRONG)[:100]
    assert passed[first].mean() >= 0.98
    assert passed[replay.wrong].mean() == pytest.approx(0.86, abs=0.03)  # what chance finds


def test_so_it_does_by_the_scorers_own_threshold(replay: Replay) -> None:
    passed = overlooked(replay.values, replay.stops, replay.threshold)
    first = preference(pool(replay), Strategy.CONVINCING_WRONG)[:100]
    assert passed[first].mean() > passed[replay.wrong].mean() + 0.1


def test_mean_entropy_finds_misjudged_steps_sooner_than_the_other_measures_of_doubt(replay: Replay) -> None:
    both = list(zip(replay.values, replay.spread, strict=True))
    limit = replay.threshold
    mean = replay.found([mean_entropy(row, limit) for row in replay.values])
    assert mean > 1.5 * SPENT  # in random order, a fifth of the effort finds a fifth
    assert mean > replay.found([max_entropy(row, limit) for row in replay.values])
    assert mean > replay.found([mean_spread(*one, limit) for one in both])
    assert mean > replay.found([max_spread(*one, limit) for one in both])


@pytest.mark.parametrize("answers", [True, False])
def test_the_share_that_is_expected_to_be_sound_is_about_what_is(replay: Replay, answers: bool) -> None:
    weights = {Strategy.UNCERTAINTY: 0.7, Strategy.CONVINCING_WRONG: 0.2, Strategy.RANDOM: 0.1}
    given = pool(replay, answers=answers)
    first = rank(given, Mixture(weights)).order[:200]
    truly_sound = np.array(replay.stops)[first] == -1
    assert given.sound[first].mean() >= 0.4
    assert truly_sound.mean() == pytest.approx(given.sound[first].mean(), abs=0.08)
