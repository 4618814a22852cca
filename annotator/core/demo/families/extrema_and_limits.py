"""The largest value on an interval, and limits of the form 0/0."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from annotator.core.demo.tex import paren, poly, signed, tex
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class ClosedInterval(Problem):
    """The largest value of a cubic on a closed interval; it may be at an end."""

    subject = "calculus"

    def __init__(self, rng: Random) -> None:
        self.k, self.c = rng.randrange(1, 5), rng.choice([n for n in range(-30, 31) if n])
        self.lo = -self.k - rng.randrange(1, 3) if rng.random() < 0.5 else rng.randrange(-self.k + 1, self.k)
        self.hi = 2 * self.k + rng.randrange(1, 4)
        self.f = poly([1, 0, -3 * self.k**2, self.c])
        self.text = f"Find the greatest value of $f(x) = {self.f}$ on the interval $[{self.lo}, {self.hi}]$."
        self.answer = str(max(self._at(x) for x in self._points()))
        self.reference = (
            f"Compare the ends with the critical points inside, $x = {', '.join(map(str, self._critical()))}$. The "
            f"largest value is $f({self.hi}) = {self.answer}$."
        )

    def _at(self, x: int) -> int:
        return x**3 - 3 * self.k**2 * x + self.c

    def _critical(self) -> list[int]:
        return [x for x in (-self.k, self.k) if self.lo < x < self.hi]

    def _points(self) -> list[int]:
        return [self.lo, *self._critical(), self.hi]

    def _expression(self, x: int) -> str:
        return rf"{paren(x)}^3 - {3 * self.k**2} \cdot {paren(x)} {signed(self.c)}"

    @route(
        ends=ErrorKind.MISSING_CASE,
        outside=ErrorKind.CONDITION,
        derivative=ErrorKind.FORMULA,
        value=ErrorKind.CALCULATION,
        smallest=ErrorKind.MISREAD,
        where=ErrorKind.MISREAD,
    )
    def candidates(self, w: Writer) -> None:
        k, lo, hi = self.k, self.lo, self.hi
        w.open(f"the maximum of $f$ on $[{lo}, {hi}]$")
        if w.slips("derivative"):
            w.step(
                f"The derivative is $f'(x) = {poly([3, 0, -3 * k * k])} {signed(self.c)}$.", at="derivative"
            )
            w.step(
                f"Its sign shows that $f$ is largest at the right end, where $f({hi}) = "
                f"{self._expression(hi)} = {self._at(hi)}$."
            )
            w.finish(self._at(hi))
            return
        w.step(
            f"We have $f'(x) = {poly([3, 0, -3 * k * k])} = 3(x - {k})(x + {k})$, so the critical points "
            f"are $x = {k}$ and $x = {-k}$.",
            f"Differentiate: \\[f'(x) = {poly([3, 0, -3 * k * k])}.\\] It vanishes at $x = \\pm {k}$.",
        )
        if w.slips("ends"):
            w.step(
                "A maximum can only occur where the derivative is zero, so it is enough to compare these "
                "two points.",
                at="ends",
            )
            w.step(f"Their values are $f({-k}) = {self._at(-k)}$ and $f({k}) = {self._at(k)}$.")
            w.finish(self._at(-k), "The greatest value is $§$.")
            return
        if w.slips("outside"):
            w.step(
                "Since $f''(x) = 6x$ is negative for $x < 0$, the function decreases for good after $x = "
                f"{-k}$, so its maximum on every interval is $f({-k}) = {self._at(-k)}$.",
                at="outside",
            )
            w.finish(self._at(-k))
            return
        inside = self._critical()
        names = " and ".join(f"$x = {x}$" for x in inside)
        w.step(
            f"Inside the interval {'lie both of them' if len(inside) == 2 else f'we only have {names}'}, "
            f"and we also have to consider the ends $x = {lo}$ and $x = {hi}$."
        )
        self._compare(w)

    def _compare(self, w: Writer) -> None:
        points = self._points()
        w.step(
            "The values are " + ", ".join(f"$f({x}) = {self._at(x)}$" for x in points[:-1]) + ".",
            "Evaluating, " + ", ".join(f"$f({x}) = {self._at(x)}$" for x in points[:-1]) + ".",
        )
        last = w.compute(
            "value",
            self._at(self.hi),
            self._expression(self.hi),
            f"At the right end, $f({self.hi}) = @ = §$.",
            f"For $x = {self.hi}$ we get \\[f({self.hi}) = @ = §.\\]",
        )
        values = [*(self._at(x) for x in points[:-1]), last]
        if w.slips("smallest"):
            w.step(
                f"Comparing them, the requested value is the smallest one, ${min(values)}$.", at="smallest"
            )
            w.finish(min(values))
            return
        if w.slips("where"):
            w.step(
                f"The greatest of these is attained at $x = {self.hi}$, so the greatest value of $f$ is "
                f"${self.hi}$.",
                at="where",
            )
            w.finish(self.hi)
            return
        best = max(values)
        w.step(
            f"The largest of these numbers is ${best}$.", f"Comparing all of them, ${best}$ is the greatest."
        )
        w.finish(best, "The greatest value of $f$ on the interval is $§$.")

    @route(monotone=ErrorKind.UNJUSTIFIED, right=ErrorKind.CALCULATION)
    def by_monotonicity(self, w: Writer) -> None:
        k, lo, hi = self.k, self.lo, self.hi
        if w.slips("monotone"):
            w.step(
                "The leading term $x^3$ dominates, and a cubic with a positive leading coefficient is "
                "increasing on every interval. "
                f"Hence the maximum is at the right end $x = {hi}$.",
                at="monotone",
            )
        else:
            w.step(
                f"The derivative $f'(x) = 3(x^2 - {k * k})$ is negative exactly for ${-k} < x < {k}$. So "
                "the function can have a peak only at "
                f"$x = {-k}$ or at the ends of the interval."
            )
        value = w.compute(
            "right", self._at(hi), self._expression(hi), f"At the right end, $f({hi}) = @ = §$."
        )
        if w.slips("monotone"):
            w.finish(value, "The greatest value is $§$.")
            return
        others = [lo, *(x for x in (-k,) if lo < x)]
        w.step(
            "The other candidates have the values "
            + " and ".join(f"$f({x}) = {self._at(x)}$" for x in others)
            + "."
        )
        best = max(value, *(self._at(x) for x in others))
        w.finish(best, "The largest of these, and therefore the maximum, is $§$.")


class QuotientLimit(Problem):
    """A limit of the form 0/0."""

    subject = "calculus"

    def __init__(self, rng: Random) -> None:
        self.c = rng.choice([n for n in range(-6, 7) if n])
        self.d, self.e = rng.sample([n for n in range(-12, 13) if abs(n - self.c) > 1 and n], 2)
        self.top = poly([1, -self.c - self.d, self.c * self.d])
        self.bottom = poly([1, -self.c - self.e, self.c * self.e])
        self.limit = rf"\lim_{{x \to {self.c}}} \frac{{{self.top}}}{{{self.bottom}}}"
        self.text = f"Find \\[{self.limit}.\\]"
        self.value = Fraction(self.c - self.d, self.c - self.e)
        self.answer = tex(self.value)
        self.reference = (
            rf"Cancelling $x {signed(-self.c)}$ leaves $\frac{{x {signed(-self.d)}}}{{x {signed(-self.e)}}}$, whose "
            rf"value at ${self.c}$ is ${self.answer}$."
        )

    @route(sign=ErrorKind.FORMULA, plug=ErrorKind.CALCULATION, direct=ErrorKind.UNJUSTIFIED)
    def factor(self, w: Writer) -> None:
        c, d, e = self.c, self.d, self.e
        w.open(f"the limit of the quotient as $x$ approaches ${c}$")
        w.step(
            r"Direct substitution gives $\frac{0}{0}$, so we have to simplify first.",
            f"At $x = {c}$ numerator and denominator both vanish, so both contain the factor $x "
            f"{signed(-c)}$.",
        )
        if w.slips("direct"):
            w.step(
                r"Near such a point numerator and denominator tend to $0$ equally fast, so the quotient "
                r"tends to $1$.",
                at="direct",
            )
            w.finish(1, "The limit is $§$.")
            return
        d_shown = -d if w.slips("sign") else d
        w.step(
            rf"Factoring, \[\frac{{{self.top}}}{{{self.bottom}}} = \frac{{(x {signed(-c)})(x "
            rf"{signed(-d_shown)})}}{{(x {signed(-c)})(x {signed(-e)})}}.\]",
            rf"We have ${self.top} = (x {signed(-c)})(x {signed(-d_shown)})$ and ${self.bottom} = (x "
            rf"{signed(-c)})(x {signed(-e)})$.",
            at="sign",
        )
        w.step(
            rf"For $x \ne {c}$ the common factor cancels, which leaves $\frac{{x {signed(-d_shown)}}}{{x "
            rf"{signed(-e)}}}$."
        )
        value = w.compute(
            "plug",
            Fraction(c - d_shown, c - e),
            rf"\frac{{{c} {signed(-d_shown)}}}{{{c} {signed(-e)}}}",
            f"This is continuous at ${c}$, so the limit is $@ = §$.",
            f"Now we may insert $x = {c}$: $@ = §$.",
        )
        w.finish(value, "The limit is $§$.")

    @route(
        twice=ErrorKind.CONDITION,
        quotient=ErrorKind.FORMULA,
        slope=ErrorKind.CALCULATION,
        top_again=ErrorKind.CONTRADICTION,
    )
    def lhopital(self, w: Writer) -> None:
        c, d, e = self.c, self.d, self.e
        w.open("a limit of a quotient")
        w.step(
            rf"Both numerator and denominator are $0$ at $x = {c}$, so L'Hôpital's rule may be used.",
            rf"The form is $\frac{{0}}{{0}}$ at $x = {c}$. Let's apply L'Hôpital's rule.",
        )
        if w.slips("quotient"):
            w.step(
                r"Differentiating the fraction with the quotient rule, as L'Hôpital's rule prescribes, "
                rf"the numerator of the derivative at $x = {c}$ is "
                rf"${c - d} \cdot 0 - 0 \cdot {paren(c - e)} = 0$.",
                at="quotient",
            )
            w.finish(0, "So the limit is $§$.")
            return
        w.step(
            rf"Differentiating top and bottom separately gives \[\lim_{{x \to {c}}} "
            rf"\frac{{{poly([2, -c - d])}}}{{{poly([2, -c - e])}}}.\]",
            rf"The derivatives are ${poly([2, -c - d])}$ and ${poly([2, -c - e])}$.",
        )
        if w.slips("twice"):
            w.step(
                r"Apply the rule once more: the derivatives are now $2$ and $2$, so the limit is "
                r"$\frac{2}{2} = 1$.",
                at="twice",
            )
            w.finish(1)
            return
        top = w.compute(
            "slope", c - d, rf"2 \cdot {paren(c)} {signed(-c - d)}", f"At $x = {c}$ the numerator is $@ = §$."
        )
        top = w.recall("top_again", top, "the value of the new numerator")
        w.step(rf"The denominator there is ${c - e} \ne 0$, so the limit is $\frac{{{top}}}{{{c - e}}}$.")
        w.finish(Fraction(top) / (c - e), "In lowest terms, the limit is $§$.", "The limit is $§$.")


FAMILIES = (
    ClosedInterval,
    QuotientLimit,
)
