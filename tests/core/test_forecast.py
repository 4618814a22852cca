"""How many labels a target takes."""

from __future__ import annotations

import pytest

from annotator.core.forecast import Point, forecast


def curve(*sizes: int, width: float = 0.002, power: float = 0.25) -> list[Point]:
    values = [(n, 1 - n**-power) for n in sizes]
    return [Point(n, value, value - width, value + width) for n, value in values]


def test_a_clean_power_law_is_met_where_it_is() -> None:
    found = forecast(curve(100, 200, 400, 800), 0.85)
    assert found.labels == 1975  # 0.15 = n^-0.25
    assert found.low is not None
    assert found.high is not None
    assert 1975 * 0.8 < found.low < 1975 < found.high < 1975 * 1.25


def test_wide_intervals_make_a_wide_forecast_or_none_above() -> None:
    narrow, wide = (forecast(curve(100, 200, 400, width=w), 0.8) for w in (0.002, 0.1))
    assert narrow.high is not None
    assert wide.high is None or wide.high > 2 * narrow.high


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ([], "there are 0"),
        (curve(100, 200), "there are 2"),
        (curve(100, 100, 100), "there are 1"),
        (curve(100, 200, 400, power=-0.0001), "there are 0"),
        ([Point(n, 0.5, 0.4, 0.6) for n in (100, 200, 400)], "does not rise"),
        ([Point(n, 0.9 - n / 1000, 0.4, 0.6) for n in (100, 200, 400)], "does not rise"),
    ],
)
def test_where_nothing_can_be_said_it_says_why(points: list[Point], says: str) -> None:
    found = forecast(points, 0.95)
    assert (found.labels, found.high) == (None, None)
    assert says in found.reason


def test_a_target_that_is_reached_needs_no_more() -> None:
    found = forecast(curve(100, 200, 400), 0.5)
    assert (found.labels, found.reason) == (400, "The target is reached.")


@pytest.mark.parametrize("target", [0.0, 1.0, -2.0])
def test_a_target_outside_is_refused(target: float) -> None:
    with pytest.raises(ValueError, match="target"):
        forecast([], target)
