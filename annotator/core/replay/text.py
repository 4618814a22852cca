"""A simulation as tables for people and as plain values for programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from annotator.core.replay.curves import Band, Level
from annotator.core.replay.orders import Order
from annotator.core.replay.report import Curve, Simulated

#: What a curve shows, in words; the first letter is the plan's name of the question.
TITLES = {
    "found": "(a) Share of the scorer's misjudged steps found",
    "accuracy": "(b) First-error accuracy of the whole pool: people label what is bought, the scorer the rest",
    "error_f1": "(b) F1 of the error class of the whole pool",
    "auc": "(c) Step AUC of the scorer trained on what was bought, on other problems",
    "f1": "(c) ProcessBench F1 of the scorer trained on what was bought, on other problems",
}
#: What is aimed at: the least share of the oracle's lead, and the largest share of random's budget.
GOALS = {"found": 0.6, "accuracy": 0.75, "error_f1": 0.75, "auc": 0.5, "f1": 0.5}


def tables(one: Simulated) -> str:
    """All curves, each with what it says of the goal."""
    head = (
        f"Budgets are shares of {one.total:,.0f} {one.unit}, what judging the pool (70 % of the problems) costs; "
        f"means over {one.seeds} splits. The scorer's out-of-fold threshold is {one.threshold:g}."
    )
    parts = [head, _bands(TITLES["found"], one.found, one.budgets), _gain(one)]
    for curve in (*one.whole_set, *one.retrained):
        parts += [_bands(TITLES[curve.name], curve.bands, one.budgets), _levels(curve)]
    return "\n\n".join(parts)


def _bands(title: str, bands: Mapping[Order, Band], budgets: Sequence[float]) -> str:
    lines = [title, "  budget, %".ljust(15) + "".join(f"{100 * each:7.3g}" for each in budgets)]
    for order, band in bands.items():
        lines.append(f"  {order.value:<13}" + "".join(f"{100 * each:7.1f}" for each in band.mean))
    return "\n".join(lines)


def _gain(one: Simulated) -> str:
    gain = one.gain
    if gain.value is None:
        return f"At {gain.budget:.0%} of the budget the oracle finds no more than random."
    said = "reached" if gain.value >= GOALS["found"] else "not reached"
    return (
        f"At {gain.budget:.0%} of the budget: (found - random) / (oracle - random) = {gain.value:.2f}"
        f"{_interval(gain.low, gain.high)}; goal {GOALS['found']}: {said}."
    )


def _levels(curve: Curve) -> str:
    lines = [f"  Share of random's budget that reaches the same quality; goal {GOALS[curve.name]}:"]
    lines += [f"    {_level(each)}" for each in curve.levels]
    return "\n".join(lines)


def _level(each: Level) -> str:
    random = f"{100 * each.quality:5.1f}, random's at {each.random_budget:4.0%}: "
    if each.ratio is None or each.budget is None:
        return random + "never reached"
    flat = "" if each.valid else "  (random hardly rises from there: not valid)"
    return f"{random}{each.budget:4.0%}, ratio {each.ratio:.2f}{_interval(each.low, each.high)}{flat}"


def _interval(low: float | None, high: float | None) -> str:
    return f" [{low:.2f}, {high:.2f}]" if low is not None and high is not None else ""


def plain(one: Simulated) -> dict[str, Any]:
    """For programs."""
    return {
        "strategy": one.order.value,
        "unit": one.unit,
        "total": one.total,
        "budgets": list(one.budgets),
        "seeds": one.seeds,
        "threshold": one.threshold,
        "misjudged_found": {
            "curves": _plain_bands(one.found),
            "share_of_oracle": asdict(one.gain) | {"goal": GOALS["found"]},
        },
        "whole_set": {curve.name: _plain_curve(curve) for curve in one.whole_set},
        "retrained": {curve.name: _plain_curve(curve) for curve in one.retrained},
    }


def _plain_curve(curve: Curve) -> dict[str, Any]:
    levels = [asdict(each) for each in curve.levels]
    return {"curves": _plain_bands(curve.bands), "levels": levels, "goal": GOALS[curve.name]}


def _plain_bands(bands: Mapping[Order, Band]) -> dict[str, Any]:
    return {order.value: asdict(band) for order, band in bands.items()}
