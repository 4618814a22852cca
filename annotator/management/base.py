"""What the commands share: with ``--json`` one object on stdout, all else on stderr, exit status 0, 1 or 2."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotator.models import Project

UNUSABLE = 2
_UNSTORABLE = re.compile("[\ud800-\udfff]")


class StepmarkCommand(BaseCommand):
    """A command that reports. ``--json`` prints exactly one JSON object on stdout."""

    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object on stdout")

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Refuse words that are no text before they meet the database; a path may be any bytes."""
        for name, value in options.items():
            if isinstance(value, str) and _UNSTORABLE.search(value):
                raise unusable(f"What was given for {name} is not UTF-8 text.")
        return super().execute(*args, **options)

    def report(self, options: Mapping[str, Any], values: Mapping[str, Any], sentence: str) -> None:
        """Say what was done: to a program or to a person."""
        if options["json"]:
            self.stdout.write(orjson.dumps(values).decode())
        else:
            self.stdout.write(sentence)

    def say(self, text: str) -> None:
        """A message for a person, on stderr."""
        self.stderr.write(text, self.style.NOTICE if sys.stderr.isatty() else None)

    def project(self, slug: str) -> Project:
        """The project, or exit status 2."""
        project = Project.objects.filter(slug=slug).first()
        if project is None:
            raise unusable(f"There is no project '{slug}'; make it with create_project {slug}.")
        return project


def unusable(message: str) -> CommandError:
    """Arguments or input that can't be used: exit status 2."""
    return CommandError(message, returncode=UNUSABLE)


class Bar:
    """A progress line on stderr, redrawn in place; silent where stderr is not a terminal."""

    def __init__(self, command: BaseCommand) -> None:
        self._command = command
        self._on = bool(getattr(command.stderr, "isatty", lambda: False)())
        self._width = 0

    def show(self, text: str, done: int = 0, total: int = 0) -> None:
        """Draw "text", with a bar where the total is known."""
        if not self._on:
            return
        line = f"{_bar(done, total)} {text}" if total else text
        self._command.stderr.write("\r" + line.ljust(self._width), ending="")
        self._width = len(line)

    def close(self) -> None:
        if self._on and self._width:
            self._command.stderr.write("")


def _bar(done: int, total: int, width: int = 30) -> str:
    filled = min(width, width * done // max(total, 1))
    return "█" * filled + "░" * (width - filled)
