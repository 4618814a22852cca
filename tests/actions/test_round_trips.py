"""Real files through the database: counted as their publishers count, and the same after a trip in each format."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotator.core.codecs import CODECS
from annotator.models import Solution
from tests.round_trips import FILES, brought_in, first_lines, project, trip

pytestmark = pytest.mark.django_db
#: Of each file; all of them in all formats is deploy/check_round_trips.py's.
LINES = 5
#: The formats that a file's first rows are sent through here; the codecs' own tests send each row through each.
TARGETS = ("native", "prm800k", "trl")


@pytest.mark.parametrize("name", FILES)
def test_rows_of_a_real_file_come_back_as_they_left(shared_data: Path, name: str) -> None:
    source = project()
    report = brought_in(source, first_lines(shared_data / f"{name}.jsonl", LINES), FILES[name][0])

    assert report.read == report.imported + report.duplicates + report.rejected
    assert Solution.objects.filter(project=source).count() == report.imported > 0
    for target in TARGETS:
        found = trip(source, target)
        assert (found.equal, found.again.rejected) == (True, 0), target
        assert found.written + sum(found.left_out.values()) == report.imported
    assert set(TARGETS) <= set(CODECS)
