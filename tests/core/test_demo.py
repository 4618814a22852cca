"""The demo content: its labels are right, and that is checked here without trusting the code that wrote it."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest

from annotator.core.demo import GUIDELINES, DemoItem, demo_set, generate, handwritten
from annotator.core.demo.writer import ErrorKind
from annotator.core.labels import NO_ERROR, acceptable_stops, check_shape, stop
from annotator.core.solutions import SolutionRecord, judged_mask

MATH = re.compile(r"\\\[(.*?)\\\]|(?<!\\)\$(.*?)(?<!\\)\$", re.S)
BINARY = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}


class NotNumeric(ValueError):
    """A side of an equation that isn't plain arithmetic."""


def without_code(text: str) -> str:
    """The text with code fences and code spans taken out, where $ and backslashes mean something else."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"```.*?```", "", text, flags=re.S))


def group(text: str, start: int) -> tuple[str, int]:
    """What stands between the braces that open at ``start``, and the index after them."""
    depth = 0
    for index in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[start + 1 : index], index + 1
    raise NotNumeric(text)


def expand(text: str, command: str, shape: str) -> str:
    r"""``\command{a}{b}`` rewritten as ``shape`` with A and B replaced."""
    while (at := text.find("\\" + command + "{")) >= 0:
        first, after = group(text, at + len(command) + 1)
        if not text[after:].startswith("{"):
            raise NotNumeric(text)
        second, end = group(text, after)
        text = text[:at] + shape.replace("A", f"({first})").replace("B", f"({second})") + text[end:]
    return text


def value_of(side: str) -> Fraction:
    """The value of one side of an equation; NotNumeric when it holds a letter or a relation."""
    text = expand(expand(side, "binom", "comb(A,B)"), "frac", "(A/B)")
    for latex, python in ((r"\left", ""), (r"\right", ""), (r"\times", "*"), (r"\cdot", "*"), (r"\div", "/")):
        text = text.replace(latex, python)
    text = text.replace("{", "(").replace("}", ")").replace("^", "**").strip(" .,;")
    text = re.sub(r"(\d+)!", r"fact(\1)", text)
    text = re.sub(r"([\d)])\s*(?=\()", r"\1*", re.sub(r"\b(comb|fact)\(", r"\1§", text)).replace("§", "(")
    if not re.fullmatch(r"(?:[\d\s+\-*/().,]|comb|fact)+", text):
        raise NotNumeric(side)
    try:
        return evaluate(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, ZeroDivisionError, TypeError) as error:
        raise NotNumeric(side) from error


def evaluate(node: ast.expr) -> Fraction:
    """Exact arithmetic over a syntax tree."""
    if isinstance(node, ast.Constant):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp):
        return -evaluate(node.operand)
    if isinstance(node, ast.BinOp):
        return Fraction(BINARY[type(node.op)](evaluate(node.left), evaluate(node.right)))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        numbers = [int(evaluate(arg)) for arg in node.args]
        return Fraction(math.comb(*numbers) if node.func.id == "comb" else math.factorial(*numbers))
    raise NotNumeric(ast.dump(node))


def equations(text: str) -> list[tuple[str, str, bool]]:
    """Pairs of neighbouring sides that are both plain arithmetic, and whether they agree."""
    found = []
    for display, inline in MATH.findall(without_code(text)):
        chain = re.split(
            r"\\equiv|\\pmod|\\approx|\\(?:ne|le|ge)(?![a-z])|\\quad|\\\\|[<>~:|]",
            (display or inline).replace("&", ""),
        )
        for left, right in (pair for part in chain for pair in pairwise(part.split("="))):
            try:
                found.append((left, right, value_of(left) == value_of(right)))
            except NotNumeric:
                continue
    return found


@pytest.fixture(scope="module")
def made() -> list[SolutionRecord]:
    return list(generate(950, seed=7))


def broken_math(text: str) -> str | None:
    """What is unbalanced in a text, if anything."""
    text = without_code(text).replace(r"\$", "")
    if text.count("$") % 2:
        return "an odd number of dollar signs"
    outside = re.sub(r"\$[^$]*\$", "", text)
    if re.findall(r"\\[\[\]]", outside) != [r"\[", r"\]"] * (outside.count(r"\[")):
        return "display brackets that don't pair up"
    for span in re.findall(r"\$([^$]*)\$", text) + re.findall(r"\\\[(.*?)\\\]", text, re.S):
        if span.count("{") != span.count("}") or not span.strip():
            return f"braces in {span!r}"
        if re.findall(r"\\begin\{(\w+)\}", span) != re.findall(r"\\end\{(\w+)\}", span):
            return f"environments in {span!r}"
    return None


def test_the_arithmetic_of_this_file_knows_latex() -> None:
    held = [
        holds
        for *_, holds in equations(r"$2 \cdot \frac{3}{4} = \frac{3}{2}$ and \[\binom{5}{2} + 3! = 16.\]")
    ]
    assert held == [True, True]
    assert [holds for *_, holds in equations(r"$7 \times 8 = 54$, $x = 3$")] == [False]


def test_same_seed_same_content() -> None:
    assert list(generate(40, seed=3)) == list(generate(40, seed=3))
    assert list(generate(40, seed=3)) != list(generate(40, seed=4))


def test_all_solutions_are_distinct(made: list[SolutionRecord]) -> None:
    assert len(made) >= 3000
    assert len({record.content_hash() for record in made}) == len(made)
    assert len({record.external_id for record in made}) == len(made)


def test_each_problem_has_two_to_five_solutions_of_three_steps_or_more(made: list[SolutionRecord]) -> None:
    sizes = Counter(record.problem.external_id for record in made)
    assert set(sizes.values()) == {2, 3, 4, 5}
    assert {len(record.steps) for record in made} <= set(range(3, 13))


def test_labels_are_well_formed_and_stop_at_the_first_error(made: list[SolutionRecord]) -> None:
    for record in made:
        assert record.labels is not None
        check_shape(record.labels, judged_mask(record.steps))
        assert stop(record.labels, judged_mask(record.steps)) == record.first_error
        if record.first_error != NO_ERROR:
            assert set(record.labels[record.first_error + 1 :]) <= {None}


def test_a_solution_without_an_error_ends_in_the_known_answer(made: list[SolutionRecord]) -> None:
    clean = [record for record in made if record.first_error == NO_ERROR]
    assert all(record.final_answer == record.problem.answer for record in clean)


def test_answer_correct_says_whether_the_boxed_answer_is_the_known_one(made: list[SolutionRecord]) -> None:
    for record in made:
        assert rf"\boxed{{{record.final_answer}}}" in record.steps[-1].text
        assert record.answer_correct == (record.final_answer == record.problem.answer)


def test_equations_before_the_first_error_hold(made: list[SolutionRecord]) -> None:
    checked = 0
    for record in made:
        end = record.first_error if record.first_error != NO_ERROR else len(record.steps)
        for step in record.steps[:end]:
            for left, right, holds in equations(step.text):
                assert holds, f"{record.external_id}: {left} = {right} in {step.text!r}"
                checked += 1
    assert checked > 4000


def test_a_calculation_error_is_an_equation_that_does_not_hold(made: list[SolutionRecord]) -> None:
    planted = [record for record in made if record.meta["error_kind"] == ErrorKind.CALCULATION]
    assert len(planted) > 300
    for record in planted:
        assert record.first_error is not None
        step = record.steps[record.first_error].text
        assert not all(holds for *_, holds in equations(step)), f"{record.external_id}: {step!r}"


def test_a_retraction_follows_its_error_and_the_answer_is_right(made: list[SolutionRecord]) -> None:
    corrected = [record for record in made if record.meta["self_corrected"]]
    assert len(corrected) > 30
    for record in corrected:
        assert record.first_error is not None
        assert record.meta["recovered_at"] == record.first_error + 1
        assert record.answer_correct
        retraction = record.steps[record.first_error + 1].text
        assert all(holds for *_, holds in equations(retraction)), retraction


def test_the_mix_of_right_and_wrong(made: list[SolutionRecord]) -> None:
    wrong = [record for record in made if record.first_error != NO_ERROR]
    lucky = [r for r in wrong if r.answer_correct and not r.meta["self_corrected"]]
    neutral = [r for r in made if r.labels is not None and 0 in r.labels]
    assert 0.35 <= len(wrong) / len(made) <= 0.65
    assert 0.01 <= len(lucky) / len(made) <= 0.1
    assert len(neutral) / len(made) >= 0.2


def test_every_kind_of_error_occurs(made: list[SolutionRecord]) -> None:
    kinds = Counter(record.meta["error_kind"] for record in made)
    assert set(kinds) == {None, *ErrorKind}
    assert min(kinds.values()) >= 5


def test_the_larger_models_err_less(made: list[SolutionRecord]) -> None:
    def rate(model: str) -> float:
        theirs = [r.first_error != NO_ERROR for r in made if r.generator["model"] == model]
        return sum(theirs) / len(theirs)

    assert rate("demo-small") > rate("demo-medium") > rate("demo-large")


def test_formulas_are_balanced(made: list[SolutionRecord]) -> None:
    for record in made:
        for text in (
            record.problem.text,
            record.problem.solution or "",
            *(step.text for step in record.steps),
        ):
            assert broken_math(text) is None, f"{record.external_id}: {broken_math(text)}: {text!r}"


def test_no_placeholder_is_left_in_the_text(made: list[SolutionRecord]) -> None:
    for record in made:
        for step in record.steps:
            assert not re.search("[§@]|Fraction|None", without_code(step.text)), step.text


@pytest.fixture(scope="module")
def ours() -> list[SolutionRecord]:
    return list(handwritten())


@pytest.fixture(scope="module")
def items() -> list[DemoItem]:
    return demo_set()


def test_the_handwritten_file_has_enough_problems_and_solutions(ours: list[SolutionRecord]) -> None:
    assert len({record.problem.external_id for record in ours}) >= 14
    assert len({record.content_hash() for record in ours}) == len(ours) >= 40
    assert max(len(record.steps) for record in ours) >= 20


def test_handwritten_labels_are_well_formed_and_stop_at_the_first_error(ours: list[SolutionRecord]) -> None:
    for record in ours:
        assert record.labels is not None
        check_shape(record.labels, judged_mask(record.steps))
        assert stop(record.labels, judged_mask(record.steps)) == record.first_error, record.external_id


def test_handwritten_answers_are_boxed_and_judged_rightly(ours: list[SolutionRecord]) -> None:
    for record in ours:
        assert rf"\boxed{{{record.final_answer}}}" in record.steps[-1].text, record.external_id
        assert record.answer_correct == (record.final_answer == record.problem.answer)
        assert record.answer_correct or record.first_error != NO_ERROR


def test_handwritten_equations_before_the_first_error_hold(ours: list[SolutionRecord]) -> None:
    checked = 0
    for record in ours:
        # Unescaped currency signs would pair up with those of formulas.
        if "stationery" in record.external_id:
            continue
        end = record.first_error if record.first_error != NO_ERROR else len(record.steps)
        for step in record.steps[:end]:
            for left, right, holds in equations(step.text):
                assert holds, f"{record.external_id}: {left} = {right}"
                checked += 1
    assert checked > 50


def test_handwritten_formulas_are_balanced(ours: list[SolutionRecord]) -> None:
    for record in ours:
        if "stationery" in record.external_id:
            continue
        for text in (
            record.problem.text,
            record.problem.solution or "",
            *(step.text for step in record.steps),
        ):
            assert broken_math(text) is None, f"{record.external_id}: {broken_math(text)}: {text!r}"


def test_the_handwritten_ones_hold_context_currency_and_other_scripts(ours: list[SolutionRecord]) -> None:
    assert any(not step.judged for record in ours for step in record.steps)
    assert any(r"\$16" in record.problem.text and "$2 each" in record.problem.text for record in ours)
    assert any("ليلى" in record.problem.text for record in ours)


def test_the_demo_set_has_the_size_of_a_small_project(items: list[DemoItem]) -> None:
    assert 45 <= len({item.record.problem.external_id for item in items}) <= 70
    assert 140 <= len(items) <= 220
    assert len({item.record.content_hash() for item in items}) == len(items)
    assert {item.record.problem.domain for item in items} == {"math", "code", "logic"}


def test_the_demo_set_is_the_same_each_time(items: list[DemoItem]) -> None:
    assert demo_set() == items


def test_gold_problems_are_never_ordinary_work(items: list[DemoItem]) -> None:
    gold = {item.record.problem.text for item in items if item.gold}
    assert gold.isdisjoint(item.record.problem.text for item in items if not item.gold)


def test_gold_covers_errors_of_several_kinds(items: list[DemoItem]) -> None:
    gold = [item.record for item in items if item.gold]
    wrong = [record for record in gold if record.first_error != NO_ERROR]
    assert 20 <= len(gold) <= 30
    assert 0.4 <= len(wrong) / len(gold) <= 0.8
    assert len({record.meta["error_kind"] for record in wrong}) >= 5


def test_gold_accepts_exactly_the_known_stop(items: list[DemoItem]) -> None:
    for item in items:
        if item.gold:
            assert item.record.accept is not None
            assert acceptable_stops(item.record.accept) == {item.record.first_error}
        else:
            assert item.record.accept is None


def test_the_guidelines_explain_each_label_in_a_page() -> None:
    assert 350 <= len(GUIDELINES.split()) <= 520
    assert broken_math(GUIDELINES) is None
    for word in ("Correct", "Neutral", "Incorrect", "Unsure", "Give up", "Bad problem", "first incorrect"):
        assert f"**{word}" in GUIDELINES or word in GUIDELINES
