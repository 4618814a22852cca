"""What several people's labels say together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from annotator.core.consensus import plurality
from annotator.core.labels import NO_ERROR, Mode, check, finish_reason, from_first_error

STEPS = [True] * 4


def by_stop(*stops: int) -> list[tuple[int | None, ...]]:
    return [from_first_error(stop, STEPS) for stop in stops]


def test_nobody_says_nothing() -> None:
    assert plurality([], STEPS, Mode.FIRST_ERROR) is None
    assert plurality([], STEPS, Mode.ALL_STEPS) is None


def test_steps_nobody_agreed_on_make_no_stop_that_nobody_gave() -> None:
    """A majority for each step would say "no error": 2 of 3 pass each step, though all 3 found one."""
    agreed = plurality(by_stop(0, 1, 2), STEPS, Mode.FIRST_ERROR)

    assert agreed is not None
    assert (agreed.tied, agreed.stop) == (True, None)


def test_the_most_frequent_stop_wins_without_a_majority() -> None:
    agreed = plurality(by_stop(0, 0, 1, 2, NO_ERROR), STEPS, Mode.FIRST_ERROR)

    assert agreed is not None
    assert (agreed.stop, agreed.labels) == (0, (-1, None, None, None))


def test_before_the_stop_a_tie_between_correct_and_neutral_is_correct() -> None:
    agreed = plurality([(1, -1, None, None), (0, -1, None, None)], STEPS, Mode.FIRST_ERROR)

    assert agreed is not None
    assert agreed.labels == (1, -1, None, None)


def test_only_those_who_stopped_there_say_what_came_before() -> None:
    people = [(1, 0, -1, None), (1, 0, -1, None), (1, 1, 1, 1)]

    agreed = plurality(people, STEPS, Mode.FIRST_ERROR)

    assert agreed is not None
    assert agreed.labels == (1, 0, -1, None)


def test_in_all_steps_a_tie_is_about_its_step_alone() -> None:
    agreed = plurality([(1, 1, -1, 1), (1, -1, -1, 1)], STEPS, Mode.ALL_STEPS)

    assert agreed is not None
    assert (agreed.labels, agreed.tied, agreed.stop) == ((1, None, -1, 1), True, None)


def test_context_has_no_label_in_a_consensus() -> None:
    agreed = plurality([(1, None, 1)], [True, False, True], Mode.ALL_STEPS)

    assert agreed is not None
    assert (agreed.labels, agreed.tied) == ((1, None, 1), False)


@given(st.lists(st.integers(NO_ERROR, 3), min_size=1, max_size=7))
def test_an_agreed_consensus_is_one_that_a_person_could_have_given(stops: list[int]) -> None:
    agreed = plurality(by_stop(*stops), STEPS, Mode.FIRST_ERROR)

    assert agreed is not None
    if not agreed.tied:
        check(agreed.labels, STEPS, Mode.FIRST_ERROR, finish_reason(agreed.labels, Mode.FIRST_ERROR))
        assert agreed.stop in stops


@given(st.lists(st.lists(st.sampled_from([-1, 0, 1]), min_size=4, max_size=4), min_size=1, max_size=7))
def test_the_order_of_people_does_not_matter(people: list[list[int]]) -> None:
    for mode in Mode:
        assert plurality(people, STEPS, mode) == plurality(people[::-1], STEPS, mode)
