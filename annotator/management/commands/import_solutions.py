"""Import solutions from a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandParser

from annotator.actions import access, imports
from annotator.actions.import_rows import LabelsAs
from annotator.actions.imports import CannotGoOn, Overtaken, Report, Source
from annotator.core.codecs import CODECS, UnknownFormat
from annotator.core.codecs.detect import FormatNotDetected
from annotator.core.segmentation import Rule
from annotator.management.base import Bar, StepmarkCommand, unusable
from annotator.models import Project

SHOWN_ERRORS = 20


def _updated(report: Report) -> str:
    return f" ({report.updated:,} of them brought up to date)" if report.updated else ""


def _halted(report: Report) -> str:
    """Where somebody stopped it on the page."""
    return {
        "paused": f" It is paused; go on with --resume {report.batch}.",
        "cancelled": " It was cancelled.",
    }.get(report.state, "")


class Command(StepmarkCommand):
    help = (
        "Read solutions from JSONL, a JSON array, gzip or a zip of such files. Good rows are kept; each bad one is "
        "named with its line and field."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", type=Path)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", default="auto", choices=["auto", *CODECS])
        parser.add_argument(
            "--labels", default=LabelsAs.REFERENCE.value, choices=[each.value for each in LabelsAs]
        )
        parser.add_argument("--segment", default=Rule.AUTO.value, choices=[rule.value for rule in Rule])
        parser.add_argument(
            "--update",
            action="store_true",
            help="replace metadata of solutions that are known already; otherwise only gaps are filled",
        )
        parser.add_argument(
            "--resume",
            type=int,
            metavar="BATCH",
            help="go on with an import of this file that was broken off; it is read as it was begun",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        path: Path = options["file"]
        try:
            with path.open("rb") as file:
                report = self._import(file, path, project, options)
        except OSError as error:
            raise unusable(f"{path} can't be read: {error.strerror}.") from error
        for bad in report.errors[:SHOWN_ERRORS]:
            where = f"{path.name}, {bad.part}" if bad.part else path.name
            self.say(f"{where}, line {bad.line}{f', {bad.field}' if bad.field else ''}: {bad.message}")
        if report.rejected > SHOWN_ERRORS:
            self.say(f"… and {report.rejected - SHOWN_ERRORS:,} more; --json lists the first 1,000.")
        values = {
            "read": report.read,
            "imported": report.imported,
            "duplicates": report.duplicates,
            "updated": report.updated,
            "rejected": report.rejected,
            "errors": [each.to_json() for each in report.errors],
            "batch": report.batch,
            "format": report.format,
        }
        self.report(
            options,
            values,
            f"Read {report.read:,} rows as {report.format} ({report.reason}): {report.imported:,} imported, "
            f"{report.duplicates:,} already there{_updated(report)}, {report.rejected:,} rejected.{_halted(report)}",
        )
        if report.rejected or report.state != "done":
            sys.exit(1)

    def _import(self, file: BinaryIO, path: Path, project: Project, options: dict[str, Any]) -> Report:
        bar, size = Bar(self), path.stat().st_size

        def show(report: Report) -> None:
            bar.show(f"{report.read:,} rows, {report.rejected:,} rejected", file.tell(), size)

        source = Source(
            file=file,
            filename=os.fsencode(path.name).decode(errors="replace"),  # a name may be any bytes
            format=options["format"],
            labels_as=LabelsAs(options["labels"]),
            segment_rule=options["segment"],
            overwrite=options["update"],
            size=size,
        )
        actor = access.operator(project)
        try:
            if options["resume"] is not None:
                return imports.resume(actor=actor, batch_id=options["resume"], source=source, progress=show)
            return imports.run(actor=actor, source=source, progress=show)
        except (UnknownFormat, FormatNotDetected, CannotGoOn) as error:
            raise unusable(str(error)) from error
        except Overtaken as error:
            raise unusable("Another process goes on with this import; this one has stopped.") from error
        finally:
            bar.close()
