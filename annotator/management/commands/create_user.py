"""Make a person, and put them into a project."""

from __future__ import annotations

import secrets
from typing import Any

from django.core.management.base import CommandParser
from django.db import transaction

from annotator.actions.projects import AlreadyExists, Refused, add_member, create_user
from annotator.management.base import StepmarkCommand, unusable
from annotator.models import Role


class Command(StepmarkCommand):
    help = "Make a person who can sign in; with --project, a member of it."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("name", help="what the person signs in with")
        parser.add_argument("--password", help="where absent a random one is made and printed once")
        parser.add_argument(
            "--role",
            choices=Role.values,
            help="in that project: annotator (the default) labels, reviewer also answers questions, "
            "manager also sees the queue and exports",
        )
        parser.add_argument("--project", metavar="SLUG", help="the project they become a member of")

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if options["role"] and not options["project"]:
            raise unusable("A role is one in a project: name it with --project.")
        role = Role(options["role"] or Role.ANNOTATOR)
        password = options["password"] or secrets.token_urlsafe(12)
        try:
            user = create_user(username=options["name"], password=password)
            member = None
            if options["project"]:
                project = self.project(options["project"])
                member = add_member(project=project, user=user, role=role)
        except (AlreadyExists, Refused) as error:
            raise unusable(str(error)) from error
        values: dict[str, Any] = {"user": user.username, "project": options["project"], "role": None}
        sentence = f"Made '{user.username}'"
        if member is not None:
            values |= {"role": member.role, "pseudonym": member.pseudonym}
            sentence += f", {member.role} in '{options['project']}' as {member.pseudonym}"
        if not options["password"]:
            values["password"] = password
            sentence += f"; the password, shown once: {password}"
        self.report(options, values, sentence + ".")
