"""Look whether everything works, and say what to do where it doesn't."""

from __future__ import annotations

import sys
from typing import Any

from annotator.management.base import StepmarkCommand
from annotator.queries.checkup import Check, State, checks

MARKS = {State.OK: "ok    ", State.WARN: "look  ", State.FAILED: "FAILED"}


class Command(StepmarkCommand):
    help = (
        "Check the database, its tables, the broker, the workers of each queue, jobs, scorers, disks and settings; say "
        "what to do for each. Exit status 1 where a check failed."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        done = []
        for check in checks():
            done.append(check)
            if not options["json"]:
                self._show(check)
        failed = [check for check in done if check.state is State.FAILED]
        worth_a_look = [check for check in done if check.state is State.WARN]
        values = {
            "ok": not failed,
            "checks": [check.to_json() for check in done],
            "failed": [check.name for check in failed],
        }
        self.report(
            options,
            values,
            f"{len(done)} checks: {len(failed)} failed, {len(worth_a_look)} worth a look.",
        )
        if failed:
            sys.exit(1)

    def _show(self, check: Check) -> None:
        self.stdout.write(f"{MARKS[check.state]} {check.name}: {check.says}")
        if check.do and check.state is not State.OK:
            self.stdout.write(f"       → {check.do}")
