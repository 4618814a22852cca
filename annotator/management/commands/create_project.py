"""Make a project."""

from __future__ import annotations

import re
from typing import Any

from django.core.management.base import CommandParser

from annotator.actions.projects import AlreadyExists, NewProject, Refused, create
from annotator.core.labels import Mode
from annotator.management.base import StepmarkCommand, unusable

SLUG = re.compile(r"[-A-Za-z0-9_]{1,60}")


class Command(StepmarkCommand):
    help = "Make a project with the built-in scorer."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("slug", help="its name in addresses and commands: letters, digits, - and _")
        parser.add_argument("--name", default="", help="its name on pages; the slug where absent")
        parser.add_argument(
            "--mode",
            choices=[mode.value for mode in Mode],
            default=Mode.FIRST_ERROR.value,
            help="judge up to the first incorrect step (first_error, the default) or every step (all_steps)",
        )
        parser.add_argument(
            "--error-propagation",
            choices=["conditional", "tainted_until_corrected"],
            default="conditional",
            help="in all_steps: judge a step on its own given what precedes it, or incorrect until corrected",
        )
        parser.add_argument(
            "--labels-per-solution",
            type=int,
            metavar="N",
            help="the same number for every solution; where absent 1, on the audit prefix 2, on the holdout 3",
        )
        parser.add_argument(
            "--gold-rate", type=float, default=0.05, help="share of hidden gold among claims (0.05)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not SLUG.fullmatch(options["slug"]):
            raise unusable(
                f"'{options['slug']}' can't stand in an address: use up to 60 letters, digits, - and _ "
                "without accents; --name takes any text."
            )
        new = NewProject(
            slug=options["slug"],
            name=options["name"],
            mode=Mode(options["mode"]),
            labels_per_solution=options["labels_per_solution"],
            gold_rate=options["gold_rate"],
            error_propagation=options["error_propagation"],
        )
        try:
            project = create(new=new)
        except (AlreadyExists, Refused) as error:
            raise unusable(str(error)) from error
        values = {"project": project.slug, "mode": project.mode, "gold_rate": project.gold_rate}
        self.report(options, values, f"Made project '{project.slug}' ({project.mode}).")
