"""Sends real files through the database and back in every format, and prints one table.

``FOLDER`` holds the files as their publishers give them, as JSONL. Works on a throwaway database of its own. Exit
status 1 where something that a format can carry came back otherwise.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lines", type=int, help="of each file, all unless said otherwise")
    options = parser.parse_args()
    var = Path(tempfile.mkdtemp(prefix="stepmark-trips-"))
    sys.path.insert(0, str(ROOT))
    from annotator.embedded import hold

    services = hold(var, throwaway=True)
    os.environ.update(
        STEPMARK_ENV="test",
        DATABASE_URL=services.database_url,
        REDIS_URL=services.redis_url,
        DJANGO_SETTINGS_MODULE="annotator.config.settings",
        STEPMARK_LOG_LEVEL="ERROR",
    )
    try:
        import django

        django.setup()
        return _table(options.folder, options.lines)
    finally:
        services.release(wait=True)
        shutil.rmtree(var, ignore_errors=True)


def _table(folder: Path, lines: int | None) -> int:
    from django.core.management import call_command

    from annotator.core.codecs import CODECS
    from tests import round_trips

    call_command("migrate", verbosity=0, interactive=False)
    wrong = 0
    for name, (format_name, *expected) in round_trips.FILES.items():
        source = round_trips.project()
        data = round_trips.first_lines(folder / f"{name}.jsonl", lines)
        report = round_trips.brought_in(source, data, format_name)
        print(f"{name} ({format_name}): {_counts(report)}")
        if lines is None and [report.read, report.duplicates, report.rejected] != expected:
            print(f"  EXPECTED rows, duplicates, rejected: {expected}")
            wrong += 1
        for target in CODECS:
            found = round_trips.trip(source, target)
            wrong += not found.equal
            left = ", ".join(f"{n} {why}" for why, n in found.left_out.items()) or "none"
            told = "equal" if found.equal else "DIFFERENT"
            told += (
                f" but for {found.changed} whose border is told as lost"
                if found.equal and found.changed
                else ""
            )
            print(
                f"  {target:17} {found.written:5} out; left out: {left}; again: {_counts(found.again)}; {told}"
            )
    return 1 if wrong else 0


def _counts(report: Any) -> str:
    adds_up = report.read == report.imported + report.duplicates + report.rejected
    counts = (
        f"{report.read} = {report.imported} + {report.duplicates} duplicates + {report.rejected} rejected"
    )
    return counts if adds_up else f"{counts} (DOES NOT ADD UP)"


if __name__ == "__main__":
    sys.exit(main())
