"""The built-in scorer: what it reads, what it returns, and the weights it ships with."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import orjson
import pytest

from annotator.core.solutions import Step
from annotator.scorers import make
from annotator.scorers.base import Scored, ScoreFailure, ScoringCancelled, ScoringInput
from annotator.scorers.builtin import shipped
from annotator.scorers.builtin.features import FEATURES, HASH_BUCKETS, solution_features
from annotator.scorers.builtin.fit import fit_logistic
from annotator.scorers.builtin.model import (
    WEIGHTS_FILE,
    BuiltinScorer,
    InvalidWeights,
    from_json,
    load,
    to_json,
)
from annotator.scorers.builtin.training_data import UnreadableTrainingData, read_processbench, tabulate

PROBLEM = "Ann has 16 eggs. She eats 3 and bakes with 4. She sells the rest at $2 each. What does she make?"
RIGHT = ("Ann has 16 - 3 - 4 = 9 eggs left.", "She makes 9 * 2 = $18.", "The answer is \\boxed{18}.")
WRONG = ("Ann has 16 - 3 - 4 = 10 eggs left.", *RIGHT[1:])


def solution(*texts: str) -> ScoringInput:
    return ScoringInput(PROBLEM, tuple(Step(text) for text in texts))


def score(*items: ScoringInput) -> list[Scored | ScoreFailure]:
    return make("builtin").score(items, cancelled=lambda: False)


def scored(item: ScoringInput) -> Scored:
    (result,) = score(item)
    assert isinstance(result, Scored)
    return result


def test_each_judged_step_gets_a_probability_and_a_spread() -> None:
    result = scored(solution(*RIGHT))
    assert len(result.values) == 3
    assert all(value is not None and 0 < value < 1 for value in result.values)
    assert all(width is not None and width > 0 for width in result.spread)
    assert result.measures == "correctness"


def test_a_wrong_sum_lowers_the_score_of_its_step() -> None:
    right, wrong = scored(solution(*RIGHT)).values[0], scored(solution(*WRONG)).values[0]
    assert right is not None
    assert wrong is not None
    assert wrong < right - 0.2


def test_context_is_read_but_takes_no_score() -> None:
    steps = (Step("There are 7 more.", kind="observation", judged=False), Step("So 16 + 7 = 23."))
    assert scored(ScoringInput(PROBLEM, steps)).values[0] is None
    alone = solution_features(PROBLEM, steps[1:], hashed=False)[0]
    informed = solution_features(PROBLEM, steps, hashed=False)[1]
    place = FEATURES.index("share_from_before")
    assert informed[place] > alone[place]


def test_a_score_does_not_depend_on_later_steps() -> None:
    assert scored(solution(*RIGHT)).values[:2] == pytest.approx(scored(solution(*RIGHT[:2])).values)


def test_a_solution_that_fails_does_not_fail_the_batch() -> None:
    first, second = score(ScoringInput(PROBLEM, ()), solution(*RIGHT))
    assert isinstance(first, ScoreFailure)
    assert isinstance(second, Scored)


def test_a_cancelled_batch_stops() -> None:
    with pytest.raises(ScoringCancelled):
        make("builtin").score([solution(*RIGHT)], cancelled=lambda: True)


@pytest.mark.parametrize("text", ["", " ", "\x00", "9" * 50_000, "((((" * 9_000, "1e999 = 2", "é" * 30_000])
def test_odd_text_is_scored_all_the_same(text: str) -> None:
    (value,) = scored(solution(text)).values
    assert value is not None


def test_features_are_finite_and_named() -> None:
    rows = solution_features(PROBLEM, [Step(text) for text in WRONG], hashed=True)
    assert rows.shape == (3, len(FEATURES) + HASH_BUCKETS)
    assert np.isfinite(rows).all()
    assert rows[0, FEATURES.index("checks_fail")] == 1
    assert rows[1, FEATURES.index("failed_before")] == 1


def test_a_number_from_nowhere_is_noticed() -> None:
    steps = [Step("She eats 3 eggs."), Step("The shop has 777 chairs.")]
    rows = solution_features(PROBLEM, steps, hashed=False)
    assert rows[:, FEATURES.index("share_from_nowhere")].tolist() == [0.0, 1.0]


def test_two_thousand_steps_a_second() -> None:
    items = [solution(*(RIGHT + WRONG)) for _ in range(200)]
    scorer = make("builtin")
    started = time.process_time()
    scorer.score(items, cancelled=lambda: False)
    assert 1_200 / (time.process_time() - started) > 2_000


def test_the_shipped_weights_are_small_and_say_where_they_come_from() -> None:
    assert WEIGHTS_FILE.stat().st_size < 1_000_000
    provenance = shipped().provenance
    assert provenance["data"] == ["processbench_gsm8k.jsonl", "processbench_math.jsonl"]
    assert [len(one) for one in provenance["data_sha256"]] == [64, 64]
    assert len(provenance["problem_hashes"]) == provenance["problems"] == 1330
    assert provenance["out_of_fold"]["step_auc"] > 0.75


def test_the_version_changes_with_any_weight() -> None:
    value = orjson.loads(WEIGHTS_FILE.read_bytes())
    value["intercepts"][0] += 0.001
    assert from_json(orjson.dumps(value)).version != shipped().version


def test_weights_survive_a_round_trip() -> None:
    assert from_json(to_json(shipped())).version == shipped().version == load().version


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("mean", [1.0]),
        ("scale", [0.0] * len(FEATURES)),
        ("coefficients", [[1.0, 2.0], [1.0]]),
        ("intercepts", []),
        ("features", ["other"]),
        ("threshold", 2),
        ("format", 99),
        ("hashed_words", 7),
    ],
)
def test_weights_that_do_not_fit_are_refused(key: str, value: object) -> None:
    content = orjson.loads(WEIGHTS_FILE.read_bytes())
    with pytest.raises(InvalidWeights):
        from_json(orjson.dumps({**content, key: value}))


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b"not json"])
def test_a_damaged_weights_file_is_refused(content: bytes) -> None:
    with pytest.raises(InvalidWeights):
        from_json(content)


def test_a_missing_weights_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(InvalidWeights, match="fit_builtin"):
        load(tmp_path / "weights.json")


def test_ridge_logistic_regression_zeroes_its_gradient() -> None:
    random = np.random.default_rng(0)
    rows, weight = random.normal(size=(200, 3)), random.integers(0, 3, 200).astype(float)
    correct = (rows[:, 0] + random.normal(size=200) > 0).astype(float)
    penalty = np.array([1.0, 2.0, 3.0])
    beta, intercept = fit_logistic(rows, correct, weight, penalty)
    p = 1 / (1 + np.exp(-(rows @ beta + intercept)))
    assert rows.T @ (weight * (p - correct)) + penalty * beta == pytest.approx(np.zeros(3), abs=1e-6)


def test_training_stops_at_the_human_first_error(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(orjson.dumps({"problem": PROBLEM, "steps": ["a", "b", "c"], "label": 1}))
    table = tabulate(read_processbench(path), words=False)
    assert table.risk.tolist() == [True, True, False]
    assert table.correct.tolist()[:2] == [1.0, 0.0]


@pytest.mark.parametrize("line", [b"{", b"{}", b'{"problem": "p", "steps": ["a"], "label": 3}', b""])
def test_an_unreadable_training_line_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "data.jsonl"
    path.write_bytes(b'{"problem": "p", "steps": ["a"], "label": 0}\n' + line + b"\n")
    with pytest.raises(UnreadableTrainingData, match="line 2"):
        read_processbench(path)


def test_the_builtin_scorer_takes_other_weights_from_its_settings() -> None:
    value = orjson.loads(WEIGHTS_FILE.read_bytes())
    value["threshold"] = 0.6
    scorer = make("builtin", {"weights": orjson.dumps(value).decode()})
    assert isinstance(scorer, BuiltinScorer)
    assert scorer.threshold == 0.6
    assert scorer.version != shipped().version
