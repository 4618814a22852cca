"""Scorers and versions side by side as a page shows them, from the plain values that are kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotator.core.uncertainty import Aggregate
from annotator.queries.quality.blocks import Block, Cell

Plain = Mapping[str, Any]
#: Versions whose reliability is drawn; the others stand in the tables.
DRAWN = 6


def blocks(found: Sequence[Plain]) -> list[Block]:
    """The versions side by side, their errors, their picks, and each one's reliability. Empty where there are none."""
    if not found:
        return []
    picks = [] if all(each["best_of_n"]["min"]["value"] is None for each in found) else [_picks(found)]
    return [
        _overall(found),
        _steps(found),
        _errors(found),
        *picks,
        *(_reliability(each) for each in found[:DRAWN]),
    ]


def name(one: Plain) -> str:
    """A scorer and its version, short."""
    return f"{one['scorer']} {one['version'].removeprefix(one['scorer'] + '-')}"


def _overall(found: Sequence[Plain]) -> Block:
    known = [each for each in found if each["processbench_f1"]["value"] is not None]
    rows: list[list[Cell]] = []
    for each in found:
        f1 = each["processbench_f1"]
        row: list[Cell] = [name(each), each["status"], each["solutions"], *_interval(f1), f1["erroneous"]]
        rows.append([*row, f1["correct"], each["threshold"], each["overlap_with_training"], _unseen(each)])
    plot = [{"name": name(each), **_bounds(each["processbench_f1"])} for each in known]
    columns = ["version", "state", "solutions", "F1", "low", "high", "erroneous", "correct"]
    columns += ["threshold", "trained on", "F1 of the others"]
    thresholds = "; ".join(f"{name(each)}: {each['threshold_from']}" for each in found)
    return Block(
        "overall",
        "Which version sees what people see?",
        _best(known),
        {"kind": "intervals", "rows": plot} if plot else None,
        columns,
        rows,
        "ProcessBench F1: the harmonic mean of exact first errors among solutions with one (erroneous) and of none "
        "named among those without (correct), with 95 % intervals by problem. \u201cTrained on\u201d: solutions of "
        f"problems that the version learnt from, which flatter it. Where thresholds are from: {thresholds}.",
    )


def _steps(found: Sequence[Plain]) -> Block:
    known = [each for each in found if each["step_auc"] is not None]
    rows: list[list[Cell]] = [
        [
            name(each),
            each["steps"],
            *(cell for key in _OF_STEPS for cell in _interval(each["intervals"][key])),
        ]
        for each in found
    ]
    best = max(known, key=lambda each: each["step_auc"]) if known else None
    plot = [{"name": name(each), **_bounds(each["intervals"]["step_auc"])} for each in known]
    return Block(
        "steps",
        "How well do they tell correct steps from wrong ones?",
        f"{name(best)} puts a correct step above a wrong one in {best['step_auc']:.0%} of all pairs (AUC)."
        if best
        else "There are not yet steps of both kinds.",
        {"kind": "intervals", "rows": plot} if plot else None,
        ["version", "steps", "AUC", "low", "high", "Brier", "low", "high", "ECE", "low", "high"],
        rows,
        "Over steps up to people's first error, no threshold needed; one half is chance. Brier score and calibration "
        "error (ECE, 15 bins) are better the lower they are.",
    )


_OF_STEPS = ("step_auc", "brier", "ece")


def _best(known: Sequence[Plain]) -> str:
    if not known:
        return "There is no F1 yet: it needs labelled solutions with an error and without one."
    best = max(known, key=lambda each: each["processbench_f1"]["value"])
    flattered = sum(each["overlap_with_training"] > 0 for each in known)
    caution = f" {flattered} of {len(known)} were trained on some of these problems." if flattered else ""
    f1 = best["processbench_f1"]
    if len(known) == 1:
        return f"{name(best)} has an F1 of {_brief(f1)} over {best['solutions']:,} solutions.{caution}"
    overlapping = [
        each
        for each in known
        if each is not best and (each["processbench_f1"]["high"] or 0.0) > (f1["low"] or 0.0)
    ]
    n = len(overlapping)
    doubt = f", though {n} {'others come' if n > 1 else 'other comes'} close" if n else ""
    return f"{name(best)} has the highest F1, {_brief(f1)}{doubt}.{caution}"


