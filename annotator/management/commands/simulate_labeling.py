"""Replay human-labelled data as if its labels were bought in some order."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotator.core.codecs import CODECS, UnknownFormat, codec_named
from annotator.core.codecs.base import ImportRow
from annotator.core.codecs.detect import FormatNotDetected, detect
from annotator.core.codecs.rows import first_objects, read_rows
from annotator.core.replay.curves import BUDGETS
from annotator.core.replay.orders import Order
from annotator.core.replay.pace import Pace, TooFewTimes, in_seconds
from annotator.core.replay.plot import svg
from annotator.core.replay.report import Simulated, simulate
from annotator.core.replay.table import Fitted, Table, Unreplayable, out_of_fold
from annotator.core.replay.text import plain, tables
from annotator.core.solutions import SolutionRecord
from annotator.management.base import Bar, StepmarkCommand, unusable
from annotator.queries.pace import pace
from annotator.scorers.builtin.learner import BuiltinLearner, replayable, tabled

SEEDS = 5


class Command(StepmarkCommand):
    help = (
        "Replay human-labelled solutions as if labels were bought in some order, always from a cold start: 70 % of "
        "the problems can be bought, the others measure what was learnt. Prints curves against random and an oracle."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="several are taken as one")
        parser.add_argument("--format", default="auto", metavar="NAME", help=f"auto, {', '.join(CODECS)}")
        parser.add_argument(
            "--strategy", default=Order.UNCERTAINTY.value, choices=[each.value for each in Order]
        )
        parser.add_argument(
            "--budget",
            nargs="+",
            type=float,
            metavar="SHARE",
            help="shares of what judging the whole pool costs, above 0 and up to 1; several are points of the curves",
        )
        parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help="splits to average over")
        parser.add_argument(
            "--answers",
            action="store_true",
            help="the strategy mistakes may know whether the final answer is right (the scorer never does)",
        )
        parser.add_argument("--project", metavar="SLUG", help="budgets also in seconds, at its people's pace")
        parser.add_argument("--plot", type=Path, metavar="PATH", help="write the curves as an SVG file")

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        budgets = _budgets(options["budget"])
        if not 1 <= options["seeds"] <= 1_000:
            raise unusable("--seeds is a number from 1 to 1000.")
        measured = self._pace(options["project"])
        records = self._records(options["files"], options["format"])
        try:
            learner, table, given = self._prepared(records, options["answers"])
            runs = [self._run("steps", table, learner, given, budgets, options)]
            if measured is not None:
                timed = in_seconds(table, given, measured)
                runs.append(self._run("seconds", timed, learner, given, budgets, options))
        except Unreplayable as error:
            raise unusable(str(error)) from error
        if options["plot"]:
            _write(options["plot"], svg(runs[-1]))
        values = {
            "files": [path.name for path in options["files"]],
            "solutions": len(table),
            "problems": int(table.problem.max()) + 1,
            "steps": int(table.at_risk.sum()),
            "answers_known": int((table.answer >= 0).sum()),
            **plain(runs[0]),
            "in_seconds": plain(runs[1]) if measured is not None else None,
            "took_seconds": round(time.monotonic() - started, 1),
        }
        self.report(options, values, _said(values, runs, measured))

    def _prepared(self, records: list[SolutionRecord], answers: bool) -> tuple[BuiltinLearner, Table, Fitted]:
        """Features once, and what a scorer says of problems that it was not trained on."""
        bar = Bar(self)
        known = [record for record in records if replayable(record)]
        if not known:
            raise Unreplayable("There is no solution whose first error is known.")
        learner = BuiltinLearner(known, lambda n: bar.show("reading steps", n, len(known)))
        bar.close()
        table = tabled(known, learner, answers=answers)
        return learner, table, out_of_fold(table, learner)

    def _run(
        self,
        unit: str,
        table: Table,
        learner: BuiltinLearner,
        given: Fitted,
        budgets: list[float],
        options: dict[str, Any],
    ) -> Simulated:
        bar = Bar(self)
        try:
            return simulate(
                table,
                learner,
                given,
                Order(options["strategy"]),
                budgets=budgets,
                seeds=options["seeds"],
                unit=unit,
                progress=lambda done, total: bar.show(f"replays, budgets in {unit}", done, total),
            )
        finally:
            bar.close()

    def _records(self, files: list[Path], format_name: str) -> list[SolutionRecord]:
        """All solutions of the files, each once. What can't be read is named on stderr and left out."""
        found: dict[bytes, SolutionRecord] = {}
        for path in files:
            try:
                with path.open("rb") as file:
                    auto = format_name == "auto"
                    codec = detect(first_objects(file)).codec if auto else codec_named(format_name)
                    file.seek(0)
                    for row in read_rows(file, codec):
                        if isinstance(row, ImportRow):
                            found.setdefault(row.record.content_hash(), row.record)
                        else:
                            self.say(f"{path.name}, line {row.line}: {row.message}")
            except OSError as error:
                raise unusable(f"{path} can't be read: {error.strerror}.") from error
            except (UnknownFormat, FormatNotDetected) as error:
                raise unusable(f"{path}: {error}") from error
        return list(found.values())

    def _pace(self, slug: str | None) -> Pace | None:
        if slug is None:
            return None
        try:
            return pace(self.project(slug))
        except TooFewTimes as error:
            raise unusable(str(error)) from error


def _budgets(given: list[float] | None) -> list[float]:
    budgets = sorted(set(given or BUDGETS))
    if not all(0.0 < each <= 1.0 for each in budgets):
        raise unusable("A budget is a share of the pool's cost, above 0 and up to 1.")
    return budgets


def _write(path: Path, content: str) -> None:
    try:
        path.write_text(content, encoding="utf-8")
    except OSError as error:
        raise unusable(f"{path} can't be written: {error.strerror}.") from error


def _said(values: dict[str, Any], runs: list[Simulated], measured: Pace | None) -> str:
    head = (
        f"Strategy {values['strategy']} on {values['solutions']:,} solutions of {values['problems']:,} problems, "
        f"{values['steps']:,} steps up to their first errors; the order knows {values['answers_known']:,} "
        f"final answers; {values['took_seconds']} s."
    )
    parts = [head, tables(runs[0])]
    if measured is not None:
        parts.append(
            f"The same in seconds: {measured.per_solution:.1f} s a solution, {measured.per_step:.1f} s a judged step "
            f"and {measured.per_nat:.1f} s for each nat of its entropy, over {measured.n:,} annotations."
        )
        parts.append(tables(runs[1]))
    return "\n\n".join(parts)
