"""Load the demo project."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from annotator.actions.demo import LOGINS, seed
from annotator.management.base import StepmarkCommand, unusable


class Command(StepmarkCommand):
    help = "Load the demo project, its people and its content; a second run changes nothing."

    def handle(self, *args: Any, **options: Any) -> None:
        if settings.PRODUCTION:
            raise unusable("The demo has known passwords and is refused in production (STEPMARK_ENV).")
        project = seed()
        values = {
            "project": project.slug,
            "logins": [{"name": name, "password": password, "role": role} for name, password, role in LOGINS],
        }
        names = ", ".join(f"{name} / {password} ({role})" for name, password, role in LOGINS)
        self.report(options, values, f"The demo project '{project.slug}' is ready. Sign in as {names}.")
