"""Comparing exports: what flips, comes and goes, and that memory does not grow with them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotator.core.export_diff import Counts, Entry, Snapshot, compare, entries, signs


def entry(key: int, labels: str, annotator: str = "") -> Entry:
    return Entry(key, f"s{key}", annotator, labels)


def changes(before: Iterable[Entry], after: Iterable[Entry]) -> list[tuple[str, str, str, int | None]]:
    return [(each.what.value, each.id, each.annotator, each.step) for each in compare(before, after)]


def kept(rows: Iterable[Entry]) -> bytes:
    made = Snapshot()
    for row in rows:
        made.add(row)
    return made.content()


@given(some.lists(some.tuples(some.text(max_size=5), some.text(alphabet="+0-.", max_size=9)), max_size=40))
def test_a_snapshot_gives_its_rows_back(rows: list[tuple[str, str]]) -> None:
    made = [Entry(key, name, "", labels) for key, (name, labels) in enumerate(rows)]
    assert list(entries(kept(made))) == made


def test_the_labels_of_one_solution_are_compared_person_by_person() -> None:
    old = [entry(1, "+", "A1"), entry(1, "-", "A2")]
    new = [entry(1, "+", "A2"), entry(1, "+", "A3")]
    assert changes(old, new) == [
        ("retracted", "s1", "A1", None),
        ("flipped", "s1", "A2", 0),
        ("added", "s1", "A3", None),
    ]


@pytest.mark.parametrize(
    ("old", "new", "what"), [("+", "-", "flipped"), (".", "0", "added"), ("0", ".", "retracted")]
)
def test_a_step_flips_comes_or_goes(old: str, new: str, what: str) -> None:
    assert changes([entry(1, "+" + old)], [entry(1, "+" + new)]) == [(what, "s1", "", 1)]


def test_another_segmentation_is_another_row() -> None:
    assert changes([entry(1, "+")], [entry(1, "++")]) == [
        ("retracted", "s1", "", None),
        ("added", "s1", "", None),
    ]


labelled = some.dictionaries(some.integers(0, 30), some.text(alphabet="+0-.", min_size=3, max_size=3))


@given(labelled, labelled)
def test_every_row_is_counted_once(old: dict[int, str], new: dict[int, str]) -> None:
    counts = Counts()
    before, after = ([entry(key, rows[key]) for key in sorted(rows)] for rows in (old, new))
    found = list(compare(before, after, counts))

    both = old.keys() & new.keys()
    assert counts.same == sum(old[key] == new[key] for key in both)
    assert counts.same + counts.changed == len(both)
    assert counts.rows == {"added": len(new.keys() - old.keys()), "retracted": len(old.keys() - new.keys())}
    assert len(found) == sum(counts.rows.values()) + sum(counts.steps.values())


def test_memory_does_not_grow_with_the_exports() -> None:
    def rows(number: int, flip: bool) -> Iterator[Entry]:
        return (entry(key, "++-" if flip and not key % 7 else "+++") for key in range(number))

    def peak(number: int) -> int:
        old, new = kept(rows(number, False)), kept(rows(number, True))
        tracemalloc.start()
        n_changes = sum(1 for _ in compare(entries(old), entries(new)))
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert n_changes == -(-number // 7)
        return most

    assert (
        peak(30_000) < 4 * peak(1_500) + 500_000
    )  # twenty times as many; other threads' memory is counted, too


def test_signs_are_one_letter_a_step() -> None:
    assert signs([1, 0, -1, None]) == "+0-."
