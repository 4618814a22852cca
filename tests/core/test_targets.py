"""What a scorer learns from a label whose certainty is known."""

from __future__ import annotations

import pytest

from annotator.core.targets import soft_targets, stop_targets


def test_a_certain_stop_is_hard() -> None:
    judged = [True, True, False, True]
    assert soft_targets(1, judged, 1.0) == stop_targets(1, judged) == (1.0, 0.0, None, None)


def test_doubt_is_shared_by_the_stops_that_others_gave() -> None:
    """P(stop 0) = 0.2, P(stop 2) = 0.8: step 0 is right in 0.8 of cases, step 1 always, step 2 never."""
    assert soft_targets(2, [True, True, True], 0.8, others=[2, 2, 0]) == (0.8, 1.0, 0.0)


def test_two_others_share_by_their_number() -> None:
    """The rest 0.3 is split 2 to 1 between step 0 and none; then at step 1 0.7 of the remaining 0.8."""
    assert soft_targets(1, [True, True], 0.7, others=[0, 0, -1]) == (0.8, 0.125)


def test_without_others_every_other_place_is_as_likely() -> None:
    """Of three other places each has 0.1: 1 - 0.1, 1 - 0.1 / 0.9, 1 - 0.7 / 0.8."""
    assert soft_targets(2, [True, True, True], 0.7) == (0.9, 0.889, 0.125)


def test_what_comes_after_a_likely_stop_teaches_nothing() -> None:
    assert soft_targets(0, [True, True, True], 0.6) == (0.4, None, None)


def test_an_unlikely_stop_lets_later_steps_speak() -> None:
    assert soft_targets(0, [True, True], 0.4, others=[-1]) == (0.6, 1.0)


def test_context_takes_no_target_and_no_chance() -> None:
    assert soft_targets(-1, [False, True, False], 0.75) == (None, 0.75, None)


@pytest.mark.parametrize(("stop", "posterior"), [(0, 1.2), (0, -0.1), (2, 0.9)])
def test_nonsense_is_refused(stop: int, posterior: float) -> None:
    with pytest.raises(ValueError, match=r"posterior|label"):
        soft_targets(stop, [True, True, False], posterior)
