"""Cut solutions anew by a rule."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from annotator.actions import access, recutting
from annotator.actions.reserving import NothingChosen, Where
from annotator.core.segmentation import Rule
from annotator.management.base import Bar, StepmarkCommand, unusable


class Command(StepmarkCommand):
    help = "Cut the steps of a part of a project anew by a rule, as new solutions; labels go over where they hold."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--rule", required=True, choices=[rule for rule in Rule if rule is not Rule.PRE])
        parser.add_argument("--subject", default="", help="only solutions of problems of this subject")
        parser.add_argument("--domain", default="", help="only solutions of problems of this domain")
        parser.add_argument("--import", dest="batch", type=int, metavar="ID", help="only this import's")
        parser.add_argument(
            "--dry-run", action="store_true", help="count what would change, and change nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        actor = access.operator(project)
        where = Where(options["subject"], options["domain"], options["batch"])
        try:
            total, bar = recutting.count(actor=actor, where=where), Bar(self)
            if options["dry_run"]:
                done = recutting.preview(actor=actor, where=where, rule=options["rule"])
            else:
                done = recutting.recut(
                    actor=actor,
                    where=where,
                    rule=options["rule"],
                    progress=lambda n: bar.show(f"{n:,} of {total:,} solutions", n, total),
                )
                bar.close()
        except NothingChosen as error:
            raise unusable(str(error)) from error
        refused = [{"solution": pk, "why": why} for pk, why in done.refused]
        values = {"changed": done.changed, "same": done.same, "refused": refused}
        verb = "would be" if options["dry_run"] else "were"
        self.report(
            options,
            values,
            f"{done.changed:,} solutions {verb} cut anew, {done.same:,} are cut so already"
            + (f", {len(refused):,} stay as they are; the first: {refused[0]['why']}" if refused else "."),
        )
