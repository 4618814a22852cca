"""The report as a page shows it: each block has a question's answer in a sentence, a plot, and the plot's table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from annotator.core.intervals import Figure
from annotator.queries.quality import words
from annotator.queries.quality.shapes import Person, Report, Row

Cell = str | int | float | None

FIGURE = ["value", "low", "high", "solutions"]
#: Pairs that share fewer solutions are grey.
FEW = 20


@dataclass(frozen=True)
class Block:
    """One block. ``plot`` is what quality.js draws, None where there is nothing to draw; ``note`` says how to read
    it. ``columns`` and ``rows`` are the table, also to be had as CSV under ``slug``."""

    slug: str
    title: str
    sentence: str
    plot: dict[str, Any] | None
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    @property
    def plot_json(self) -> str:
        """The plot for a data attribute; the template escapes it."""
        return orjson.dumps(self.plot).decode()


def blocks(report: Report) -> list[Block]:
    """All blocks but the people's, in the order of the page."""
    return [
        _headline(report),
        _over_time(report),
        _depth(report),
        *(_group(report, kind) for kind in ("domain", "subject", "generator")),
        _gold(report),
        _confusion(report),
        _heat(report),
        _truth(report),
        _gold_health(report),
    ]


def effects(report: Report) -> Block:
    """People against the rest."""
    known = [each for each in report.people if each.effect is not None]
    ranked = sorted(known, key=lambda each: each.effect or 0.0)
    rows = [
        {"name": each.pseudonym, "value": each.effect, "low": each.effect_low, "high": each.effect_high}
        for each in ranked
    ]
    return Block(
        "against-the-rest",
        "Does anybody label unlike the others?",
        words.effects(report.people),
        {"kind": "intervals", "rows": rows, "unit": "points", "zero": True} if rows else None,
        ["annotator", "difference", "low", "high", "solutions shared"],
        [[each.pseudonym, each.effect, each.effect_low, each.effect_high, each.effect_n] for each in ranked],
        "Difference from how often people agree on solutions of that length, in points, drawn towards 0 where there "
        "is little to go by. A partner's mistakes touch both, so differences in skill are larger.",
    )


def people_table(people: Sequence[Person]) -> Block:
    """What the people's table holds, for CSV."""
    columns = ["annotator", "role", "state", "standing", "solutions", "hours", "checks", "items right"]
    columns += [
        "low",
        "high",
        "last 30",
        "errors caught",
        "low",
        "high",
        "false alarms per step",
        "low",
        "high",
    ]
    columns += ["cusum", "pace", "too fast", "agrees with self", "passes errors", "quarantined"]
    rows: list[list[Cell]] = []
    for each in people:
        row: list[Cell] = [
            each.pseudonym,
            each.role,
            each.state,
            each.standing,
            each.n,
            each.hours,
            each.checks,
        ]
        row += [each.items.value, each.items.low, each.items.high, each.recent.value]
        row += [each.sensitivity.value, each.sensitivity.low, each.sensitivity.high]
        row += [each.false_alarms.value, each.false_alarms.low, each.false_alarms.high, each.statistic]
        row += [each.pace, each.too_fast, each.consistency.value, "yes" if each.only_correct else "no"]
        rows.append([*row, each.quarantined])
    return Block("people", "Who can be trusted?", words.people(list(people)), None, columns, rows)


def table(report: Report, slug: str) -> Block | None:
    """The block of that name, or None."""
    every = [*blocks(report), effects(report), people_table(report.people)]
    return next((each for each in every if each.slug == slug), None)


def _headline(report: Report) -> Block:
    stop, steps, finish = report.stop, report.steps, report.finish
    named = [
        ("Same first error, or both none", stop.exact),
        ("… by chance", stop.chance),
        ("… share of the rest", stop.corrected),
        ("… within one step", stop.within_one),
        ("Same error, given that one found any", stop.same_error),
        ("Has an error: AC1", stop.has_error_ac1),
        ("Has an error: specific agreement", stop.has_error_specific),
        ("Steps at risk, neutral as correct", steps.neutral_correct),
        ("Steps at risk, neutral as incorrect", steps.neutral_incorrect),
        ("Steps: alpha, neutral as correct", steps.alpha_neutral_correct),
        ("Steps: alpha, neutral as incorrect", steps.alpha_neutral_incorrect),
        ("Same finish reason", finish.exact),
        ("Finish reason: AC1", finish.ac1),
    ]
    return Block(
        "agreement",
        "How far do people agree?",
        words.sample(report),
        _intervals(named),
        ["figure", *FIGURE, "why not"],
        _named_rows(named),
        "Steps after a first error are undefined, so step figures flatter: look at the first line first.",
    )


def _over_time(report: Report) -> Block:
    rows = report.groups.month
    return Block(
        "months",
        "Is it getting better?",
        words.over_time(report),
        _line(rows, "month"),
        ["month", *FIGURE],
        _rows(rows),
    )


def _depth(report: Report) -> Block:
    drawn, rows = [], []
    for each in report.steps.by_depth:
        for series, figure in (
            ("neutral as correct", each.neutral_correct),
            ("neutral as incorrect", each.neutral_incorrect),
        ):
            drawn.append({"x": each.name, "series": series, **_bounds(figure)})
        one, other = each.neutral_correct, each.neutral_incorrect
        rows.append([each.name, *_cells(one)[:3], *_cells(other)])
    return Block(
        "depth",
        "Do people agree less on later steps?",
        words.steps(report),
        {"kind": "line", "rows": drawn, "x": "step"} if drawn else None,
        ["step", "neutral as correct", "low", "high", "neutral as incorrect", "low", "high", "solutions"],
        rows,
        "Only steps that both people reached.",
    )


