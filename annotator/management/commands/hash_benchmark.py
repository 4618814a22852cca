"""Learn the problems of a benchmark by their hashes, and mark those that projects hold."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotator.actions import benchmarks
from annotator.actions.benchmarks import BadName
from annotator.actions.imports import Source
from annotator.core.codecs import UnknownFormat
from annotator.core.codecs.detect import FormatNotDetected
from annotator.management.base import StepmarkCommand, unusable


class Command(StepmarkCommand):
    help = (
        "Keep the hashes of a benchmark's problems (their text is not kept) and mark the problems of all projects that "
        "it holds. Imports mark new ones; exports can leave marked ones out. The same file again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)
        parser.add_argument("--name", required=True, help="what the benchmark is called, such as MATH-500")
        parser.add_argument(
            "--format",
            default="auto",
            choices=list(benchmarks.formats()),
            help=f"'{benchmarks.PLAIN}' is a list of problems without solutions: the text stands under one of "
            f"{', '.join(benchmarks.FIELDS)}",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        filename = os.fsencode(path.name).decode(errors="replace")
        try:
            with path.open("rb") as file:
                done = benchmarks.add(source=Source(file, filename, options["format"]), name=options["name"])
        except OSError as error:
            raise unusable(f"{path} can't be read: {error.strerror}.") from error
        except (BadName, UnknownFormat, FormatNotDetected) as error:
            raise unusable(str(error)) from error
        values = {
            "read": done.read,
            "problems": done.problems,
            "new": done.new,
            "rejected": done.rejected,
            "marked": done.marked,
        }
        self.report(
            options,
            values,
            f"Read {done.read:,} rows: {done.problems:,} different problems, {done.new:,} of them new, "
            f"{done.rejected:,} rows without one. {done.marked:,} problems of the projects here are marked as "
            f"{options['name']}.",
        )
        if done.rejected:
            sys.exit(1)
