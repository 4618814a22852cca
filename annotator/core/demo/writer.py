"""What the problem families write with: a solution grows step by step and knows its own labels.

A route (one way to solve a problem) names the places where an error can be planted. The writer plants at most
one of them. Steps after it go on from the wrong value, as a model would, so the first error is unambiguous and
the labels are right by construction.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from random import Random
from typing import Any, ClassVar

from annotator.core.demo.tex import Num, tex
from annotator.core.labels import NO_ERROR, Label
from annotator.core.solutions import Step


class ErrorKind(StrEnum):
    """What kind of error was planted. REDUNDANT is a neutral step, not an error."""

    CALCULATION = "calculation"
    FORMULA = "wrong_formula"
    CONDITION = "condition_not_verified"
    MISREAD = "misread_problem"
    MISSING_CASE = "missing_case"
    UNJUSTIFIED = "unjustified_jump"
    CONTRADICTION = "contradicts_earlier_step"
    CIRCULAR = "circular"
    REDUNDANT = "redundant"
    NOTATION = "notation_or_unit"
    INVENTED = "invented_fact"
    CODE = "code_does_not_do_what_it_says"


class SlipNotPlanted(RuntimeError):
    """A route declared a place for an error and never came to it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where to err (None: nowhere), whether to notice it at once, to repeat a result needlessly, to restate
    the question first."""

    slip: str | None = None
    kind: ErrorKind | None = None
    recovers: bool = False
    repeats: bool = False
    opens: bool = False


_OPENINGS = (
    "We need to find {ask}.",
    "Let's work out {ask} step by step.",
    "The question asks for {ask}. I'll go through it carefully.",
    "To solve this problem, we have to determine {ask}.",
    "Okay, so what we're looking for is {ask}.",
)
_RECALLS = (
    "Recall that {what} is ${v}$.",
    "As found above, {what} is ${v}$.",
    "So far we have established that {what} is ${v}$.",
    "Just to restate it, {what} is ${v}$.",
)
_MISREMEMBERED = (
    "Recall that {what} is ${v}$, and we continue with that.",
    "As found above, {what} is ${v}$. Let's carry this forward.",
    "From the previous work, {what} is ${v}$.",
)
_RECOVERIES = (
    "Wait, let me double-check that. ${e} = {v}$, not ${w}$, so the line above was wrong. I'll use ${v}$.",
    "Hold on: ${e} = {v}$ rather than ${w}$. I'll correct this before moving on.",
    "Hmm, ${w}$ doesn't look right. Recomputing, ${e} = {v}$. From here on I use ${v}$.",
    "Wait. I made a slip there, since ${e} = {v}$. The correct value is ${v}$.",
)
_ENDINGS = (
    "Therefore, the answer is $§$.",
    "So the final answer is \\[§.\\]",
    "Hence the answer: $§$.",
    "**Final answer:** $§$",
)


@dataclass(slots=True)
class Writer:
    """Collects the steps and labels of one solution; reads its phrasing from ``rng``."""

    rng: Random
    plan: Plan = field(default_factory=Plan)
    steps: list[Step] = field(default_factory=list)
    #: The steps' texts before any numbering.
    sentences: list[str] = field(default_factory=list)
    labels: list[int | None] = field(default_factory=list)
    first_error: int = NO_ERROR
    recovered_at: int | None = None
    repeated: bool = False
    final_answer: str = ""
    style: str = "plain"
    _numbered: int = 0

    def __post_init__(self) -> None:
        self.style = self.rng.choice(("plain", "plain", "plain", "Step {n}: ", "**Step {n}.** "))

    def slips(self, name: str) -> bool:
        """Whether this is the place where the error is planted."""
        return self.plan.slip == name

    def pick(self, *options: str) -> str:
        """One of several phrasings."""
        return options[int(self.rng.random() * len(options))]

    def step(self, *variants: str, at: str | None = None, kind: str = "reasoning") -> None:
        """A valid, useful step, or the planted error where ``at`` names its place."""
        wrong = at is not None and self.slips(at)
        self._write(self.pick(*variants), Label.INCORRECT if wrong else Label.CORRECT, kind)

    def neutral(self, *variants: str) -> None:
        """A valid step that adds nothing."""
        self._write(self.pick(*variants), Label.NEUTRAL, "reasoning")

    def open(self, ask: str) -> None:
        """Sometimes a first step that only restates the question."""
        if self.plan.opens or self.rng.random() < 0.35:
            self.neutral(self.pick(*_OPENINGS).format(ask=ask))

    def compute(
        self,
        name: str,
        value: Num,
        expression: str,
        *variants: str,
        wrong: Sequence[Num] = (),
        show: Callable[[Num], str] = tex,
    ) -> Num:
        """A step that works out ``expression``; returns the value that the text goes on with.

        In the variants ``@`` stands for the expression and ``§`` for its value. Where the error is planted here
        the value is one of ``wrong`` or a near miss; a recovering writer then takes it back in a step of its own
        and goes on with the right one.
        """
        shown = self._near_miss(value, wrong) if self.slips(name) else value
        text = self.pick(*variants).replace("@", expression).replace("§", show(shown))
        self.step(text, at=name)
        if shown != value and self.plan.recovers:
            self.recovered_at = len(self.steps)
            sentence = self.pick(*_RECOVERIES)
            self._write(
                sentence.format(e=expression, v=show(value), w=show(shown)), Label.CORRECT, "retraction"
            )
            return value
        return shown

    def recall(self, name: str, value: Num, what: str, wrong: Sequence[Num] = ()) -> Num:
        """A needless repetition of a value (neutral), or, where planted, one that contradicts it."""
        if self.slips(name):
            value = self._near_miss(value, wrong)
            self.step(self.pick(*_MISREMEMBERED).format(what=what, v=tex(value)), at=name)
        elif self.first_error == NO_ERROR and (self.plan.repeats or self.rng.random() < 0.08):
            self.repeated = True
            self.neutral(self.pick(*_RECALLS).format(what=what, v=tex(value)))
        return value

    def finish(self, answer: Num | str, *variants: str) -> None:
        r"""The last step; ``§`` stands for the boxed answer."""
        self.final_answer = answer if isinstance(answer, str) else tex(answer)
        options = variants if variants and self.rng.random() < 0.7 else _ENDINGS
        self.step(self.pick(*options).replace("§", rf"\boxed{{{self.final_answer}}}"))
        if self.plan.slip is not None and self.first_error == NO_ERROR:
            raise SlipNotPlanted(f"no step was written for the planted error {self.plan.slip!r}")

    def _write(self, text: str, label: Label, kind: str) -> None:
        self.sentences.append(text)
        if self.style != "plain" and kind == "reasoning":
            self._numbered += 1
            text = self.style.format(n=self._numbered) + text
        known = self.first_error == NO_ERROR
        if known and label is Label.INCORRECT:
            self.first_error = len(self.steps)
        self.steps.append(Step(text, kind="reasoning" if kind == "retraction" else kind))
        self.labels.append(label.value if known else None)

    def _near_miss(self, value: Num, wrong: Sequence[Num]) -> Num:
        if wrong:
            return wrong[int(self.rng.random() * len(wrong))]
        if isinstance(value, Fraction) and value.denominator > 1:
            unit = Fraction(self.rng.choice((1, 2)), value.denominator)
            # A probability or a duration must stay positive, or the text would no longer read like a slip.
            return value - unit if max(value, -value) > unit and self.rng.random() < 0.5 else value + unit
        steps = (1, 2, 10) if max(value, -value) >= 20 else (1, 2)
        delta = self.rng.choice(steps) * (1 if value <= 2 or self.rng.random() < 0.5 else -1)
        return value + delta


@dataclass(frozen=True, slots=True)
class Route:
    """One way to solve a problem, and the places where it can go wrong."""

    write: Callable[[Any, Writer], None]
    slips: Mapping[str, ErrorKind]


def route(**slips: ErrorKind) -> Callable[[Callable[[Any, Writer], None]], Route]:
    """Marks a method of a problem family as a route and names its planted errors."""

    def mark(method: Callable[[Any, Writer], None]) -> Route:
        return Route(method, slips)

    return mark


class Problem(ABC):
    """A family of problems; an instance is one problem, drawn in ``__init__`` from a random source."""

    subject: ClassVar[str]
    domain: ClassVar[str] = "math"
    routes: ClassVar[tuple[Route, ...]] = ()

    text: str
    answer: str
    reference: str

    def __init__(self, rng: Random) -> None:
        raise NotImplementedError

    def __init_subclass__(cls) -> None:
        cls.routes = tuple(value for value in vars(cls).values() if isinstance(value, Route))


NAMES = (
    *(
        "Amara",
        "Bjørn",
        "Chiara",
        "Đức",
        "Eleni",
        "Farid",
        "Guðrún",
        "Hana",
        "Imani",
        "João",
        "Kofi",
        "Łukasz",
    ),
    *(
        "Mei",
        "Nadia",
        "Oisín",
        "Priya",
        "Rosa",
        "Şule",
        "Tomás",
        "Uzoma",
        "Václav",
        "Wanjiru",
        "Yusuf",
        "Zoë",
    ),
)
