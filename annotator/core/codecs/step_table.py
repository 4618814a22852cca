"""CSV for analysis: one row a step, for a spreadsheet or a data frame. It is written, never read back."""

from __future__ import annotations

from collections.abc import Iterator

from annotator.core.codecs.base import ExportRow
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy
from annotator.core.solutions import SolutionRecord
from annotator.core.spreadsheet import Cell, lines

OF_SOLUTION = (
    "solution",
    "problem",
    "domain",
    "subject",
    "model",
    "answer_correct",
    "split",
    "label_source",
    "annotator",
    "people",
    "first_error",
    "posterior",
    "weight",
)
OF_STEP = ("step", "kind", "judged", "start", "end", "label", "soft", "said_right", "said_wrong")
SCORED = ("scorer", "value")
COLUMNS = (*OF_SOLUTION, *OF_STEP, *SCORED, "text")


class StepTable:
    """A table of steps. ``start`` and ``end`` are character offsets in the solution's text as it was before it was
    cut: all texts with their separators, joined. ``said_right`` and ``said_wrong`` count current, counted labels."""

    name = "csv"
    label_semantics = "1: valid and useful; 0: valid, adds nothing; -1: incorrect; empty: not judged"
    has_neutral = True
    carries_soft = True
    neutral_policies: frozenset[NeutralPolicy] = frozenset()
    after_first_error_policies: frozenset[AfterFirstErrorPolicy] = frozenset()
    lost_fields: tuple[str, ...] = (
        "problem.text, problem.answer, problem.solution",
        "generator but its model",
        "steps.sep, steps.alternatives",
        "final_answer, mode, annotations, gold, selection, flags, meta",
        "scores of all but the newest version that measures correctness",
    )

    def head(self) -> bytes:
        """The names of the columns."""
        return next(lines([COLUMNS]))

    def write(self, row: ExportRow) -> list[bytes]:
        """The lines of one solution, one a step."""
        return list(lines(_rows(row)))


def _rows(row: ExportRow) -> Iterator[list[Cell]]:
    record = row.record
    labels = record.labels or [None] * len(record.steps)
    counted = [each.labels for each in record.annotations if each.counted]
    scored = next((each for each in reversed(row.scores) if each.measures == "correctness"), None)
    common, start = _of_solution(row), 0
    for index, step in enumerate(record.steps):
        end = start + len(step.text)
        said = [each[index] for each in counted if each[index] is not None]
        yield [
            *common,
            index,
            step.kind,
            int(step.judged),
            start,
            end,
            labels[index],
            row.soft[index] if row.soft else None,
            sum(each != -1 for each in said),
            sum(each == -1 for each in said),
            f"{scored.scorer} {scored.version}" if scored else None,
            scored.values[index] if scored else None,
            step.text,
        ]
        start = end + len(step.sep)


def _of_solution(row: ExportRow) -> list[Cell]:
    record = row.record
    problem, counted = record.problem, [each for each in record.annotations if each.counted]
    posterior = row.consensus.posterior if row.consensus else None
    return [
        record.external_id,
        problem.external_id,
        problem.domain,
        problem.subject,
        str(record.generator.get("model", "")),
        None if record.answer_correct is None else int(record.answer_correct),
        row.split,
        row.label_source,
        _only_one(record),
        len({each.annotator for each in counted}),
        record.first_error,
        posterior if isinstance(posterior, int | float) else None,
        row.weight,
    ]


def _only_one(record: SolutionRecord) -> str | None:
    """Who said these labels, where one person did."""
    same = {each.annotator for each in record.annotations if each.counted and each.labels == record.labels}
    others = {each.annotator for each in record.annotations if each.counted} - same
    return next(iter(same)) if len(same) == 1 and not others else None
