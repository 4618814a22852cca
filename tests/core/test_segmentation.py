"""Cutting a trajectory into steps: what each rule does, and what none may ever do."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core.segmentation import BlankStep, Rule, SegmentationError, UnknownRule, segment, steps
from annotator.core.solutions import full_text

CUTTING_RULES = [rule for rule in Rule if rule is not Rule.PRE]

#: Each is one thing that must stay whole, with what would tempt every rule inside it.
WHOLE = [
    "$$a = 1. B\n\nStep 2: c\n1. d$$",
    "\\[x.\n\nY = 2. Z\n\nStep 3: q\\]",
    "\\(p. Q\n\nR\\)",
    "$u. V + 2. W$",
    "$3, 4. K$",
    "\\begin{align}a &= 1. B \\\\[2pt]\n\n\\begin{cases}1. C\n\n2. D\\end{cases}\n\nStep 4: E\\end{align}",
    "```python\nx = 1. \n\nStep 5: y\n1. z\n```",
    "~~~\nA. B\n\n```\n1. c\n~~~",
    "`a. B\nStep 6: c`",
    "[asy]\ndraw(A. B);\n\nlabel(C);\n[/asy]",
]
PLAIN = [
    "Step 1: We add. ",
    "So it costs $5. Then ",
    "prices of $3 and $4",
    "1. First. ",
    "2) Second\n",
    "\n\n",
    "\n",
    "Hence, e.g. in Fig. 3, it holds. ",
    " and then\n\n",
    "Is it? Yes! ",
    "答案是三。下一步",
    "   ",
]


def texts(text: str, rule: str = "auto") -> list[str]:
    return [piece.text for piece in segment(text, rule).pieces]


fragments = st.lists(
    st.sampled_from(PLAIN) | st.sampled_from([f"\n{whole}\n" for whole in WHOLE]), max_size=12
)
composed = fragments.map("".join)
arbitrary = st.text() | st.text(alphabet="$\\[](){}`~.!? \nAa1Step:beginend")


# What holds for every rule


@given(text=arbitrary | composed, rule=st.sampled_from(CUTTING_RULES))
def test_pieces_and_separators_give_the_text_back(text: str, rule: Rule) -> None:
    found = segment(text, rule)

    assert found.restore() == text
    if text.strip():
        assert full_text(steps(text, rule)) == text


@given(text=arbitrary | composed, rule=st.sampled_from(CUTTING_RULES))
def test_no_step_is_blank_and_separators_are_white_space(text: str, rule: Rule) -> None:
    for piece in segment(text, rule).pieces:
        assert piece.text.strip()
        assert not piece.sep.strip()


@given(before=composed, whole=st.sampled_from(WHOLE), after=composed, rule=st.sampled_from(CUTTING_RULES))
def test_formulas_and_code_stay_in_one_step(before: str, whole: str, after: str, rule: Rule) -> None:
    text = f"{before}\n\n{whole}\n\n{after}"

    pieces = texts(text, rule)

    assert sum(piece.count(whole) for piece in pieces) == text.count(whole)


@given(
    text=st.lists(st.sampled_from([*WHOLE, "We add them.", "So it is 4."]), min_size=1).map("\n\n".join),
    rule=st.sampled_from([Rule.BLANK_LINE, Rule.LINE]),
)
def test_a_piece_is_not_cut_again_by_its_own_rule(text: str, rule: Rule) -> None:
    for piece in texts(text, rule):
        assert texts(piece, rule) == [piece]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t"])
@pytest.mark.parametrize("rule", CUTTING_RULES)
def test_a_blank_text_has_no_steps_and_is_kept(text: str, rule: Rule) -> None:
    found = segment(text, rule)

    assert found.pieces == ()
    assert found.leading == text


def test_leading_white_space_stays_with_the_first_step_and_indentation_with_its_line() -> None:
    assert texts("  a\n\n    b\n", "blank_line") == ["  a", "    b"]


# The rules


def test_blank_line_keeps_single_line_breaks() -> None:
    assert texts("a\nb\n \nc\n\n\n\nd", "blank_line") == ["a\nb", "c", "d"]


def test_line_cuts_at_each_line_break() -> None:
    assert texts("a\nb\r\n\nc", "line") == ["a", "b", "c"]


@pytest.mark.parametrize(
    "marker",
    ["Step 2:", "**Step 2:**", "### Step 2:", "STEP 2.", "Step 2)", "**Step 2** –", "- Step 2:", "Step 2"],
)
def test_step_k_cuts_at_markers_with_and_without_markdown(marker: str) -> None:
    assert texts(f"Let us see.\nStep 1: add\n\nstill the first\n{marker}\nmultiply", "step_k") == [
        "Let us see.",
        "Step 1: add\n\nstill the first",
        f"{marker}\nmultiply",
    ]


def test_step_k_cuts_at_a_marker_after_a_sentence_but_not_at_a_mention() -> None:
    assert texts("Step 1: Add. Step 2: From Step 1: it follows that", "step_k") == [
        "Step 1: Add.",
        "Step 2: From Step 1: it follows that",
    ]


@pytest.mark.parametrize("form", ["{}.", "{})", "**{}."])
def test_numbered_follows_the_outer_count(form: str) -> None:
    one, two, nested = (form.format(number) for number in (1, 2, 1))
    text = f"Plan:\n{one} Add\n   {nested} deeper\n{two} Multiply\n1998. was a year"

    assert texts(text, "numbered") == [
        "Plan:",
        f"{one} Add\n   {nested} deeper",
        f"{two} Multiply\n1998. was a year",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is 3.14. Then we stop.", ["It is 3.14.", "Then we stop."]),
        ("Use a prime, e.g. Two. Done.", ["Use a prime, e.g. Two.", "Done."]),
        ("By Eq. (2) and Fig. 3 it holds. So", ["By Eq. (2) and Fig. 3 it holds.", "So"]),
        ("Dr. Smith and J. R. Moore agree. Yes.", ["Dr. Smith and J. R. Moore agree.", "Yes."]),
        ("1, 2, ... , n are given. Add.", ["1, 2, ... , n are given.", "Add."]),
        ("And so on... Then stop.", ["And so on...", "Then stop."]),
        (
            "Add apples, pears, etc. Then 5 ft. 3 in. remain.",
            ["Add apples, pears, etc.", "Then 5 ft. 3 in. remain."],
        ),
        ("There are 5! 4 of them. Why?", ["There are 5! 4 of them.", "Why?"]),
        ("Is it? Yes! $x$ is.", ["Is it?", "Yes!", "$x$ is."]),
        ("Thus $x = 3.$ Also \\(y = 4.\\) Hence.", ["Thus $x = 3.$", "Also \\(y = 4.\\)", "Hence."]),
        ("Call the point A. Now move.", ["Call the point A.", "Now move."]),
        ("1. Add them. Then stop.", ["1. Add them.", "Then stop."]),
        ("It costs $5. So two cost $10. Good.", ["It costs $5.", "So two cost $10.", "Good."]),
        ("No full stop\n\nNew paragraph", ["No full stop", "New paragraph"]),
        ("首先相加。然后相乘。", ["首先相加。", "然后相乘。"]),
    ],
)
def test_sentence(text: str, expected: list[str]) -> None:
    assert texts(text, "sentence") == expected


def test_currency_does_not_open_a_formula() -> None:
    text = "He pays $2, she $3. Then $y = x^2. Z$ holds. It is $80,000. Done."

    assert texts(text, "sentence") == [
        "He pays $2, she $3.",
        "Then $y = x^2. Z$ holds.",
        "It is $80,000.",
        "Done.",
    ]


def test_a_fence_that_is_never_closed_runs_to_the_end() -> None:
    assert texts("Look:\n\n```py\na\n\nb", "blank_line") == ["Look:", "```py\na\n\nb"]


def test_an_environment_that_is_never_closed_protects_nothing() -> None:
    assert texts("\\begin{align} a\n\nb", "blank_line") == ["\\begin{align} a", "b"]


# Choosing a rule


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Step 1: a\n\nb\n\nStep 2: c", Rule.STEP_K),
        ("1. a\n2. b\n3. c\n\nSo d.", Rule.NUMBERED),
        ("Plan:\n\n1. a\n\nmore\n\n2. b", Rule.BLANK_LINE),
        ("a\n\nb\nc", Rule.BLANK_LINE),
        ("a\nb", Rule.LINE),
        ("We add. We stop.", Rule.SENTENCE),
        ("As Step 4: says\n\nso it is", Rule.BLANK_LINE),
    ],
)
def test_auto_takes_the_first_rule_that_fits(text: str, rule: Rule) -> None:
    found = segment(text)

    assert found.rule is rule
    assert found.pieces == segment(text, rule).pieces


def test_auto_says_why() -> None:
    assert segment("Step 1: a\nStep 2: b").reason == '2 "Step k" markers that count up'


def test_auto_counts_no_marker_inside_code() -> None:
    assert segment("```\nStep 1: a\nStep 2: b\n```\n\nSo c.").rule is Rule.BLANK_LINE


def test_an_unknown_rule_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownRule, match=r"'words'.*auto, pre, blank_line"):
        segment("a", "words")


# Steps that are cut already


@pytest.mark.parametrize("rule", Rule)
def test_a_list_is_taken_as_it_is(rule: Rule) -> None:
    found = segment(["a\n\nb", " c "], rule)

    assert found.rule is Rule.PRE
    assert [piece.text for piece in found.pieces] == ["a\n\nb", " c "]


def test_a_blank_entry_of_a_list_is_refused_by_its_index() -> None:
    with pytest.raises(BlankStep, match="step 2 is blank") as caught:
        segment(["a", " \n"])
    assert caught.value.step == 1


def test_pre_refuses_one_text() -> None:
    with pytest.raises(SegmentationError, match="takes a list"):
        segment("a", "pre")


def test_a_piece_that_is_one_fence_is_code() -> None:
    found = steps("Run this:\n\n```py\nx = 1\n\ny = 2\n```\n\nand `z`.\n\n```\na\n```\nmore", "blank_line")

    assert [step.kind for step in found] == ["reasoning", "code", "reasoning", "reasoning"]
    assert all(step.judged for step in found)


# Hostile texts


HOSTILE = [
    "$",
    "$ ",
    "$a\n\n",
    "\\begin{a}",
    "\\begin{a}\\end{b}",
    "\\[",
    "`",
    "`a\n\n",
    "```\n",
    "~",
    "\\",
    ".",
]
HOSTILE += [". ", ".)", " ", "\n ", "Step 1: ", "1. a\n", "。", "$5 cat ", "A. "]


@pytest.mark.parametrize("unit", HOSTILE)
def test_time_grows_with_the_text_and_not_with_its_square(unit: str) -> None:
    """Quadratic work on 200 kB takes minutes; linear work about half a second on a slow machine."""
    text = unit * (200_000 // len(unit))

    started = time.process_time()
    found = segment(text + "x")

    assert time.process_time() - started < 5
    assert found.restore() == text + "x"


def test_a_megabyte_of_dollars_is_cut_in_seconds() -> None:
    started = time.process_time()

    segment("$" * 500_000 + "\\begin{align}" * 40_000)

    assert time.process_time() - started < 10


# Real texts


def test_real_solutions_joined_by_blank_lines_come_apart_again(shared_data: Path) -> None:
    differing = 0
    for line in (shared_data / "processbench_gsm8k.jsonl").read_text().splitlines():
        row = json.loads(line)
        given = [step.strip() for step in row["steps"]]
        differing += [text.strip() for text in texts("\n\n".join(given), "blank_line")] != given
    assert differing == 0
