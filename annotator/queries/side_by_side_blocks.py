"""Sources side by side as a page and as files: answers in sentences, a plot with its table, and rows by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from annotator.core.intervals import Figure
from annotator.models import Project
from annotator.queries.label_sources import versions_in_force
from annotator.queries.quality.blocks import Block, Cell
from annotator.queries.side_by_side import PEOPLE, Agreement, SideBySide, estimates, settled
from annotator.scorers.base import UTILITY

#: Columns of the file, one row a step.
COLUMNS = (
    "solution", "domain", "step", "people", "adjudicated", "measures", "estimate", "tried", "right", "parts",
)  # fmt: skip


def headline(found: SideBySide) -> str:
    """Whether utility and correctness part, in a sentence."""
    table = found.table
    if not found.estimate:
        return "There is no Monte-Carlo estimate yet: a scorer of that kind sets how steps end beside what people say."
    if not table.total:
        return f"{found.estimate} has valued no step yet on which people's word is final."
    share = 100 * table.parting / table.total
    return (
        f"Utility and correctness part on {table.parting:,} of {table.total:,} steps ({share:.0f} %): "
        f"{table.wrong_ends_well:,} that people call incorrect may still end well, {table.sound_does_not:,} that they "
        "call sound never do."
    )


def agreement(found: SideBySide) -> Block:
    """How often each source puts the first error where adjudicators do."""
    known = [one for one in found.agreements if one.total.value is not None]
    correct = [one for one in known if one.measures != UTILITY and one.name != PEOPLE]
    best = max(correct, key=lambda one: one.total.value or 0.0, default=None)
    people = next((one for one in known if one.name == PEOPLE), None)
    said = [f"people agree with adjudicators on {_percent(people.total)}"] if people else []
    said += [f"{best.name}, the closest scorer, on {_percent(best.total)}"] if best else []
    sentence = (
        _capital(" and ".join(said)) + " of what was adjudicated."
        if said
        else "Nothing that was adjudicated has been judged by a source yet."
    )
    return Block(
        "agreement",
        "Which source says what adjudicators say?",
        sentence,
        {"kind": "intervals", "rows": [_row(one) for one in known]} if known else None,
        ["source", "kind", "measures", "by", "group", "exact stop", "low", "high", "solutions"],
        [row for one in found.agreements for row in _rows(one)],
        f"Exact place of the first error, or none where there is none, on {found.adjudicated:,} adjudicated solutions, "
        "with 95 % intervals by problem. What goes to adjudication is harder than the rest. Monte-Carlo measures "
        "utility: what it says is set beside correctness here, and is none.",
    )


def _row(one: Agreement) -> dict[str, Any]:
    name = f"{one.name} (utility)" if one.measures == UTILITY else one.name
    return {"name": name, "value": one.total.value, "low": one.total.low, "high": one.total.high}


def _rows(one: Agreement) -> list[list[Cell]]:
    groups = [("all", "", one.total)]
    groups += [("domain", name, figure) for name, figure in one.domains]
    groups += [("first error", name, figure) for name, figure in one.depths]
    return [
        [one.name, one.source, one.measures, by, name, figure.value, figure.low, figure.high, figure.n]
        for by, name, figure in groups
    ]


def _percent(figure: Figure) -> str:
    interval = f" ({100 * figure.low:.0f}–{100 * (figure.high or 0):.0f})" if figure.low is not None else ""
    return f"{100 * (figure.value or 0.0):.0f} %{interval}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def rows(project: Project) -> Iterator[dict[str, Any]]:
    """One row for each step that people judged and the estimate valued, for a file; without texts."""
    versions = versions_in_force(project.pk)
    names = dict(project.solutions.values_list("pk", "external_id"))
    for people, steps, _ in estimates(settled(project), versions):
        for step in steps:
            if step.label is None or step.utility is None:
                continue
            row: Sequence[Any] = (
                names[people.solution] or f"#{people.solution}",
                people.domain,
                step.index,
                step.label,
                people.adjudicated,
                UTILITY,
                step.utility,
                step.tried,
                step.right,
                step.parts,
            )
            yield dict(zip(COLUMNS, row, strict=True))
