"""What changed between two exports."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import orjson
from django.core.management.base import CommandParser

from annotator.core.codecs import CODECS, codec_named
from annotator.core.codecs.detect import FormatNotDetected, detect
from annotator.core.codecs.rows import first_objects
from annotator.core.export_diff import CHANGE_FIELDS, Change, Counts, compare
from annotator.core.export_files import Unreadable, entries_of
from annotator.core.spreadsheet import lines
from annotator.management.base import StepmarkCommand, unusable
from annotator.queries.export_runs import NotComparable, changes


class Command(StepmarkCommand):
    help = (
        "Compare the labels of two exports: flipped, added, retracted. Name two numbers of a project's history, "
        "or two files. Memory doesn't grow with them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("before", metavar="A", help="a number of the history, or a file")
        parser.add_argument("after", metavar="B")
        parser.add_argument("--project", metavar="SLUG", help="whose history the numbers are of")
        parser.add_argument("--format", default="auto", choices=["auto", *CODECS], help="of the files")
        parser.add_argument(
            "--out", type=Path, metavar="FILE", help="every change as JSONL, or CSV by its ending"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        counts = Counts()
        with ExitStack() as stack:
            try:
                found = self._changes(options, counts, stack)
                if options["out"]:
                    _write(found, options["out"])
                else:
                    self._show(found, quiet=options["json"])
            except (NotComparable, Unreadable, FormatNotDetected) as error:
                raise unusable(str(error)) from error
            except OSError as error:
                raise unusable(f"{error.filename} can't be used: {error.strerror}.") from error
        steps, rows = counts.steps, counts.rows
        self.report(
            options,
            counts.to_json(),
            f"{steps['flipped']:,} labels flipped, {steps['added']:,} added, {steps['retracted']:,} retracted in "
            f"{counts.changed:,} rows; {rows['added']:,} rows added, {rows['retracted']:,} retracted; "
            f"{counts.same:,} rows the same.",
        )

    def _changes(self, options: dict[str, Any], counts: Counts, stack: ExitStack) -> Iterator[Change]:
        before, after = options["before"], options["after"]
        if options["project"] is not None:
            if not (before.isdecimal() and after.isdecimal()):
                raise unusable("With --project name two numbers of its history; without it two files.")
            project = self.project(options["project"])
            return changes(project_id=project.pk, before=int(before), after=int(after), counts=counts)
        old = stack.enter_context(Path(before).open("rb"))  # noqa: SIM115  closed by the stack
        new = stack.enter_context(Path(after).open("rb"))  # noqa: SIM115
        return compare(_entries(old, options["format"]), _entries(new, options["format"]), counts)

    def _show(self, found: Iterator[Change], *, quiet: bool) -> None:
        """Every change as a line, for a person on stderr; with --json they are only counted."""
        for change in found:
            if not quiet:
                where = "whole row" if change.step is None else f"step {change.step + 1}"
                self.say(
                    f"{change.id} {change.annotator}{': '}{where} {change.what}: {change.before} → {change.after}"
                )


def _entries(file: BinaryIO, name: str) -> Any:
    if name == "auto":
        name = detect(first_objects(file)).codec.name
        file.seek(0)
    return entries_of(file, codec_named(name))


def _write(found: Iterator[Change], path: Path) -> None:
    if path.suffix == ".csv":
        rows = ([change.what.value, *change[1:]] for change in found)
        content = lines(chain([("change", *CHANGE_FIELDS)], rows))
    else:
        content = (orjson.dumps(change.to_json(), option=orjson.OPT_APPEND_NEWLINE) for change in found)
    if str(path) == "-":
        sys.stdout.buffer.writelines(content)
        return
    with path.open("wb") as file:
        file.writelines(content)
