"""Say why a solution came to a person."""

from __future__ import annotations

import uuid
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandParser

from annotator.management.base import StepmarkCommand, unusable
from annotator.queries.explaining import NoSuchAssignment, explained


class Command(StepmarkCommand):
    help = "Say in one sentence by which route, strategy, score and rank an assignment came to its person."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("assignment", metavar="ASSIGNMENT", help="the id of an assignment")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            found = explained(uuid.UUID(options["assignment"]))
        except ValueError:
            raise unusable(f"'{options['assignment']}' is no assignment's id.") from None
        except NoSuchAssignment as error:
            raise unusable(str(error)) from error
        self.report(options, asdict(found), found.sentence)
