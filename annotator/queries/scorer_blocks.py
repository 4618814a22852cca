"""Scorers beside people as a page shows them: answers in sentences, plots, and the plots' tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotator.core.calibration import MIN_SOLUTIONS
from annotator.core.intervals import Figure
from annotator.queries.quality.blocks import Block, Cell
from annotator.queries.scorer_report import Compared, Comparison, Drift

#: Solutions below which a group's gap is not called a gap.
FEW = 20
#: A scorer whose mean value lies so far above people's share of correct steps is kinder than they are.
KIND = 0.05


def blocks(found: Comparison) -> list[Block]:
    """The comparison, then four blocks for each scorer. Empty without labels to go by."""
    if not found.scorers:
        return []
    each = [
        block
        for one in found.scorers
        for block in (_reliability(one), _calibration(one), _distribution(one), _drift(one))
    ]
    return [_compared(found), *each]


def _compared(found: Comparison) -> Block:
    known = [one for one in found.scorers if one.f1.value is not None]
    if known:
        best = max(known, key=lambda one: one.f1.value or 0.0)
        sentence = (
            f"{best.scorer} finds people's first error best: F1 {_brief(best.f1)} over {best.solutions:,} solutions."
            if len(known) > 1
            else f"{best.scorer} has an F1 of {_brief(best.f1)} over {best.solutions:,} solutions."
        )
    else:
        sentence = "There is no F1 yet: it needs labelled solutions with an error and without one."
    rows: list[list[Cell]] = []
    for one in found.scorers:
        row: list[Cell] = [one.scorer, one.solutions, one.f1.value, one.f1.low, one.f1.high, one.erroneous]
        row += [one.sound, one.auc.value, one.auc.low, one.auc.high]
        row += [one.brier.value, one.brier.low, one.brier.high, one.ece.value, one.ece.low, one.ece.high]
        rows.append(row)
    columns = ["scorer", "solutions", "F1", "low", "high", "erroneous", "sound"]
    columns += ["step AUC", "low", "high", "Brier", "low", "high", "ECE", "low", "high"]
    plot = [_row(one.scorer, one.f1) for one in known]
    return Block(
        "compared",
        "Which scorer sees what people see?",
        sentence,
        {"kind": "intervals", "rows": plot} if plot else None,
        columns,
        rows,
        f"ProcessBench F1 on {found.prefix:,} solutions of the audit prefix and {found.holdout:,} of the holdout, with "
        "95 % intervals by problem: the harmonic mean of the shares of exact first errors (erroneous) and of none "
        "where there is none (sound). Step figures run up to people's first error.",
    )


def _reliability(one: Compared) -> Block:
    rows = [
        {"x": each.name, "value": value, "series": series}
        for series, name in (("people call correct", "correct"), ("the scorer says", "said"))
        for each in one.bins
        for value in [getattr(each, name)]
    ]
    sentence = (
        f"{one.scorer} is off by {100 * one.ece.value:.0f} points on average (ECE), over {one.ece.n:,} steps."
        if one.ece.value is not None
        else f"{one.scorer} has scored no labelled step yet."
    )
    return Block(
        f"reliability-{one.scorer}",
        f"Does {one.scorer} mean what it says?",
        sentence,
        {"kind": "line", "rows": rows, "x": "value of the step"} if rows else None,
        ["value", "mean value", "people call correct", "steps"],
        [[each.name, each.said, each.correct, each.n] for each in one.bins],
        "A reliability diagram: where both lines meet, steps of that value are correct as often as it says.",
    )


def _calibration(one: Compared) -> Block:
    found = one.calibrated
    rows = [
        {"x": each.name, "value": each.correct, "series": series}
        for series, bins in (("as it says it", one.bins), ("set right", found.bins))
        for each in bins
    ]
    table: list[list[Cell]] = [
        [series, each.name, each.said, each.correct, each.n]
        for series, bins in (("as it says it", one.bins), ("set right", found.bins))
        for each in bins
    ]
    known = found.ece is not None and found.ece.value is not None
    return Block(
        f"calibration-{one.scorer}",
        f"What are {one.scorer}'s values worth once they are set right?",
        _set_right(one),
        {"kind": "line", "rows": rows, "x": "value of the step"} if known else None,
        ["values", "value", "mean value", "people call correct", "steps"] if known else [],
        table if known else [],
        "Fitted on the audit prefix, never on the holdout, and used for the order of the queue. Each value is shown as "
        "a map has it that never saw its problem. The straight line from lower left to upper right is right."
        if known
        else "",
    )


def _set_right(one: Compared) -> str:
    found = one.calibrated
    if found.ece is None or found.ece.value is None or one.ece.value is None:
        more = max(0, MIN_SOLUTIONS - found.solutions)
        return (
            f"Its values are taken as they come: setting them right needs {MIN_SOLUTIONS} labelled solutions of the "
            f"audit prefix, {found.solutions} are there."
            if more
            else "Its values are taken as they come; a worker sets them right with the next report."
        )
    return (
        f"Set right by {found.fitted_on:,} labelled solutions, {one.scorer} is off by {_points(found.ece)} on average "
        f"(ECE) instead of {_points(one.ece)}."
    )


def _points(figure: Figure) -> str:
    """In hundredths, with its interval."""
    interval = f" ({100 * figure.low:.0f}–{100 * (figure.high or 0.0):.0f})" if figure.low is not None else ""
    return f"{100 * (figure.value or 0.0):.0f} points{interval}"


def _distribution(one: Compared) -> Block:
    total = sum(each.n for each in one.bins) or 1
    wrong = sum(round((1 - each.correct) * each.n) for each in one.bins)
    high = sum(round((1 - each.correct) * each.n) for each in one.bins if each.said >= 0.5)
    rows = [
        {"x": each.name, "value": value, "series": series}
        for series, of in (("correct steps", 1), ("incorrect steps", 0))
        for each in one.bins
        for value in [(each.correct if of else 1 - each.correct) * each.n / total]
    ]
    sentence = (
        f"{high:,} of {wrong:,} incorrect steps have a value of one half or more from {one.scorer}."
        if wrong
        else f"No step that {one.scorer} scored was called incorrect."
    )
    return Block(
        f"distribution-{one.scorer}",
        f"How far apart does {one.scorer} set correct and incorrect steps?",
        sentence,
        {"kind": "line", "rows": rows, "x": "value of the step"} if rows else None,
        ["value", "share of steps", "of them incorrect", "steps"],
        [[each.name, each.n / total, 1 - each.correct, each.n] for each in one.bins],
    )


def _drift(one: Compared) -> Block:
    groups = _groups(one)
    kinder = [each for _, each in groups if each.n >= FEW and (each.gap or 0.0) > KIND]
    worst = max(kinder, key=lambda each: each.gap or 0.0) if kinder else None
    sentence = (
        f"{one.scorer} is kinder than people to {worst.name}: a mean value of {worst.said:.2f}, while people call "
        f"{100 * (worst.correct.value or 0.0):.0f} % of those steps correct. Has a policy learned to please it?"
        if worst
        else f"No generator or month with {FEW} solutions gets much better scores from {one.scorer} than from people."
    )
    rows = _drift_rows(one)
    return Block(
        f"drift-{one.scorer}",
        f"Is {one.scorer} fooled by somebody, or more and more?",
        sentence,
        {"kind": "line", "rows": rows, "x": "month" if len(one.months) > 1 else "generator"}
        if rows
        else None,
        ["by", "group", "mean value", "people call correct", "low", "high", "gap", "solutions"],
        _drift_table(one),
    )


def _groups(one: Compared) -> list[tuple[str, Drift]]:
    return [("generator", each) for each in one.generators] + [("month", each) for each in one.months]


def _drift_table(one: Compared) -> list[list[Any]]:
    return [
        [
            kind,
            each.name,
            each.said,
            each.correct.value,
            each.correct.low,
            each.correct.high,
            each.gap,
            each.n,
        ]
        for kind, each in _groups(one)
    ]


def _drift_rows(one: Compared) -> list[dict[str, Any]]:
    """Two lines: what people say, with its interval, and what the scorer says."""
    people = [
        {"x": each.name, "value": each.correct.value, "low": each.correct.low, "high": each.correct.high}
        for each in _over(one)
    ]
    said = [{"x": each.name, "value": each.said, "low": None, "high": None} for each in _over(one)]
    return [row | {"series": "people call correct"} for row in people] + [
        row | {"series": "the scorer says"} for row in said
    ]


def _over(one: Compared) -> Sequence[Drift]:
    """Months where there are several, else generators."""
    return one.months if len(one.months) > 1 else one.generators


def _row(name: str, figure: Figure) -> dict[str, Any]:
    return {"name": name, "value": figure.value, "low": figure.low, "high": figure.high}


def _brief(figure: Figure) -> str:
    interval = f" ({figure.low:.2f}–{figure.high:.2f})" if figure.low is not None else ""
    return f"{figure.value:.2f}{interval}"
