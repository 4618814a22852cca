"""Rows of beads and paths on a grid."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial
from random import Random

from annotator.core.demo.tex import Num, binom, frac
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class Beads(Problem):
    """Rows of beads in three colours with the same colour at both ends."""

    subject = "combinatorics"

    def __init__(self, rng: Random) -> None:
        self.r, self.b, self.g = rng.randrange(3, 7), rng.randrange(2, 6), rng.randrange(2, 5)
        self.x, self.y, self.z = rng.sample(("red", "blue", "green", "white", "black", "amber"), 3)
        self.text = (
            f"{self.r} {self.x}, {self.b} {self.y} and {self.g} {self.z} beads are threaded in a row; "
            "beads of one colour look alike. "
            f"In how many different rows are both end beads {self.x}?"
        )
        self.n = self.r - 2 + self.b + self.g
        self.count = factorial(self.n) // (factorial(self.r - 2) * factorial(self.b) * factorial(self.g))
        self.answer = str(self.count)
        self.reference = (
            rf"With both ends fixed, ${self.n}$ beads remain: ${self._quotient()} = {self.answer}$."
        )

    def _quotient(self) -> str:
        return rf"\frac{{{self.n}!}}{{{self.r - 2}! \cdot {self.b}! \cdot {self.g}!}}"

    @route(
        minus_one=ErrorKind.MISREAD,
        value=ErrorKind.CALCULATION,
        alike=ErrorKind.FORMULA,
        forgot=ErrorKind.CONTRADICTION,
        ends=ErrorKind.FORMULA,
    )
    def multinomial(self, w: Writer) -> None:
        r, b, g, n = self.r, self.b, self.g, self.n
        w.open(f"the number of rows with {self.x} beads at both ends")
        if w.slips("minus_one"):
            w.step(
                f"To satisfy the condition we fix one {self.x} bead at the end of the row. The other {n + 1} beads, "
                f"{r - 1} {self.x}, {b} {self.y} and {g} {self.z}, can then be placed freely.",
                at="minus_one",
            )
            wrong = factorial(n + 1) // (factorial(r - 1) * factorial(b) * factorial(g))
            w.step(
                rf"They can be arranged in $\frac{{{n + 1}!}}{{{r - 1}! \cdot {b}! \cdot {g}!}} = {wrong}$ "
                r"ways."
            )
            w.finish(wrong)
            return
        w.step(
            f"Put a {self.x} bead at each end. Between them there are {n} beads: {r - 2} {self.x}, {b} "
            f"{self.y} and {g} {self.z}.",
            f"Both ends are fixed as {self.x}, so {n} positions remain for {r - 2} {self.x}, {b} {self.y} "
            f"and {g} {self.z} beads.",
        )
        n = int(w.recall("forgot", n, "the number of beads between the ends", wrong=(n + 1, n + 2)))
        top = factorial(n)
        if w.slips("alike"):
            w.step(f"These {n} beads can be arranged in ${n}! = {top}$ different ways.", at="alike")
            w.finish(top)
            return
        value = top // (factorial(r - 2) * factorial(b) * factorial(g))
        bottom = rf"{r - 2}! \cdot {b}! \cdot {g}!"
        value = int(
            w.compute(
                "value",
                value,
                rf"\frac{{{n}!}}{{{bottom}}}",
                "Beads of the same colour can't be told apart, so the number of rows is $@ = §$.",
                "Dividing by the permutations within each colour gives \\[@ = §.\\]",
            )
        )
        if w.slips("ends"):
            w.step(
                r"The two beads at the ends can also be swapped, which doubles the count: $2 \cdot "
                rf"{value} = {2 * value}$.",
                at="ends",
            )
            value *= 2
        w.finish(value, "There are $§$ such rows.")

    @route(first=ErrorKind.CALCULATION, second=ErrorKind.FORMULA, last=ErrorKind.CALCULATION)
    def choose_places(self, w: Writer) -> None:
        b, g, n = self.b, self.g, self.n
        w.step(
            f"The two ends are taken by {self.x} beads, so we fill the {n} inner places.",
            f"Only the {n} places between the ends are still free.",
        )
        first = w.compute(
            "first",
            comb(n, b),
            binom(n, b),
            f"Choose the places of the {self.y} beads: $@ = §$ ways.",
            f"The {b} {self.y} beads can go to $@ = §$ sets of places.",
        )
        left = n if w.slips("second") else n - b
        second = comb(left, g)
        w.step(
            rf"Then the {self.z} beads take {g} of the {left} places, in ${binom(left, g)} = {second}$ "
            rf"ways; the rest is {self.x}.",
            rf"For the {self.z} beads there are ${binom(left, g)} = {second}$ possibilities, and the "
            rf"{self.x} ones fill what is left.",
            at="second",
        )
        total = w.compute(
            "last",
            first * second,
            rf"{first} \cdot {second}",
            "The product is $@ = §$.",
            "Multiplying both counts, $@ = §$.",
        )
        w.finish(total, "So there are $§$ rows.")


class LatticePaths(Problem):
    """Shortest paths on a grid that avoid a closed crossing."""

    subject = "combinatorics"

    def __init__(self, rng: Random) -> None:
        self.m, self.n = rng.randrange(4, 9), rng.randrange(4, 9)
        self.p, self.q = rng.randrange(1, self.m), rng.randrange(1, self.n)
        self.closed = rng.choice(("flooded", "closed for repairs", "blocked by a parade"))
        self.text = (
            f"A courier rides from $(0, 0)$ to $({self.m}, {self.n})$ on a grid of streets, always one "
            "block east or one block north. "
            f"The crossing $({self.p}, {self.q})$ is {self.closed}. How many routes avoid it?"
        )
        self.all = comb(self.m + self.n, self.m)
        self.before, self.after = (
            comb(self.p + self.q, self.p),
            comb(self.m - self.p + self.n - self.q, self.m - self.p),
        )
        self.answer = str(self.all - self.before * self.after)
        self.reference = (
            rf"All routes minus those through the crossing: ${self.all} - {self.before} \cdot {self.after} = "
            rf"{self.answer}$."
        )

    @route(
        all=ErrorKind.CALCULATION,
        plus=ErrorKind.FORMULA,
        through=ErrorKind.MISREAD,
        product=ErrorKind.CALCULATION,
        after=ErrorKind.FORMULA,
        after_again=ErrorKind.CONTRADICTION,
    )
    def complement(self, w: Writer) -> None:
        m, n, p, q = self.m, self.n, self.p, self.q
        w.open(f"the number of routes that don't pass through $({p}, {q})$")
        total = w.compute(
            "all",
            self.all,
            binom(m + n, m),
            f"A route is a sequence of {m} steps east and {n} steps north, so without the closure there "
            "are $@ = §$ routes.",
            f"Each route consists of {m + n} moves, {m} of them east. That makes \\[@ = §\\] routes in all.",
        )
        w.step(
            rf"The ways to reach the closed crossing number ${binom(p + q, p)} = {self.before}$.",
            rf"From the start to $({p}, {q})$ there are ${binom(p + q, p)} = {self.before}$ ways.",
        )
        u, v = (m, n) if w.slips("after") else (m - p, n - q)
        after: Num = comb(u + v, u)
        w.step(
            rf"From there to the destination, {u} steps east and {v} steps north are needed: "
            rf"${binom(u + v, u)} = {after}$ ways.",
            at="after",
        )
        after = w.recall(
            "after_again", after, "the number of ways from the closed crossing to the destination"
        )
        if w.slips("plus"):
            bad: Num = self.before + after
            w.step(f"So ${self.before} + {after} = {bad}$ routes use the closed crossing.", at="plus")
        else:
            bad = w.compute(
                "product",
                self.before * after,
                rf"{self.before} \cdot {after}",
                "So the routes through the crossing number $@ = §$.",
                "By the product rule, $@ = §$ routes pass through it.",
            )
        if w.slips("through"):
            w.step(f"This is the number that was asked for: ${bad}$ routes.", at="through")
            w.finish(bad)
            return
        w.step(
            f"The others avoid it: ${total} - {bad} = {total - bad}$."
            if total > bad
            else f"Subtracting from ${total}$ gives ${total - bad}$."
        )
        w.finish(total - bad, "The courier has $§$ routes.")

    @route(share=ErrorKind.INVENTED, sum=ErrorKind.CALCULATION)
    def by_diagonal(self, w: Writer) -> None:
        m, n, d = self.m, self.n, self.p + self.q
        if w.slips("share"):
            w.step(rf"In total there are ${binom(m + n, m)} = {self.all}$ routes.")
            w.step(
                "By the uniform crossing principle, every crossing at the same distance from the start is "
                f"used by equally many routes; there are {d + 1} crossings at distance {d}.",
                at="share",
            )
            w.step(rf"So the fraction ${frac(d, d + 1)}$ of the routes avoids the closed one.")
            w.finish(Fraction(self.all * d, d + 1))
            return
        w.step(
            f"After {d} moves the courier is on the diagonal $x + y = {d}$, at exactly one of its "
            "crossings, so we sort the routes by that crossing."
        )
        cells = [i for i in range(max(0, d - n), min(m, d) + 1) if i != self.p]
        terms = [comb(d, i) * comb(m + n - d, m - i) for i in cells]
        w.step(
            f"A crossing $(i, {d} - i)$ lies on $\\binom{{{d}}}{{i}}\\binom{{{m + n - d}}}{{{m} - i}}$ "
            "routes."
        )
        w.step(
            f"Leaving out $i = {self.p}$, the possible values of $i$ are ${', '.join(map(str, cells))}$, "
            f"and they contribute ${', '.join(map(str, terms))}$ routes."
        )
        total = w.compute(
            "sum", sum(terms), " + ".join(map(str, terms)), "Their sum is $@ = §$.", "Adding, $@ = §$."
        )
        w.finish(total, "So $§$ routes avoid the closed crossing.")


FAMILIES = (
    Beads,
    LatticePaths,
)
