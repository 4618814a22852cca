"""What the demo needs Django for before its first page, in one process; a child of deploy/demo.py.

Says "migrated" on stdout when the programs may start, and one JSON object with the logins at the end.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
PATIENCE = 60  # seconds for a worker's first answer


def main() -> int:
    import django

    django.setup()
    from annotator.management.startup import migrate_if_behind

    var = Path(os.environ["STEPMARK_VAR"])
    static = _collect_static_beside(var)  # forked before this process opens a connection
    migrate_if_behind(var)
    if static is not None and os.waitstatus_to_exitcode(os.waitpid(static, 0)[1]):
        print("The static files could not be collected.", file=sys.stderr)
        return 1
    print("migrated", flush=True)
    said = _seed()
    if not _a_worker_answers():
        print(f"No worker answered within {PATIENCE} s; see worker.log beside this file.", file=sys.stderr)
        return 1
    print(json.dumps(said), flush=True)
    return 0


def _collect_static_beside(var: Path) -> int | None:
    """A child that collects the static files on the second core; None where nothing changed."""
    from django.conf import settings
    from django.core.management import call_command

    inputs = [ROOT / "requirements.txt", *map(Path, settings.STATICFILES_DIRS)]
    inputs += [path for folder in settings.STATICFILES_DIRS for path in sorted(Path(folder).rglob("*"))]
    facts = [[str(path), path.stat().st_size, path.stat().st_mtime_ns] for path in inputs]
    wanted = hashlib.sha256(json.dumps(facts).encode()).hexdigest()
    stamp = var / "static.stamp"
    with contextlib.suppress(FileNotFoundError):
        if stamp.read_text() == wanted and (var / "static" / "staticfiles.json").exists():
            return None
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        call_command("collectstatic", interactive=False, clear=True, verbosity=0)
        stamp.write_text(wanted)
        status = 0
    finally:
        sys.stderr.flush()
        os._exit(status)


def _seed() -> dict[str, Any]:
    from django.core.management import call_command

    output = io.StringIO()
    call_command("seed_demo", json=True, stdout=output)
    said: dict[str, Any] = json.loads(output.getvalue())
    return said


def _a_worker_answers() -> bool:
    from annotator.config.celery import app

    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if app.control.ping(timeout=1.0, limit=1):
            return True
    return False


if __name__ == "__main__":
    sys.exit(main())
