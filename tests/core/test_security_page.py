"""The page that says which attacks are tried names tests that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_test_that_the_page_names_is_there() -> None:
    named = re.findall(r"`(tests/[^`:]+)(?:::(\w+))?`", (ROOT / "docs" / "security.md").read_text())
    assert len(named) > 20
    for path, test in named:
        assert f"def {test or 'test_'}" in (ROOT / path).read_text(), f"{path}::{test}"