def _group(report: Report, kind: str) -> Block:
    rows: list[Row] = getattr(report.groups, kind)
    return Block(
        kind,
        f"Does it depend on the {kind}?",
        words.by_group(report, kind),
        _intervals([(row.name, row.figure) for row in rows]) if len(rows) > 1 else None,
        [kind, *FIGURE],
        _rows(rows),
    )


def _gold(report: Report) -> Block:
    against, people = report.gold.gold, report.gold.people
    named = [
        ("Same first error as gold", against.exact),
        ("… among people", people.exact),
        ("… share beyond chance, gold", against.corrected),
        ("… share beyond chance, people", people.corrected),
        ("Has an error: AC1 with gold", against.has_error_ac1),
        ("… among people", people.has_error_ac1),
        ("Same error, given one, with gold", against.same_error),
        ("… among people", people.same_error),
    ]
    return Block(
        "gold", "Do people find what gold holds?", words.gold(report), _intervals(named),
        ["figure", *FIGURE, "why not"], _named_rows(named),
    )  # fmt: skip


def _confusion(report: Report) -> Block:
    names = ["incorrect", "neutral", "correct"]
    total = [max(sum(row), 1) for row in report.confusion]
    cells = [
        {
            "row": gold,
            "column": said,
            "value": report.confusion[at][to] / total[at],
            "n": report.confusion[at][to],
        }
        for at, gold in enumerate(names)
        for to, said in enumerate(names)
    ]
    drawn = {"kind": "heat", "rows": cells, "names": names, "few": 0, "down": "gold", "across": "said"}
    return Block(
        "confusion",
        "What is taken for what?",
        words.confusion(report),
        drawn if sum(map(sum, report.confusion)) else None,
        ["gold", *(f"said {name}" for name in names)],
        [[name, *row] for name, row in zip(names, report.confusion, strict=True)],
        "A row is what gold accepts, a column what people said; shares are of the row.",
    )


def _heat(report: Report) -> Block:
    heat, cells, rows = report.heat, [], []
    for at, one in enumerate(heat.names):
        for to, other in enumerate(heat.names):
            if at != to and heat.n[at][to]:
                cells.append({"row": one, "column": other, "value": heat.kappa[at][to], "n": heat.n[at][to]})
            if to < at and heat.n[at][to]:
                rows.append([one, other, heat.kappa[at][to], heat.n[at][to]])
    drawn = {"kind": "heat", "rows": cells, "names": heat.names, "few": FEW, "unit": "kappa"}
    return Block(
        "pairs",
        "Which two people see things differently?",
        words.heat(report),
        drawn if cells else None,
        ["annotator", "and", "kappa", "solutions"],
        rows,
        f"Kappa on whether there is an error. Pairs with fewer than {FEW} shared solutions are grey.",
    )


def _truth(report: Report) -> Block:
    these = report.truth
    named = [
        ("Have an error, by the audit prefix", these.audit_mean),
        ("Have an error, plain mean of the queue", these.naive_mean),
        ("Wrong labels, by blind second labels", these.noise_reannotation),
        ("Wrong labels, by blind decisions", these.noise_adjudication),
    ]
    return Block(
        "truth", "How many errors are there, and how many labels are wrong?", words.truth(report),
        _intervals(named), ["figure", *FIGURE, "why not"], _named_rows(named), words.noise(report),
    )  # fmt: skip


def _gold_health(report: Report) -> Block:
    these = report.gold_health
    rows: list[list[Cell]] = [
        ["hidden checks", these.hidden],
        ["exam items", these.exam],
        ["practice items", these.practice],
        ["retired", these.retired],
        ["share of hidden checks with an error", these.with_error.value],
        ["unseen by the person who has had most", these.least_unseen],
        ["unseen by people on average", these.mean_unseen],
        ["days left at the present pace", these.days_left],
    ]
    rows += [[f"suspect: {each.external_id}", f"{each.right} of {each.of} right"] for each in these.suspects]
    share = these.with_error.value
    low = share is not None and share < 0.4
    note = f"Only {words.percent(share or 0.0)} of hidden checks have an error; 40 % or more tell who passes errors."
    return Block(
        "gold-health", "Is there enough good gold?", words.gold_health(these), None, ["gold", "now"], rows,
        note if low else "",
    )  # fmt: skip


def _intervals(named: Sequence[tuple[str, Figure]]) -> dict[str, Any] | None:
    rows = [{"name": name, **_bounds(figure)} for name, figure in named if figure.value is not None]
    return {"kind": "intervals", "rows": rows, "unit": "share"} if rows else None


def _line(rows: Sequence[Row], x: str) -> dict[str, Any] | None:
    known = [
        {"x": row.name, "series": "", **_bounds(row.figure)} for row in rows if row.figure.value is not None
    ]
    return {"kind": "line", "rows": known, "x": x} if len(known) > 1 else None


def _bounds(figure: Figure) -> dict[str, Any]:
    return {"value": figure.value, "low": figure.low, "high": figure.high, "n": figure.n}


def _cells(figure: Figure) -> list[Cell]:
    return [figure.value, figure.low, figure.high, figure.n]


def _rows(rows: Sequence[Row]) -> list[list[Cell]]:
    return [[row.name, *_cells(row.figure)] for row in rows]


def _named_rows(named: Sequence[tuple[str, Figure]]) -> list[list[Cell]]:
    return [
        [name, *_cells(figure), words.why(figure) if figure.value is None else ""] for name, figure in named
    ]
