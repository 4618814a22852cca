"""Draws without replacement and repeated rolls."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from random import Random

from annotator.core.demo.tex import Num, binom, frac, tex
from annotator.core.demo.writer import NAMES, ErrorKind, Problem, Writer, route


class Urn(Problem):
    """Two draws without replacement, different colours."""

    subject = "probability"

    def __init__(self, rng: Random) -> None:
        self.name = rng.choice(NAMES)
        self.x, self.y = rng.sample(("red", "blue", "green", "yellow", "white", "black"), 2)
        self.r, self.b = rng.randrange(3, 15), rng.randrange(3, 15)
        self.box = rng.choice(("urn", "box", "bag", "drawer"))
        self.n = self.r + self.b
        self.text = (
            f"A {self.box} holds {self.r} {self.x} and {self.b} {self.y} balls. {self.name} takes out two "
            "balls at random, one after the other and without "
            f"putting the first one back. What is the probability that they have different colours?"
        )
        self.value = Fraction(2 * self.r * self.b, self.n * (self.n - 1))
        self.answer = tex(self.value)
        self.reference = rf"$\frac{{{self.r} \cdot {self.b}}}{{{binom(self.n, 2)}}} = {self.answer}$."

    @route(
        replaced=ErrorKind.MISREAD,
        order=ErrorKind.MISSING_CASE,
        product=ErrorKind.CALCULATION,
        sum=ErrorKind.FORMULA,
        first_again=ErrorKind.CONTRADICTION,
    )
    def in_order(self, w: Writer) -> None:
        r, b, n, x, y = self.r, self.b, self.n, self.x, self.y
        w.open("the probability of two different colours")
        m = n if w.slips("replaced") else n - 1
        w.step(
            rf"The first ball is {x} with probability ${frac(r, n)}$. The second is then {y} with "
            rf"probability ${frac(b, m)}$, since {m} balls are in the {self.box}.",
            rf"Follow the draws in order. For {x} first and {y} second the two factors are ${frac(r, n)}$ "
            rf"and ${frac(b, m)}$.",
            at="replaced",
        )
        if w.slips("sum"):
            both: Num = Fraction(r, n) + Fraction(b, m)
            w.step(
                rf"The probability that both happen is ${frac(r, n)} + {frac(b, m)} = {tex(both)}$.", at="sum"
            )
        else:
            both = w.compute(
                "product",
                Fraction(r * b, n * m),
                rf"{frac(r, n)} \cdot {frac(b, m)}",
                "So this order has probability $@ = §$.",
                "Multiplying, we get $@ = §$.",
            )
        both = w.recall("first_again", both, f"the probability of {x} followed by {y}")
        if w.slips("order"):
            w.step(
                f"That is the only way to get two different colours, so the probability is ${tex(both)}$.",
                at="order",
            )
            w.finish(both)
            return
        w.step(
            f"The other order, {y} first and {x} second, has the same probability by symmetry.",
            f"For {y} first the same factors appear in another arrangement, so the probability is the same "
            "again.",
        )
        w.step(rf"Adding both orders: $2 \cdot {tex(both)} = {tex(2 * both)}$.")
        w.finish(2 * both, "The probability is $§$.")

    @route(pairs=ErrorKind.CALCULATION, ordered=ErrorKind.FORMULA, mixed=ErrorKind.FORMULA)
    def by_counting(self, w: Writer) -> None:
        r, b, n = self.r, self.b, self.n
        w.open("how likely it is to get one ball of each colour")
        if w.slips("ordered"):
            total: Num = n * (n - 1)
            w.step(
                rf"There are ${n} \cdot {n - 1} = {total}$ ways to draw two balls, and a mixed pair is "
                rf"simply a choice of one {self.x} and one {self.y} ball, so ${r} \cdot {b} = {r * b}$ of "
                r"these draws are mixed.",
                at="ordered",
            )
            mixed = r * b
        else:
            total = w.compute(
                "pairs",
                comb(n, 2),
                binom(n, 2),
                "All pairs of balls are equally likely, and there are $@ = §$ of them.",
                "The number of possible pairs is $@ = §$.",
            )
            mixed = r + b if w.slips("mixed") else r * b
            sign = "+" if w.slips("mixed") else r"\cdot"
            w.step(
                rf"A mixed pair consists of one {self.x} and one {self.y} ball, which gives ${r} {sign} "
                rf"{b} = {mixed}$ pairs.",
                rf"The favourable pairs number ${r} {sign} {b} = {mixed}$.",
                at="mixed",
            )
        value = Fraction(mixed) / Fraction(total)
        w.step(
            rf"The probability is the quotient $\frac{{{mixed}}}{{{total}}}$."
            if value.denominator == total
            else rf"The probability is $\frac{{{mixed}}}{{{total}}} = {tex(value)}$."
        )
        w.finish(value, "So the colours differ with probability $§$.")

    @route(same=ErrorKind.MISREAD, one=ErrorKind.CALCULATION)
    def complement(self, w: Writer) -> None:
        r, b, n = self.r, self.b, self.n
        w.step(
            "Let me compute the probability of equal colours and take the complement.",
            "It is just as easy to look at the opposite event, two balls of the same colour.",
        )
        same = w.compute(
            "one",
            Fraction(comb(r, 2) + comb(b, 2), comb(n, 2)),
            rf"\frac{{{binom(r, 2)} + {binom(b, 2)}}}{{{binom(n, 2)}}}",
            "Its probability is $@ = §$.",
            "Counting pairs, we obtain \\[@ = §\\] for it.",
        )
        if w.slips("same"):
            w.step(f"Hence the requested probability is ${tex(same)}$.", at="same")
            w.finish(same)
            return
        w.step(rf"So the probability of different colours is $1 - {tex(same)} = {tex(1 - same)}$.")
        w.finish(1 - same, "The probability is $§$.")


class AtLeastOne(Problem):
    """At least one high number among several dice."""

    subject = "probability"

    def __init__(self, rng: Random) -> None:
        self.sides, self.rolls = rng.choice((6, 8, 10, 12, 20)), rng.choice((2, 3, 4))
        self.least = rng.randrange(self.sides // 2, self.sides)
        while (self.sides - self.least + 1) * self.rolls >= self.sides:
            self.least, self.rolls = rng.randrange(self.sides // 2, self.sides), rng.choice((2, 3))
        self.name = rng.choice(NAMES)
        self.text = (
            f"{self.name} rolls a fair {self.sides}-sided die (numbered 1 to {self.sides}) "
            f"{('twice', 'three times', 'four times')[self.rolls - 2]}. "
            f"What is the probability that at least one roll shows {self.least} or more?"
        )
        self.low = self.least - 1
        self.high = self.sides - self.low
        self.value = 1 - Fraction(self.low, self.sides) ** self.rolls
        self.answer = tex(self.value)
        self.reference = rf"$1 - \left({frac(self.low, self.sides)}\right)^{self.rolls} = {self.answer}$."

    @route(
        low=ErrorKind.MISREAD,
        power=ErrorKind.CALCULATION,
        multiply=ErrorKind.FORMULA,
        forgot=ErrorKind.MISREAD,
        one=ErrorKind.CALCULATION,
    )
    def complement(self, w: Writer) -> None:
        n, k = self.sides, self.rolls
        w.open(f"the chance of at least one roll of {self.least} or more")
        w.step(
            f"The opposite event is that every roll shows less than {self.least}.",
            f'"At least one" is best handled through the complement: no roll reaches {self.least}.',
        )
        low = self.least if w.slips("low") else self.low
        w.step(
            rf"A single roll does that with probability $\frac{{{low}}}{{{n}}}$, because {low} of the {n} "
            r"faces are small enough.",
            rf"For a single roll this has probability $\frac{{{low}}}{{{n}}}$.",
            at="low",
        )
        if w.slips("multiply"):
            none: Num = Fraction(low, n)
            w.step(
                rf"The die is the same each time, so the probability stays $\frac{{{low}}}{{{n}}}$ for all "
                rf"{k} rolls together.",
                at="multiply",
            )
        else:
            none = w.compute(
                "power",
                Fraction(low, n) ** k,
                rf"\left(\frac{{{low}}}{{{n}}}\right)^{k}",
                f"The {k} rolls are independent, so all of them are small with probability $@ = §$.",
                "By independence we multiply: \\[@ = §.\\]",
            )
        if w.slips("forgot"):
            w.step(f"This is the probability in question, ${tex(none)}$.", at="forgot")
            w.finish(none)
            return
        value = w.compute(
            "one",
            1 - none,
            f"1 - {tex(none)}",
            "The complement has probability $@ = §$.",
            "Therefore the answer is $@ = §$.",
        )
        w.finish(value, "The probability is $§$.")

    @route(add=ErrorKind.FORMULA, case=ErrorKind.CALCULATION)
    def first_success(self, w: Writer) -> None:
        n, k = self.sides, self.rolls
        p, q = Fraction(self.high, n), Fraction(self.low, n)
        w.step(
            rf"On each roll, {self.least} or more comes up with probability $\frac{{{self.high}}}{{{n}}}$.",
            f"Of the {n} faces, {self.high} show at least {self.least}, so a roll succeeds with "
            f"probability $\\frac{{{self.high}}}{{{n}}}$.",
        )
        if w.slips("add"):
            value: Num = k * p
            w.step(
                rf"With {k} rolls the chances add up: ${k} \cdot \frac{{{self.high}}}{{{n}}} = "
                rf"{tex(value)}$.",
                at="add",
            )
            w.finish(value, "So the probability is $§$.")
            return
        w.step(
            "Sort the outcomes by the first roll that succeeds. These cases exclude each other, so we may "
            "add their probabilities."
        )
        terms: list[Num] = [p]
        for j in range(1, k):
            expression = rf"\left(\frac{{{self.low}}}{{{n}}}\right)^{j} \cdot \frac{{{self.high}}}{{{n}}}"
            text = f"It succeeds first on roll number {j + 1} with probability $@ = §$."
            right = q**j * p
            if j == 1:
                terms.append(w.compute("case", right, expression, text))
            else:
                w.step(text.replace("@", expression).replace("§", tex(right)))
                terms.append(right)
        total = sum(terms, start=Fraction(0))
        w.step(f"The sum is ${' + '.join(tex(t) for t in terms)} = {tex(total)}$.")
        w.finish(total, "At least one roll succeeds with probability $§$.")


FAMILIES = (
    Urn,
    AtLeastOne,
)
