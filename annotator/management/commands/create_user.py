"""Make a person, and put them into a project."""

from __future__ import annotations

import secrets
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandParser
from django.db import transaction

from annotator.actions import tokens
from annotator.actions.projects import AlreadyExists, Refused, add_member, create_user
from annotator.management.base import StepmarkCommand, unusable
from annotator.models import Membership, Role


class Command(StepmarkCommand):
    help = "Make a person who can sign in; with --project, a member of it. Somebody who is there already joins it too."

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
        parser.add_argument(
            "--token",
            action="store_true",
            help="make an API token with every scope, good for 90 days, printed once",
        )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if options["role"] and not options["project"]:
            raise unusable("A role is one in a project: name it with --project.")
        known = User.objects.filter(username=options["name"]).first()
        if known is not None and options["project"] and not options["password"]:
            self._add(known, options)
        else:
            self._make(options)

    def _add(self, user: User, options: dict[str, Any]) -> None:
        """Somebody who can sign in already joins one more project."""
        member = self._member(user, options)
        values = {"user": user.username, "project": options["project"]}
        values |= {"role": member.role, "pseudonym": member.pseudonym}
        sentence = f"'{user.username}' is now {member.role} in '{options['project']}' as {member.pseudonym}"
        self.report(options, values, sentence + self._token(user, options, values) + ".")

    def _make(self, options: dict[str, Any]) -> None:
        password = options["password"] or secrets.token_urlsafe(12)
        try:
            user = create_user(username=options["name"], password=password)
        except (AlreadyExists, Refused) as error:
            raise unusable(str(error)) from error
        values: dict[str, Any] = {"user": user.username, "project": options["project"], "role": None}
        sentence = f"Made '{user.username}'"
        if options["project"]:
            member = self._member(user, options)
            values |= {"role": member.role, "pseudonym": member.pseudonym}
            sentence += f", {member.role} in '{options['project']}' as {member.pseudonym}"
        if not options["password"]:
            values["password"] = password
            sentence += f"; the password, shown once: {password}"
        self.report(options, values, sentence + self._token(user, options, values) + ".")

    def _token(self, user: User, options: dict[str, Any], values: dict[str, Any]) -> str:
        """With ``--token``, how the sentence goes on; the token is put among the values."""
        if not options["token"]:
            return ""
        made = tokens.make(user_id=user.pk, name="made with create_user", scopes=list(tokens.Scope))
        values["token"] = made.secret
        return f"; the token, shown once: {made.secret}"

    def _member(self, user: User, options: dict[str, Any]) -> Membership:
        project = self.project(options["project"])
        try:
            return add_member(project=project, user=user, role=Role(options["role"] or Role.ANNOTATOR))
        except (AlreadyExists, Refused) as error:
            raise unusable(str(error)) from error
