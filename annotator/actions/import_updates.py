"""What a file says of solutions that are known already.

Its metadata fill what is empty; where the import was asked to overwrite they replace what is there. Of objects (the
generator, ``meta``) each key counts for itself. Reference labels are taken where a solution has none, and never
replaced. Steps, separators and people's labels never change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from annotator.actions.import_rows import Known, write_references
from annotator.models import Problem, ReferenceLabels, Solution

OF_PROBLEM = ("external_id", "answer", "solution", "domain", "subject")
OF_SOLUTION = ("external_id", "generator", "final_answer", "answer_correct", "meta")


def fill(again: Sequence[Known], *, overwrite: bool) -> int:
    """Bring the solutions of these rows up to date, in the caller's transaction. Returns for how many rows something
    changed; of several rows for one solution the first to say something fills it."""
    bringing = [known for known in again if _brings(known)]
    if not bringing:
        return 0
    ids = {known.solution_id for known in bringing}
    solutions = {
        each.pk: each for each in Solution.objects.filter(pk__in=ids).only("problem_id", *OF_SOLUTION)
    }
    wanted = {each.problem_id for each in solutions.values()}
    problems = {each.pk: each for each in Problem.objects.filter(pk__in=wanted).only(*OF_PROBLEM)}
    labelled = set(ReferenceLabels.objects.filter(solution_id__in=ids).values_list("pk", flat=True))
    updated, references = 0, []
    changed: tuple[set[int], set[int]] = set(), set()
    for known in bringing:
        solution = solutions[known.solution_id]
        problem = problems[solution.problem_id]
        record = known.row.record
        new_here = _take(solution, record, OF_SOLUTION, overwrite)
        new_there = _take(problem, record.problem, OF_PROBLEM, overwrite)
        new_labels = record.labels is not None and known.solution_id not in labelled
        if new_here:
            changed[0].add(solution.pk)
        if new_there:
            changed[1].add(problem.pk)
        if new_labels:
            labelled.add(known.solution_id)
            references.append(known)
        updated += new_here or new_there or new_labels
    _write(Solution, [solutions[pk] for pk in sorted(changed[0])], OF_SOLUTION)
    _write(Problem, [problems[pk] for pk in sorted(changed[1])], OF_PROBLEM)
    write_references(references)
    return updated


def _write(model: Any, rows: Sequence[Any], names: Sequence[str]) -> None:
    """Write these fields of rows of a table. They rise by their ids and are locked in this order first, as whoever
    decides many solutions' consensus does: else the two could wait for each other."""
    if rows:
        locked = model.objects.select_for_update(no_key=True).filter(pk__in=[row.pk for row in rows])
        list(locked.order_by("pk").values_list("pk"))
        model.objects.bulk_update(rows, names, batch_size=500)


def _brings(known: Known) -> bool:
    """Whether a row says anything beside its text and steps."""
    record = known.row.record
    said = [getattr(record, name) for name in OF_SOLUTION] + [
        getattr(record.problem, name) for name in OF_PROBLEM
    ]
    return record.labels is not None or any(not _empty(value) for value in said)


def _take(row: Any, said: Any, names: Sequence[str], overwrite: bool) -> bool:
    """Set the row's fields to what is said of them, by the rule above. Whether any changed."""
    changed = False
    for name in names:
        old, new = getattr(row, name), getattr(said, name)
        if _empty(new):
            continue
        if isinstance(new, Mapping):
            kept = {**old, **new} if overwrite else {**new, **old}
        else:
            kept = new if overwrite or _empty(old) else old
        if kept != old:
            setattr(row, name, kept)
            changed = True
    return changed


def _empty(value: object) -> bool:
    return value is None or value == "" or value == {}
