"""How far people agree, and with gold."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotator.actions import quality
from annotator.management.base import StepmarkCommand
from annotator.queries.quality.plain import values
from annotator.queries.quality.words import headline


class Command(StepmarkCommand):
    help = "Report agreement among people and with gold, over the audit prefix and the holdout."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--project", required=True, metavar="SLUG")

    def handle(self, *args: Any, **options: Any) -> None:
        report = quality.report(project=self.project(options["project"])).report
        self.report(options, values(report), headline(report))
