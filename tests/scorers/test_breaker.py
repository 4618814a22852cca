"""The circuit breaker by itself, on a clock that the tests turn."""

from __future__ import annotations

import pytest

from annotator.scorers.breaker import TRIAL, Breaker, Circuit, CircuitOpen


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def breaker(clock: Clock) -> Breaker:
    return Breaker(failures=3, pause=10.0, longest=35.0, clock=clock, wall=lambda: 1000.0 + clock())


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.enter()
        breaker.failed("It broke.")


def test_failures_in_a_row_open_it(breaker: Breaker) -> None:
    fail(breaker, 2)
    assert breaker.state.circuit is Circuit.CLOSED
    fail(breaker, 1)
    assert breaker.state.circuit is Circuit.OPEN
    with pytest.raises(CircuitOpen, match=r"10 s after 3 failures in a row\. The last one: It broke\."):
        breaker.enter()


def test_a_success_in_between_starts_the_count_again(breaker: Breaker) -> None:
    fail(breaker, 2)
    breaker.succeeded()
    fail(breaker, 2)
    assert breaker.state.circuit is Circuit.CLOSED


def test_after_the_pause_one_request_tries_and_the_others_wait(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 10.0
    breaker.enter()
    assert breaker.state.circuit is Circuit.HALF_OPEN
    with pytest.raises(CircuitOpen):
        breaker.enter()


def test_a_trial_that_succeeds_closes_it(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 10.0
    breaker.enter()
    breaker.succeeded()
    breaker.enter()
    assert breaker.state.circuit is Circuit.CLOSED


def test_pauses_double_up_to_the_longest_and_start_over_after_a_success(
    breaker: Breaker, clock: Clock
) -> None:
    fail(breaker, 3)
    pauses = []
    for _ in range(3):
        clock.now += breaker.state.retry_in
        breaker.enter()
        breaker.failed("It broke.")
        pauses.append(breaker.state.retry_in)
    assert pauses == [20.0, 35.0, 35.0]

    breaker.succeeded()
    fail(breaker, 3)
    assert breaker.state.retry_in == 10.0


def test_a_trial_that_says_nothing_makes_room_for_the_next(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 10.0
    breaker.enter()
    breaker.gave_up()
    breaker.enter()
    assert breaker.state.circuit is Circuit.HALF_OPEN


def test_a_trial_whose_thread_died_is_forgotten(breaker: Breaker, clock: Clock) -> None:
    fail(breaker, 3)
    clock.now = 10.0
    breaker.enter()
    clock.now += TRIAL
    breaker.enter()
    assert breaker.state.circuit is Circuit.HALF_OPEN


def test_the_state_says_since_when_and_why(breaker: Breaker, clock: Clock) -> None:
    clock.now = 5.0
    fail(breaker, 3)
    clock.now = 8.0
    assert breaker.state.to_json() == {
        "circuit": "open",
        "since": 1005.0,
        "failures": 3,
        "last_error": "It broke.",
        "retry_in": 7.0,
    }
