"""Final answers: found in what a model writes, and compared."""

from __future__ import annotations

import pytest

from annotator.core import symbolic
from annotator.core.answers import Found, How, final_answer, plain, same_answer


@pytest.mark.parametrize(
    ("text", "answer", "how"),
    [
        (r"So it is \boxed{\frac{1}{2}}.", r"\frac{1}{2}", How.BOXED),
        (r"\boxed{3}, no: \boxed{4}", "4", How.BOXED),
        (r"The answer is 5. \fbox{6}", "6", How.BOXED),
        ("Hence.\n#### 1,234", "1,234", How.MARKED),
        ("The answer is (B), because 3 > 2.", "(B)", How.STATED),
        ("Final answer: 3.5.", "3.5", How.STATED),
        ("**Answer:** **12**", "12", How.STATED),
        ("The answer is 12, so we are done", "12", How.STATED),
        ("She has 5 apples and gives away 3, so 2.", "2", How.NUMBER),
        ("It costs $1,200.50 in all", "$1,200.50", How.NUMBER),
    ],
)
def test_the_last_marked_answer_is_found(text: str, answer: str, how: How) -> None:
    assert final_answer(text) == Found(answer, how)


@pytest.mark.parametrize("text", ["", "I can't say.", "\\boxed{", "\\boxed{}", "x2 and y3z"])
def test_a_text_without_an_answer_has_none(text: str) -> None:
    assert final_answer(text) is None


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("7", "7"),
        ("1,200", r"\$1200.00"),
        ("1000", "1{,}000"),
        ("0.5", r"\frac12"),
        ("5", "x = 5"),
        ("12", "12 apples"),
        ("12", r"12\text{ cm}^2"),
        ("-3", "−3"),
        ("50", r"50\%"),
        ("0.5", "50%"),
        ("10", r"10^\circ"),
        ("B", r"\textbf{(B)}"),
        ("(C)", "C) 12"),
        ("yes", "Yes, it is"),
        ("Tuesday", r"\text{tuesday}."),
        (r"3\sqrt{2}", r"\sqrt{18}"),
    ],
)
def test_the_same_answer_in_other_clothes(
    reference: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of these are decided without the symbolic server."""
    monkeypatch.setattr(symbolic, "same", lambda *_: pytest.fail("nobody needs to be asked"))
    assert same_answer(reference, answer) is True


@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        ("7", "8"),
        ("B", "C"),
        ("A", "An apple"),
        ("yes", "no"),
        (r"\frac{1}{3}", "0.333"),
        ("0", "0.001"),
        ("5", "-5"),
    ],
)
def test_another_answer_is_another(reference: str, answer: str) -> None:
    assert same_answer(reference, answer) is False


@pytest.mark.parametrize(
    ("reference", "answer", "same"),
    [
        ("x^2+2x", "x(x+2)", True),
        ("x^2+2x", "x(x+3)", False),
        (r"2\frac{1}{2}", "2.5", True),
        ("(1,2)", r"\left( 1, 2 \right)", True),
        (r"\{1,2\}", "2, 1", True),
        ("x>3", "3<x", True),
    ],
)
def test_what_needs_algebra_is_asked_of_the_server(reference: str, answer: str, same: bool) -> None:
    assert same_answer(reference, answer) is same


@pytest.mark.parametrize(("reference", "answer"), [("", "1"), ("1", ""), ("x^2", "x" * 600)])
def test_what_cannot_be_told_is_not_guessed(reference: str, answer: str) -> None:
    assert same_answer(reference, answer) is None


def test_wrappings_fall_away() -> None:
    assert plain(r"$\boxed{\mathbf{\text{ 12 }}}$.") == "12"


@pytest.mark.parametrize(
    ("reference", "answer"),
    [("a" * 400 + "1", "b"), ("3", "12 " + "a" * 400 + ")"), ("3", "12 " + "²" * 400 + ")")],
)
def test_a_long_run_of_letters_costs_no_more_than_it_is_long(
    reference: str, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read in two ways, each letter would double the time: this would never end."""
    monkeypatch.setattr(symbolic, "same", lambda *_: None)
    assert same_answer(reference, answer) is None


@pytest.mark.parametrize(("open_ones", "how"), [(49, How.BOXED), (50, How.NUMBER)])
def test_of_a_texts_boxes_only_the_last_are_looked_at(open_ones: int, how: How) -> None:
    assert final_answer(r"\boxed{1} " + r"\boxed{" * open_ones) == Found("1", how)
