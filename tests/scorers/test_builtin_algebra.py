"""Formulas with variables: what they are worth, and whether steps follow from what stands before."""

from __future__ import annotations

import pytest

from annotator.scorers.builtin.algebra import equations, same, valued
from annotator.scorers.builtin.derivations import DERIVATIONS, Derivation


def shown(*steps: str, problem: str = "") -> dict[str, float]:
    """What the last step shows, nought left out."""
    derivation = Derivation()
    derivation.read(problem)
    found: list[float] = []
    for step in steps:
        found = derivation.read(step)
    ignored = {"log_equation_pairs", "derived_before_failed"}
    return {
        name: value for name, value in zip(DERIVATIONS, found, strict=True) if value and name not in ignored
    }


@pytest.mark.parametrize(
    ("side", "worth"),
    [
        (r"\frac{3}{4} + \frac12", 1.25),
        (r"2 \cdot 3^2 - 4!", -6),
        (r"\sqrt{16} + \sqrt[3]{8}", 6),
        (r"\sin 30^\circ", 0.5),
        (r"\sin 30^{\circ}", 0.5),
        ("1,200 ÷ 4", 300),
        ("(2)(3)[4]", 24),
        (r"2\pi", 6.283185307179586),
        ("-2^2", -4),
    ],
)
def test_numbers_have_their_value(side: str, worth: float) -> None:
    found = valued(side)
    assert found is not None
    assert found.values == pytest.approx((worth,) * 3)
    assert not found.variables


@pytest.mark.parametrize(
    "side",
    [
        "",
        "f(x)",
        "3 4",
        r"2\frac12",
        "(1",
        "x^{\\circ",
        "x^",
        "1/0",
        r"\sqrt{-1}",
        "99!",
        "9^9^9",
        "(-8)^{1/3}",
        r"\foo x",
        "((((" * 40,
        "1+" * 150,
        r"\frac{1}",
        "i^2",
        r"\sin " * 30,
    ],
)
def test_what_is_no_formula_has_no_value(side: str) -> None:
    assert valued(side) is None


def test_formulas_that_are_always_equal_have_equal_values() -> None:
    one, other = valued("(x+y)^2"), valued("x^2 + 2xy + y^2")
    assert one is not None
    assert other is not None
    assert one.variables == {"x", "y"}
    assert same(one.values, other.values)


def test_rows_of_an_aligned_chain_go_on() -> None:
    text = r"\begin{align*} x + 1 &= 2 + 3 \\ &= 5 \\ x &= 4 \end{align*}"
    assert list(equations(text)) == [["x + 1", "2 + 3", "5"], ["x", "4"]]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([r"$(x+1)^2 = x^2 + 2x + 1$."], {"identities_hold"}),
        ([r"$y = 2(x+1) = 2x + 1$."], {"identities_fail"}),
        ([r"$2x + 4 = 10$", r"$x + 2 = 5$"], {"multiples_of_earlier"}),
        ([r"$2x + 4 = 10$", r"$x + 2 = 6$"], {"not_derived_from_earlier"}),
        ([r"$2x + 4 = 10$", r"So $x = 3$."], {"solutions_hold"}),
        ([r"$2x + 4 = 10$", r"So $x = 4$."], {"solutions_fail"}),
        ([r"$2x + 4 = 10$", r"If $x = 4$, then no."], {"solutions_fail_in_a_case"}),
        ([r"$x = 3$", r"$x = 5$"], {"solutions_untested", "value_changed"}),
        ([r"$x = 3$ and $y = 4$", r"$xy = 12$"], {"substitutions_hold"}),
        ([r"$x = 3$ and $y = 4$", r"$xy = 13$"], {"substitutions_fail"}),
        ([r"\(2^3 = 8\)"], {"values_agree"}),
        ([r"\(2^3 = 9\)"], {"values_differ"}),
        ([r"\(9 \div 7 = 1\) with remainder 2"], set()),
        ([r"\(f(x) = 2\)"], {"sides_unread"}),
        ([r"\(x = 4 \pm 2\)"], {"sides_unread"}),
        (["No equation here."], set()),
    ],
)
def test_a_step_shows_how_it_follows(steps: list[str], expected: set[str]) -> None:
    assert set(shown(*steps)) == expected


def test_the_problem_is_known_before_the_first_step() -> None:
    assert set(shown("So $x = 3$.", problem="Solve $2x + 4 = 10$.")) == {"solutions_hold"}


@pytest.mark.parametrize(
    "text",
    ["\\(" * 2_600 + "=", "$x=" * 2_600, "=" * 8_000, "\\begin{align}=" * 550, "$" + "x=1," * 1_900 + "$"],
)
def test_text_that_opens_without_end_is_read_all_the_same(text: str) -> None:
    """Each of these would take minutes if it were tried from every place to every other."""
    found = dict(zip(DERIVATIONS, Derivation().read(text), strict=True))
    assert found["identities_hold"] == 0
