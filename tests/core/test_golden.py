"""Every published value that the shared golden file holds for a statistic of ours.

A case of another statistic is named in `LEFT_OUT` with the reason, so that none is passed over by accident.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotator.core import agreement as a
from annotator.core.agreement.two_raters import cohen_values, percent_values
from annotator.core.consensus import dawid_skene
from annotator.core.intervals import Reason, proportion, wilson
from annotator.core.screening import accuracy, confusion, modified_z, monotony

Case = dict[str, Any]

LEFT_OUT = {"sprt_gold": "a restarted SPRT pauses most .75 people, whom the exam lets pass; CUSUM instead"}
#: Values in a case that belong to statistics we do not offer.
NOT_OURS = {"interval", "ratio", "fleiss_generalised", "wawa", "one_coin_ds", "mace", "glad"}

#: Student's t at 97.5 % with 11 degrees of freedom, from tables: Gwet's interval uses it, ours resample.
T11 = 2.20098516


@pytest.fixture(scope="session")
def golden() -> dict[str, Case]:
    path = Path(os.environ.get("STEPMARK_SHARED", "../shared")) / "golden" / "stats.json"
    if not path.is_file():
        reason = f"there is no {path}: set STEPMARK_SHARED to the folder that holds golden/"
        if os.environ.get("STEPMARK_REQUIRE_SHARED") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return {case["id"]: case for case in json.loads(path.read_text())["cases"]}


def of_records(case: Case) -> a.Ratings:
    """Ratings from (unit, rater, label) rows, units and raters in the order of their names."""
    records = case["input"]["records"]
    units, people = (sorted({row[at] for row in records}) for at in (0, 1))
    return a.ratings(
        [units.index(row[0]) for row in records],
        [people.index(row[1]) for row in records],
        [row[2] for row in records],
        solution=range(len(units)),
    )


def of_coder_rows(case: Case) -> a.Ratings:
    """Ratings from one row a coder, null where it has no label, over the five classes of the published example."""
    labels = [
        (unit, coder, value)
        for coder, row in enumerate(case["input"]["coder_rows"])
        for unit, value in enumerate(row)
        if value is not None
    ]
    unit, coder, value = zip(*labels, strict=True) if labels else ((), (), ())
    return a.ratings(unit, coder, value, range(-1, 6) if -1 in value else range(1, 6))


def table_of(case: Case) -> list[list[int]]:
    """The contingency table, built from the two rows of answers where the case gives those."""
    given = case["input"]
    if "contingency" in given:
        table: list[list[int]] = given["contingency"]
        return table
    places = {label: at for at, label in enumerate(given["labels"])}
    table = [[0] * len(places) for _ in places]
    for one, other in zip(given["rater_a"], given["rater_b"], strict=True):
        table[places[one]][places[other]] += 1
    return table


def check(value: float | None, expected: float | None, tolerance: float) -> None:
    if expected is None:
        assert value is None
    else:
        assert value == pytest.approx(expected, abs=max(tolerance, 1e-9))


def check_cohen(case: Case) -> None:
    weights = case["input"].get("weights", "none")
    table, expected, tolerance = table_of(case), case["expected"], case["abs_tol"]
    found = a.cohen_of_table(table, weights)
    check(found.value, expected["kappa"], tolerance)
    assert found.reason == expected.get("reason")
    if "p_o" in expected:
        check(float(percent_values(np.array(table, dtype=float))), expected["p_o"], tolerance)
    for name in ("se_nonnull", "ase"):
        if name in expected:
            check(a.cohen_standard_error(table, weights), expected[name], tolerance)
    if "ci95_normal" in expected:
        assert [found.low, found.high] == pytest.approx(expected["ci95_normal"], abs=1e-6)


def check_no_overlap(case: Case) -> None:
    found = a.cohen(of_records(case), 0, 1)
    assert (found.value, found.reason, found.n) == (None, Reason.NO_OVERLAP, 0)


def check_fleiss(case: Case) -> None:
    counts, expected = case["input"]["counts"], case["expected"]
    found = a.from_counts(counts, a.FLEISS)
    check(found.value, expected["kappa"], case["abs_tol"])
    assert found.reason == expected.get("reason")
    if "randolph_free_marginal" in expected:
        free = a.from_counts(counts, a.brennan_prediger(len(counts[0])))
        check(free.value, expected["randolph_free_marginal"], case["abs_tol"])


def check_alpha(case: Case) -> None:
    labels = of_records(case) if "records" in case["input"] else of_coder_rows(case)
    expected, tolerance = case["expected"], case["abs_tol"]
    measures = {
        "nominal": a.ALPHA,
        "alpha": a.ALPHA,
        "ordinal": a.ALPHA_ORDINAL,
        "ac1": a.AC1,
        "percent_agreement_pairable": a.PERCENT,
    }
    assert set(expected) <= set(measures) | NOT_OURS | {"reason"}
    for name in set(expected) & set(measures):
        found = a.figure(labels, measures[name])
        check(found.value, expected[name], tolerance)
        assert found.reason == expected.get("reason")


def check_ac1(case: Case) -> None:
    labels, expected, tolerance = of_coder_rows(case), case["expected"], case["abs_tol"]
    value = a.figure(labels, a.AC1).value
    error = a.ac1_standard_error(labels.counts())
    observed = a.figure(labels, a.PERCENT).value
    assert value is not None
    assert observed is not None
    check(value, expected["ac1"], tolerance)
    check(observed, expected["percent_agreement"], tolerance)
    check((observed - value) / (1 - value), expected["chance"], tolerance)
    check(error, expected["se"], tolerance)
    bounds = [value - T11 * error, min(1.0, value + T11 * error)]
    assert bounds == pytest.approx(expected["ci95"], abs=tolerance)


def check_pairwise(case: Case) -> None:
    labels, tolerance = of_records(case), case["abs_tol"]
    plain, linear = a.heat_map(labels), a.heat_map(labels, "linear")
    for pair, expected in case["expected"].items():
        at = tuple("ABCD".index(letter) for letter in pair)
        found = {
            "n": plain.n[at],
            "p_o": plain.percent[at],
            "kappa": plain.kappa[at],
            "kappa_linear": linear.kappa[at],
        }
        assert found == pytest.approx(expected, abs=tolerance)


def check_paradox(case: Case) -> None:
    table = np.array(case["input"]["contingency"], dtype=float)
    cells = np.argwhere(table >= 0)
    times = table.astype(int).ravel()
    counts = np.repeat([np.bincount(cell, minlength=2) for cell in cells], times, axis=0)
    found = {
        "cohen": float(cohen_values(table)),
        "scott_pi": float(a.scott_values(table)),
        "ac1": a.from_counts(counts, a.AC1).value,
        "brennan_prediger": a.from_counts(counts, a.PABAK).value,
        "percent_agreement": a.from_counts(counts, a.PERCENT).value,
    }
    assert found == pytest.approx(case["expected"], abs=case["abs_tol"])


def check_percent(case: Case) -> None:
    check(a.figure(of_records(case), a.PERCENT).value, case["expected"]["value"], case["abs_tol"])


def check_consensus(case: Case) -> None:
    labels, expected = of_records(case), case["expected"]
    assert set(expected) - NOT_OURS == {"majority_vote", "dawid_skene"}
    em = expected["dawid_skene"]
    # The oracle is the maximum likelihood of 1979 after its fourth iteration, not yet at its limit.
    found = dawid_skene(labels, 4, pseudo=0.0, max_iterations=em["n_iter"], tolerance=0.0)
    wanted = [[row[label] for label in ("-1", "0", "1")] for _, row in sorted(em["probas"].items())]
    assert found.posterior == pytest.approx(np.array(wanted), abs=case["abs_tol"])
    assert found.prior == pytest.approx([em["priors"][k] for k in ("-1", "0", "1")], abs=case["abs_tol"])
    assert (found.best()[0] - 1).tolist() == [label for _, label in sorted(em["labels"].items())]
    counts = labels.counts()
    tied = (counts == counts.max(axis=1, keepdims=True)).sum(axis=1) > 1
    votes = [label for _, label in sorted(expected["majority_vote"]["labels"].items())]
    assert [f"s{at + 1:02d}" for at in np.flatnonzero(tied)] == ["s06"]
    assert (counts.argmax(axis=1) - 1)[~tied].tolist() == np.array(votes)[~tied].tolist()


def check_single_annotator(case: Case) -> None:
    found = dawid_skene(of_records(case), 1)
    assert (found.best()[0] - 1).tolist() == list(case["expected"]["labels"].values())
    assert bool(np.isnan(found.quality).all())
    assert found.reason == case["expected"]["reason"]


def check_wilson(case: Case) -> None:
    for name, expected in case["expected"].items():
        successes, trials = map(int, name.split("/"))
        found = wilson(successes, trials)
        assert found is None if expected is None else found == pytest.approx(expected, abs=case["abs_tol"])
    assert proportion(0, 0, Reason.NO_GOLD).reason == "no_gold"
    assert wilson(0, 10)[0] == 0.0  # type: ignore[index]
    assert wilson(10, 10)[1] == 1.0  # type: ignore[index]


def check_gold_accuracy(case: Case) -> None:
    gold = case["input"]["gold"]
    for person, expected in case["expected"].items():
        mine = [row for row in case["input"]["records"] if row[1] == person and row[0] in gold]
        table = confusion([gold[row[0]] for row in mine], [row[2] for row in mine])
        found = accuracy(table)
        assert table.tolist() == expected["confusion_rows_gold_cols_answer[-1,0,1]"]
        assert (int(np.trace(table)), found.n) == (expected["correct"], expected["n"])
        check(found.value, expected["accuracy"], case["abs_tol"])
        assert [found.low, found.high] == pytest.approx(expected["wilson95"], abs=case["abs_tol"])


def check_speeding(case: Case) -> None:
    z = modified_z(np.log(case["input"]["seconds"]))
    assert z == pytest.approx(case["expected"]["mod_z_log"], abs=case["abs_tol"])
    assert z is not None
    assert np.flatnonzero(z < -3.5).tolist() == case["expected"]["flag_fast"]
    assert np.flatnonzero(z > 3.5).tolist() == case["expected"]["flag_slow"]


def check_straight_lining(case: Case) -> None:
    found, expected = monotony(case["input"]["labels"]), case["expected"]
    assert found.longest_run == expected["longest_run"]
    assert found.entropy == pytest.approx(expected["entropy_bits"], abs=case["abs_tol"])
    assert found.modal_share == pytest.approx(expected["share_modal"], abs=case["abs_tol"])


CHECKS: dict[str, Callable[[Case], None]] = {
    "cohen_2x2_wikipedia": check_cohen,
    "cohen_3x3_sas": check_cohen,
    "cohen_3x3_sas_linear": check_cohen,
    "cohen_one_rater_constant": check_cohen,
    "cohen_both_constant_same_class": check_cohen,
    "cohen_both_constant_different": check_cohen,
    "cohen_no_overlap": check_no_overlap,
    "cohen_perfect_multiclass": check_cohen,
    "fleiss_wikipedia": check_fleiss,
    "fleiss_single_category": check_fleiss,
    "fleiss_unequal_raters": check_fleiss,
    "kripp_12x4": check_alpha,
    "gwet_ac1_12x4": check_ac1,
    "kripp_single_category": check_alpha,
    "kripp_no_pairable": check_alpha,
    "kripp_empty": check_alpha,
    "steps_small_alpha": check_alpha,
    "steps_small_pairwise": check_pairwise,
    "kappa_paradox_125": check_paradox,
    "percent_agreement_multi": check_percent,
    "consensus_steps_small": check_consensus,
    "consensus_single_annotator": check_single_annotator,
    "wilson_intervals": check_wilson,
    "gold_accuracy_small": check_gold_accuracy,
    "speeding_flags": check_speeding,
    "straightlining": check_straight_lining,
}


@pytest.mark.parametrize("name", CHECKS)
def test_published_value(golden: dict[str, Case], name: str) -> None:
    CHECKS[name](golden[name])


def test_no_case_is_passed_over(golden: dict[str, Case]) -> None:
    assert set(golden) == set(CHECKS) | set(LEFT_OUT)