def _errors(found: Sequence[Plain]) -> Block:
    rows: list[list[Cell]] = []
    for each in found:
        row: list[Cell] = [name(each)]
        for key in (
            "step_recall",
            "step_precision",
            "prm_score",
            "first_error_accuracy",
            "first_error_within_one",
        ):
            row += _interval(each[key])
        rows.append(row)
    columns = ["version"]
    for title in ("errors found", "precision", "PRMScore", "first error, exact", "within one"):
        columns += [title, "low", "high"]
    known = [each for each in found if each["step_recall"]["value"] is not None]
    best = max(known, key=lambda each: each["step_recall"]["value"]) if known else None
    precision = best["step_precision"]["value"] if best else None
    right = "" if precision is None else f"; {precision:.0%} of what it calls an error is one"
    return Block(
        "errors",
        "How many errors do they find, and how often do they cry wolf?",
        f"{name(best)} finds {best['step_recall']['value']:.0%} of people's errors{right}."
        if best
        else "There are no labelled errors yet.",
        {
            "kind": "intervals",
            "rows": [{"name": name(each), **_bounds(each["step_recall"])} for each in known],
        }
        if known
        else None,
        columns,
        rows,
        "The plot shows the error detection rate: the share of people's first errors whose step lies below the "
        "version's threshold. PRMScore is half the F1 of valid steps and half that of errors.",
    )


def _picks(found: Sequence[Plain]) -> Block:
    hows = [how.value for how in Aggregate]
    rows: list[list[Cell]] = []
    for each in found:
        picks = each["best_of_n"]
        rows.append(
            [name(each), picks["min"]["n"], round(picks["n"], 1)]
            + [picks[how]["value"] for how in (*hows, "random", "oracle")]
        )
    told = [
        (each["best_of_n"][how]["value"], how, each)
        for each in found
        for how in hows
        if each["best_of_n"][how]["value"] is not None
    ]
    value, how, best = max(told, key=lambda one: one[0])
    lot = best["best_of_n"]["random"]["value"]
    plot = [
        {"name": f"{name(best)}, {each}", **_bounds(best["best_of_n"][each])}
        for each in (*hows, "random", "oracle")
    ]
    return Block(
        "best-of-n",
        "Do they pick right answers?",
        f"Picked by {name(best)} ({how}), {value:.0%} of answers are right; drawn by lot, {lot:.0%}.",
        {"kind": "intervals", "rows": plot},
        ["version", "problems", "candidates each", *hows, "by lot", "any right"],
        rows,
        "Best of N: of all solutions to a problem the one with the highest value is taken, by minimum, product, mean "
        "or last step. Only problems with two candidates or more whose answers are known.",
    )


def _reliability(one: Plain) -> Block:
    bins = one["reliability"]
    rows = [
        {"x": _bin(each), "value": each[key], "series": series}
        for series, key in (("people call correct", "correct"), ("the scorer says", "said"))
        for each in bins
    ]
    ece = one["intervals"]["ece"]
    return Block(
        f"reliability-{one['scorer']}-{one['version']}",
        f"Does {name(one)} mean what it says?",
        f"It is off by {100 * ece['value']:.0f} points on average (ECE) over {ece['n']:,} steps."
        if ece["value"] is not None
        else "It has scored no step of known truth yet.",
        {"kind": "line", "rows": rows, "x": "value of the step"} if rows else None,
        ["value", "mean value", "people call correct", "steps"],
        [[_bin(each), each["said"], each["correct"], each["n"]] for each in bins],
        "A reliability diagram: where both lines meet, steps of that value are correct as often as it says.",
    )


def _bin(each: Plain) -> str:
    return f"{each['low']:.2g}\u2013{each['high']:.2g}"


def _unseen(one: Plain) -> Cell:
    return None if one["without_overlap"] is None else one["without_overlap"]["processbench_f1"]["value"]


def _bounds(figure: Plain) -> dict[str, float | None]:
    return {key: figure[key] for key in ("value", "low", "high")}


def _interval(figure: Plain) -> list[Cell]:
    return [figure["value"], figure["low"], figure["high"]]


def _brief(figure: Plain) -> str:
    interval = f" ({figure['low']:.2f}\u2013{figure['high']:.2f})" if figure["low"] is not None else ""
    return f"{figure['value']:.2f}{interval}"
