"""Import solutions from a file."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandParser

from annotator.actions import access, imports
from annotator.actions.import_rows import LabelsAs
from annotator.actions.imports import Report, Source
from annotator.core.codecs import CODECS, UnknownFormat
from annotator.core.codecs.detect import FormatNotDetected
from annotator.core.segmentation import Rule
from annotator.management.base import Bar, StepmarkCommand, unusable
from annotator.models import Project

SHOWN_ERRORS = 20


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
            "rejected": report.rejected,
            "errors": [each.to_json() for each in report.errors],
            "batch": report.batch,
            "format": report.format,
        }
        self.report(
            options,
            values,
            f"Read {report.read:,} rows as {report.format} ({report.reason}): {report.imported:,} imported, "
            f"{report.duplicates:,} already there, {report.rejected:,} rejected.",
        )
        if report.rejected:
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
        )
        actor = access.operator(project)
        try:
            return imports.run(actor=actor, source=source, progress=show)
        except (UnknownFormat, FormatNotDetected) as error:
            raise unusable(str(error)) from error
        finally:
            bar.close()
