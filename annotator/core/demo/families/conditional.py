"""Conditional probability."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from annotator.core.demo.tex import Num, frac, tex
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class Bayes(Problem):
    """Which machine made the faulty part."""

    subject = "probability"

    def __init__(self, rng: Random) -> None:
        self.share = rng.choice((20, 25, 30, 40, 60, 70, 75, 80))
        self.p, self.q = rng.sample(range(1, 13), 2)
        self.part = rng.choice(("screw", "lamp", "valve", "chip", "bearing", "tile"))
        self.text = (
            f"Machine A makes {self.share}% of a factory's {self.part}s and machine B the rest. Of the "
            f"{self.part}s from A, {self.p}% are faulty, of those "
            f"from B {self.q}%. A {self.part} chosen at random is faulty. What is the probability that it "
            "was made by machine A?"
        )
        self.fa, self.fb = self.share * self.p, (100 - self.share) * self.q
        self.value = Fraction(self.fa, self.fa + self.fb)
        self.answer = tex(self.value)
        self.reference = (
            rf"Of 10000 {self.part}s, {self.fa} are faulty and from A and {self.fb} are faulty and from B, so the "
            rf"probability is $\frac{{{self.fa}}}{{{self.fa + self.fb}}} = {self.answer}$."
        )

    @route(
        inverse=ErrorKind.MISREAD,
        missing=ErrorKind.MISSING_CASE,
        total=ErrorKind.CALCULATION,
        prior=ErrorKind.FORMULA,
        rest=ErrorKind.CALCULATION,
        joint_again=ErrorKind.CONTRADICTION,
    )
    def table(self, w: Writer) -> None:
        s, p, q, part = self.share, self.p, self.q, self.part
        w.open(f"the probability that the faulty {part} came from machine A")
        rest = w.compute(
            "rest",
            100 - s,
            f"100 - {s}",
            f"Imagine 10000 {part}s. {100 * s} of them come from A; machine B makes the other $@ = §$ "
            "percent.",
            wrong=(110 - s, 90 - s),
        )
        fb = rest * q
        w.step(
            rf"Of those from A, ${p}\%$ are faulty, which is {self.fa} {part}s.",
            rf"Faulty {part}s from A: ${frac(p, 100)} \cdot {100 * s} = {self.fa}$.",
        )
        if w.slips("inverse"):
            w.step(
                rf"The probability we want is that of a faulty {part} from A, which is ${p}\%$, or "
                rf"${tex(Fraction(p, 100))}$.",
                at="inverse",
            )
            w.finish(Fraction(p, 100))
            return
        if w.slips("missing"):
            w.step(
                rf"All 10000 {part}s are possible, so the probability is $\frac{{{self.fa}}}{{10000}} = "
                rf"{tex(Fraction(self.fa, 10000))}$.",
                at="missing",
            )
            w.finish(Fraction(self.fa, 10000))
            return
        w.step(
            rf"Of those from B, ${q}\%$ are faulty, which is {fb} {part}s.",
            rf"Faulty {part}s from B: ${frac(q, 100)} \cdot {100 * rest} = {fb}$.",
        )
        fa = w.recall(
            "joint_again",
            self.fa,
            f"the number of faulty {part}s from A",
            wrong=(self.fa + 10, self.fa + self.fb),
        )
        if w.slips("prior"):
            w.step(
                rf"Given that the {part} is faulty, A and B compare like their shares, so the probability "
                rf"is $\frac{{{s}}}{{100}} = {tex(Fraction(s, 100))}$.",
                at="prior",
            )
            w.finish(Fraction(s, 100))
            return
        total = w.compute(
            "total",
            fa + fb,
            f"{fa} + {fb}",
            f"Altogether $@ = §$ {part}s are faulty.",
            "The number of faulty ones is $@ = §$.",
        )
        value = Fraction(fa) / Fraction(total)
        w.step(
            rf"Since we know that the {part} is faulty, only these count. The share of A among them is "
            rf"$\frac{{{fa}}}{{{total}}}$."
        )
        w.finish(value, "The probability is $§$.", "In lowest terms, the probability is $§$.")

    @route(joint=ErrorKind.CALCULATION, denominator=ErrorKind.FORMULA, weights=ErrorKind.FORMULA)
    def formula(self, w: Writer) -> None:
        s, p, q = Fraction(self.share, 100), Fraction(self.p, 100), Fraction(self.q, 100)
        w.step(
            rf"Let $F$ be the event that the {self.part} is faulty. Bayes' theorem says \[P(A \mid F) = "
            r"\frac{P(F \mid A)P(A)}{P(F \mid A)P(A) + P(F \mid B)P(B)}.\]",
            r"This is a case for Bayes' theorem, \[P(A \mid F) = \frac{P(F \mid A)\,P(A)}{P(F)}.\]",
        )
        joint = w.compute(
            "joint",
            s * p,
            rf"{frac(self.p, 100)} \cdot {frac(self.share, 100)}",
            r"The numerator is $P(F \mid A)P(A) = @ = §$.",
            "For machine A we get $@ = §$.",
        )
        if w.slips("weights"):
            total: Num = p + q
            w.step(
                rf"By the law of total probability, $P(F) = P(F \mid A) + P(F \mid B) = {tex(p)} + "
                rf"{tex(q)} = {tex(total)}$.",
                at="weights",
            )
        elif w.slips("denominator"):
            total = (p + q) / 2
            w.step(
                rf"The overall fault rate is the mean of both rates, $P(F) = \frac{{1}}{{2}}\left({tex(p)} "
                rf"+ {tex(q)}\right) = {tex(total)}$.",
                at="denominator",
            )
        else:
            other = (1 - s) * q
            w.step(
                rf"For machine B it is ${frac(self.q, 100)} \cdot {frac(100 - self.share, 100)} = "
                rf"{tex(other)}$."
            )
            total = joint + other
            w.step(rf"So $P(F) = {tex(joint)} + {tex(other)} = {tex(total)}$.")
        value = Fraction(joint) / Fraction(total)
        w.step(rf"Dividing, $P(A \mid F) = {tex(value)}$.")
        w.finish(value, "The probability that machine A made it is $§$.")


FAMILIES = (Bayes,)
