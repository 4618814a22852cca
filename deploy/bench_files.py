"""Measures import and export of a large file against the least that they could cost.

The least for an import: the file's JSON parsed by orjson, and COPY into tables with the same columns, defaults, checks
and indexes (LIKE … INCLUDING ALL); and the same into tables that have the same foreign keys, too. For an export: COPY
out of what a native line holds, and orjson. All are measured in the same run, before and after, in processes of their
own, whose memory at its highest is told as well. On a machine with other work the shares of processor time
(``cpu_share``: both processes') are steadier than those of the clock. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
STEPS, PER_PROBLEM, CHUNK = 8, 4, 10_000
LEAST, KEYED = "least", "least_keyed"
TABLES = ("problem", "solution", "referencelabels", "queuerow")
OUT = """
COPY (SELECT s.external_id, s.steps, s.generator, s.final_answer, s.answer_correct, s.meta, p.external_id, p.text,
  p.answer, p.solution, p.domain, p.subject, p.split, array_to_json(r.labels), r.first_error
FROM annotator_solution s JOIN annotator_problem p ON p.id = s.problem_id
JOIN annotator_referencelabels r ON r.solution_id = s.id WHERE s.project_id = %d ORDER BY s.id) TO STDOUT
"""


def main() -> int:
    """Print seconds, shares and megabytes; or (``--part``) do one part of it and print its seconds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solutions", type=int, default=100_000)
    parser.add_argument("--part", choices=PARTS, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if options.part:
        return _part(options.part, options.file)
    var = Path(tempfile.mkdtemp(prefix="stepmark-bench-"))
    from annotator.embedded import hold

    services = hold(var, throwaway=True)
    os.environ.update(
        STEPMARK_ENV="test",
        DATABASE_URL=services.database_url,
        REDIS_URL=services.redis_url,
        DJANGO_SETTINGS_MODULE="annotator.config.settings",
    )
    try:
        print(json.dumps(_figures(var / "solutions.jsonl", options.solutions), indent=2))
    finally:
        services.release(wait=True)
        shutil.rmtree(var, ignore_errors=True)
    return 0


def _figures(file: Path, solutions: int) -> dict[str, Any]:
    _write(file, solutions)
    _run("prepare", file)
    figures: dict[str, Any] = {
        "solutions": solutions,
        "steps": solutions * STEPS,
        "bytes": file.stat().st_size,
    }
    for ours, least in (
        ("import", ("least_import", "least_import_with_keys")),
        ("export", ("least_export",)),
    ):
        before = [_run(each, file) for each in least]
        done = _run(ours, file)
        after = [_run(each, file) for each in least]
        figures[ours] = done | {
            name: _shares(done, both) for name, *both in zip(least, before, after, strict=True)
        }
    return figures


def _shares(done: dict[str, float], least: list[dict[str, float]]) -> dict[str, Any]:
    """What the least takes, before and after, as a share of what was taken."""

    def share(*names: str) -> float:
        floor = sum(each[name] for each in least for name in names) / len(least)
        return round(floor / sum(done[name] for name in names), 3)

    return {"share": share("seconds"), "cpu_share": share("cpu_seconds", "server_cpu_seconds"), "runs": least}


def _run(part: str, file: Path) -> dict[str, float]:
    """One part in a process of its own: its seconds and its memory at its highest."""
    child = subprocess.Popen(
        [sys.executable, __file__, "--part", part, "--file", file],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    told = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{part} failed.")
    seconds, ours, servers = map(float, told.split())
    return {
        "seconds": seconds,
        "cpu_seconds": ours,
        "server_cpu_seconds": servers,
        "peak_mb": round(usage.ru_maxrss / 1024),
    }


def _part(name: str, file: Path) -> int:
    import django

    django.setup()
    from annotator.actions import exports, imports  # noqa: F401  a running server has them in memory

    used, began = _cpu(), time.monotonic()
    PARTS[name](file)
    clock = time.monotonic() - began
    took = (clock, *(after - before for after, before in zip(_cpu(), used, strict=True)))
    print(*(round(seconds, 2) for seconds in took))
    return 0


def _cpu() -> tuple[float, float]:
    """Seconds of processor time of this process, and of the whole server's (0 where it is on another machine)."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        pid = cursor.fetchone()[0]
    own = _stat(pid)
    if own is None:
        return time.process_time(), 0.0
    # Connections that are closed are counted with their parent, as soon as it has noticed.
    time.sleep(0.2)
    server = own[PARENT]
    stats = [_stat(int(path.name)) for path in Path("/proc").glob("[0-9]*")]
    ticks = sum(sum(each[USED]) for each in stats if each and each[PARENT] == server)
    gone = _stat(server)
    assert gone is not None
    return time.process_time(), (ticks + sum(gone[CLOSED])) / os.sysconf("SC_CLK_TCK")


#: Places in /proc/PID/stat behind the name: the parent, ticks used, ticks of children that have ended.
PARENT, USED, CLOSED = 1, slice(11, 13), slice(13, 15)


def _stat(pid: int) -> list[int] | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    return [0, *map(int, text.rpartition(")")[2].split()[1:])]


WORDS = (
    "sum",
    "both",
    "sides",
    "gives",
    "plus",
    "where",
    "each",
    "term",
    "even",
    "divide",
    "it",
    "by",
    "two",
)


def _write(file: Path, solutions: int) -> None:
    """Native lines, as long as real ones: eight steps of some 120 characters, four solutions a problem."""
    import random

    import orjson

    chance = random.Random(1)  # noqa: S311  the same file every time
    with file.open("wb") as out:
        for number in range(solutions):
            out.write(orjson.dumps(_row(number, chance), option=orjson.OPT_APPEND_NEWLINE))


def _row(number: int, chance: Any) -> dict[str, Any]:
    first = chance.choice([-1, 2, 5])
    labels = [1 if first < 0 or step < first else -1 if step == first else None for step in range(STEPS)]
    return {
        "id": f"s{number}",
        "problem": _problem(number // PER_PROBLEM),
        "generator": {"model": f"model-{number % 3}", "sampling": {"temperature": 0.7}},
        "steps": [_step(step, number, chance) for step in range(STEPS)],
        "final_answer": str(number),
        "answer_correct": first < 0,
        "labels": labels,
        "meta": {"source": "bench"},
    }


def _step(step: int, number: int, chance: Any) -> dict[str, Any]:
    text = f"Step {step}: {' '.join(chance.choices(WORDS, k=22))}, $x_{{{step}}} = {number}$."
    return {"text": text, "kind": "reasoning", "judged": True, "sep": "\n\n"}


def _problem(number: int) -> dict[str, Any]:
    import random

    words = random.Random(number).choices(WORDS, k=40)  # noqa: S311
    text = f"Problem {'abcdefghij'[number % 10]}{number}: {' '.join(words)}"
    named = {"id": f"p{number}", "text": text, "answer": str(number)}
    return named | {"domain": "math", "subject": "algebra"}


def prepare(_: Path) -> None:
    """The tables, a project, and the copies of its tables."""
    from django.core.management import call_command
    from django.db import connection

    from annotator.actions.projects import NewProject, create
    from annotator.models import ImportBatch

    call_command("migrate", verbosity=0, interactive=False)
    project = create(new=NewProject(slug="large"))
    # What the foreign keys of the least's rows refer to.
    ImportBatch.objects.create(project=project, filename="least", format="native", labels_as="reference")
    with connection.cursor() as cursor:
        for kind in (LEAST, KEYED):
            for table in TABLES:
                cursor.execute(f"CREATE TABLE {kind}_{table} (LIKE annotator_{table} INCLUDING ALL)")
        for table in TABLES:
            _add_keys(cursor, table)


def _add_keys(cursor: Any, table: str) -> None:
    """Give a copy the foreign keys that its table has, to the copies where there are any."""
    cursor.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f' AND conrelid = %s::regclass",
        [f"annotator_{table}"],
    )
    for (rule,) in cursor.fetchall():
        own = re.sub(rf"annotator_({'|'.join(TABLES)})\(", rf"{KEYED}_\1(", rule)
        cursor.execute(f"ALTER TABLE {KEYED}_{table} ADD {own}")


def least_import(file: Path) -> None:
    """Parse each line, and copy its cells into tables with the same indexes."""
    _copy_least(file, LEAST)


def least_import_with_keys(file: Path) -> None:
    """The same, into tables that have the foreign keys as well."""
    _copy_least(file, KEYED)


def _copy_least(file: Path, kind: str) -> None:
    from django.db import connection

    from annotator.actions import import_copy as cells
    from annotator.models import ImportBatch

    columns = (cells.PROBLEM, cells.SOLUTION, cells.REFERENCE, cells.QUEUE)
    batch = ImportBatch.objects.get(filename="least")
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(f'{kind}_{table}' for table in TABLES)}")
    with file.open("rb") as lines:
        for rows in _least_rows(lines, batch.project_id, batch.pk):
            for table, names, made in zip(TABLES, columns, rows, strict=True):
                cells.copy_in(f"{kind}_{table}", names, made)


def _least_rows(lines: Any, project: int, batch: int) -> Iterator[list[list[bytes]]]:
    import orjson

    rows: list[list[bytes]] = [[] for _ in TABLES]
    for number, line in enumerate(lines):
        value = orjson.loads(line)
        problem = number // PER_PROBLEM
        if number % PER_PROBLEM == 0:
            rows[0].append(_least_problem(problem, project, value["problem"]))
        rows[1].append(_least_solution(number, f"{project}\t{problem}\t{batch}", value))
        labels = ",".join("NULL" if each is None else str(each) for each in value["labels"])
        rows[2].append(f"{number}\t{STEPS}\t{{{labels}}}\t-1\n".encode())
        rows[3].append(f"{number}\t{project}\tf\t0\t0\t{number / 1e6}\t1\t0\t2\t\t\n".encode())
        if number % CHUNK == CHUNK - 1:
            yield rows
            rows = [[] for _ in TABLES]
    yield rows


def _hash(key: int) -> str:
    """As far apart as contents' hashes are: keys in a row would all go to the same page of their index."""
    return hashlib.sha256(b"%d" % key).hexdigest()


def _least_problem(key: int, project: int, value: dict[str, Any]) -> bytes:
    head = f"{key}\t{project}\t{value['id']}\t{value['text']}\t\\\\x{_hash(key)}\t{value['answer']}\t\\N"
    return (f"{head}\t{value['domain']}" + f"\t{value['subject']}\t[]\ttrain\t{{}}\n").encode()


def _least_solution(key: int, keys: str, value: dict[str, Any]) -> bytes:
    import orjson

    steps, generator, meta = (
        orjson.dumps(value[name]).decode().replace("\\", "\\\\") for name in ("steps", "generator", "meta")
    )
    head = f"{key}\t{keys}\t{value['id']}\t{steps}\t{STEPS}\t\\\\x{_hash(key)}\t{generator}"
    return f"{head}\t{value['final_answer']}\t{value['answer_correct']}\t\t{meta}\n".encode()


def ours_import(file: Path) -> None:
    """What the command and the workers do."""
    from annotator.actions import access, imports
    from annotator.models import Project

    actor = access.operator(Project.objects.get(slug="large"))
    with file.open("rb") as lines:
        source = imports.Source(lines, file.name, "native", size=file.stat().st_size)
        report = imports.run(actor=actor, source=source)
    if report.imported != report.read:
        raise SystemExit(f"{report.rejected} rows of the generated file were rejected.")


def least_export(file: Path) -> None:
    """Copy out, and write the lines anew."""
    import orjson
    from django.db import connection

    from annotator.models import Project

    command = OUT % Project.objects.get(slug="large").pk
    with (
        connection.cursor() as cursor,
        file.with_suffix(".least").open("wb") as out,
        cursor.copy(command) as copy,
    ):
        for row in copy.rows():
            out.write(orjson.dumps(_least_line(row), option=orjson.OPT_APPEND_NEWLINE))


def _least_line(row: Any) -> dict[str, Any]:
    import orjson

    names = ("id", "steps", "generator", "final_answer", "answer_correct", "meta")
    value = dict(zip(names, row, strict=False))
    value["problem"] = dict(
        zip(("id", "text", "answer", "solution", "domain", "subject"), row[6:], strict=False)
    )
    value |= {name: orjson.loads(value[name]) for name in ("steps", "generator", "meta")}
    return value | {"split": row[12], "labels": orjson.loads(row[13]), "first_error": int(row[14])}


def ours_export(file: Path) -> None:
    """What the command does."""
    from annotator.actions import access, exports
    from annotator.actions.exports import Recipe
    from annotator.models import Project
    from annotator.queries.exports import LabelsFrom

    actor = access.operator(Project.objects.get(slug="large"))
    with file.with_suffix(".out").open("wb") as out:
        recipe = Recipe(format="native", labels=LabelsFrom.REFERENCE)
        for block in exports.start(actor=actor, recipe=recipe).blocks():
            out.write(block)


PARTS = {
    "prepare": prepare,
    "least_import": least_import,
    "least_import_with_keys": least_import_with_keys,
    "import": ours_import,
    "least_export": least_export,
    "export": ours_export,
}


if __name__ == "__main__":
    sys.exit(main())
