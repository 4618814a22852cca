"""What the shell and the demo need before the first command: a schema that is up to date."""

from __future__ import annotations

import fcntl
from pathlib import Path

from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor


def migrate_if_behind(var: Path) -> bool:
    """Apply the migrations that the embedded database lacks; True when there were any.

    Processes that start at the same moment wait for each other on a lock file in ``var``.
    """
    if not _is_behind():
        return False
    with (var / "run" / "migrate.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_behind():
            call_command("migrate", verbosity=0, interactive=False)
    return True


def _is_behind() -> bool:
    executor = MigrationExecutor(connection)
    return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
