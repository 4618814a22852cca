"""Definite integrals, directly and by substitution."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from annotator.core.demo.tex import Num, frac, paren, poly, signed, tex
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class PolynomialIntegral(Problem):
    """The definite integral of a quadratic."""

    subject = "calculus"

    def __init__(self, rng: Random) -> None:
        self.a, self.b = 3 * rng.randrange(1, 6), 2 * rng.choice([n for n in range(-6, 7) if n])
        self.c = rng.choice([n for n in range(-9, 10) if n])
        self.lo = rng.choice((-3, -2, -1, 1, 2))
        self.hi = self.lo + rng.randrange(1, 5)
        self.f = poly([self.a, self.b, self.c])
        self.F = poly([self.a // 3, self.b // 2, self.c, 0])
        self.integral = rf"\int_{{{self.lo}}}^{{{self.hi}}} ({self.f})\,dx"
        self.text = f"Evaluate the integral \\[{self.integral}.\\]"
        self.top, self.bottom = self._at(self.hi), self._at(self.lo)
        self.answer = str(self.top - self.bottom)
        self.reference = (
            rf"An antiderivative is $F(x) = {self.F}$, and $F({self.hi}) - F({self.lo}) = {self.top} - "
            rf"{paren(self.bottom)} = {self.answer}$."
        )

    def _at(self, x: int) -> int:
        return self.a // 3 * x**3 + self.b // 2 * x**2 + self.c * x

    def _expression(self, x: int) -> str:
        third, half = self.a // 3, self.b // 2
        return (
            rf"{third} \cdot {paren(x)}^3 {signed(half)} \cdot {paren(x)}^2 {signed(self.c)} \cdot {paren(x)}"
        )

    @route(
        power=ErrorKind.FORMULA,
        upper=ErrorKind.CALCULATION,
        lower=ErrorKind.MISSING_CASE,
        minus=ErrorKind.CALCULATION,
        plus=ErrorKind.FORMULA,
        upper_again=ErrorKind.CONTRADICTION,
    )
    def fundamental_theorem(self, w: Writer) -> None:
        lo, hi = self.lo, self.hi
        w.open("the value of the definite integral")
        if w.slips("power"):
            a, b = 2 * self.a, self.b
            w.step(
                f"Using the power rule, an antiderivative of ${self.f}$ is $F(x) = {poly([a, b])}$.",
                at="power",
            )
            high, low = a * hi + b, a * lo + b
            w.step(f"So $F({hi}) = {high}$ and $F({lo}) = {low}$, and their difference is ${high - low}$.")
            w.finish(high - low)
            return
        w.step(
            f"By the power rule, an antiderivative is $F(x) = {self.F}$.",
            rf"Integrating term by term, \[F(x) = {self.F}\] is an antiderivative of ${self.f}$.",
        )
        top = w.compute(
            "upper",
            self.top,
            self._expression(hi),
            f"At the upper limit, $F({hi}) = @ = §$.",
            f"Evaluate at $x = {hi}$: \\[F({hi}) = @ = §.\\]",
        )
        if w.slips("lower"):
            w.step(f"This is the value of the integral, so it equals ${top}$.", at="lower")
            w.finish(top)
            return
        w.step(
            f"At the lower limit, $F({lo}) = {self._expression(lo)} = {self.bottom}$.",
            f"Likewise $F({lo}) = {self.bottom}$.",
        )
        top = w.recall("upper_again", top, f"$F({hi})$")
        if w.slips("plus"):
            value: Num = top + self.bottom
            w.step(
                f"Adding both values, the integral is $F({hi}) + F({lo}) = {top} + {paren(self.bottom)} = "
                f"{value}$.",
                at="plus",
            )
        else:
            value = w.compute(
                "minus",
                top - self.bottom,
                f"{top} - {paren(self.bottom)}",
                f"Therefore the integral is $F({hi}) - F({lo}) = @ = §$.",
                "Subtracting, we get $@ = §$.",
            )
        w.finish(value, "The integral equals $§$.")

    @route(cubic=ErrorKind.CALCULATION, length=ErrorKind.FORMULA, add=ErrorKind.CALCULATION)
    def term_by_term(self, w: Writer) -> None:
        lo, hi, a, b, c = self.lo, self.hi, self.a, self.b, self.c
        w.step(
            rf"Split the integral into three: \[{self.integral} = \int {a}x^2\,dx + \int ({b}x)\,dx + \int "
            rf"({c})\,dx,\] all from ${lo}$ to ${hi}$.",
            "By linearity we can treat the three terms of the integrand one at a time.",
        )
        cubic = w.compute(
            "cubic",
            a // 3 * (hi**3 - lo**3),
            rf"{a // 3} \cdot ({hi**3} - {paren(lo**3)})",
            f"The first gives ${a // 3}({paren(hi)}^3 - {paren(lo)}^3) = @ = §$.",
            f"For ${a}x^2$ the antiderivative is ${poly([a // 3, 0, 0, 0])}$, which contributes $@ = §$.",
        )
        square = b // 2 * (hi**2 - lo**2)
        w.step(
            rf"The second is ${b // 2} \cdot ({hi**2} - {lo**2}) = {square}$.",
            rf"The middle term contributes ${b // 2}({paren(hi)}^2 - {paren(lo)}^2) = {square}$.",
        )
        constant = c if w.slips("length") else c * (hi - lo)
        if w.slips("length") and hi - lo == 1:
            constant = c * hi if hi != 1 else 2 * c
        w.step(
            f"The constant ${c}$ contributes ${constant}$.",
            f"Finally, the constant term ${c}$ integrates to ${constant}$ over this interval.",
            at="length",
        )
        total = w.compute(
            "add",
            cubic + square + constant,
            f"{cubic} + {paren(square)} + {paren(constant)}",
            "The sum is $@ = §$.",
            "Adding the three parts: $@ = §$.",
        )
        w.finish(total, "The value of the integral is $§$.")


class Substitution(Problem):
    """An integral by substitution; the limits have to follow."""

    subject = "calculus"

    def __init__(self, rng: Random) -> None:
        self.n, self.a = rng.choice((2, 3)), rng.randrange(1, 8)
        self.lo = rng.randrange(0, 4)
        self.hi = self.lo + rng.randrange(1, 4)
        self.s = rng.choice([s for s in (1, 2, 3, 4, 5) if s != self.n + 1])
        self.inner = f"x^2 + {self.a}"
        front = 2 * self.s
        self.integral = rf"\int_{{{self.lo}}}^{{{self.hi}}} {front}x({self.inner})^{self.n}\,dx"
        self.text = f"Compute \\[{self.integral}.\\]"
        self.u, self.v = self.lo**2 + self.a, self.hi**2 + self.a
        self.value = Fraction(self.s * (self.v ** (self.n + 1) - self.u ** (self.n + 1)), self.n + 1)
        self.answer = tex(self.value)
        self.reference = (
            rf"With $u = {self.inner}$, the integral is $\int_{{{self.u}}}^{{{self.v}}} {self._s()}u^{self.n}\,du = "
            rf"{self.answer}$."
        )

    def _s(self) -> str:
        return "" if self.s == 1 else str(self.s)

    @route(
        bounds=ErrorKind.FORMULA,
        factor=ErrorKind.CALCULATION,
        powers=ErrorKind.CALCULATION,
        exponent=ErrorKind.FORMULA,
        dx=ErrorKind.FORMULA,
    )
    def new_limits(self, w: Writer) -> None:
        n, m, s = self.n, self.n + 1, self._s()
        w.open("the value of this integral")
        half = "x" if w.slips("dx") else "2x"
        w.step(
            rf"Substitute $u = {self.inner}$, so that $du = {half}\,dx$.",
            rf"Let $u = {self.inner}$. Then \[du = {half}\,dx.\]",
            at="dx",
        )
        scale = 2 * self.s if w.slips("dx") else self.s
        u, v = (self.lo, self.hi) if w.slips("bounds") else (self.u, self.v)
        if w.slips("bounds"):
            w.step(rf"The integral becomes $\int_{{{u}}}^{{{v}}} {s}u^{n}\,du$.", at="bounds")
        else:
            w.step(
                f"The limits change as well: $x = {self.lo}$ becomes $u = {u}$ and $x = {self.hi}$ becomes "
                f"$u = {v}$.",
                f"For $x = {self.lo}$ we have $u = {u}$, and for $x = {self.hi}$ we have $u = {v}$.",
            )
        power = n if w.slips("exponent") else m
        shown = "" if scale == 1 else str(scale)
        w.step(
            rf"So we need $\left[\frac{{{shown}u^{m}}}{{{power}}}\right]_{{{u}}}^{{{v}}}$.",
            rf"An antiderivative in $u$ is $\frac{{{shown}u^{m}}}{{{power}}}$, to be taken from ${u}$ to "
            rf"${v}$.",
            at="exponent",
        )
        gap = w.compute(
            "powers",
            v**m - u**m,
            f"{v}^{m} - {u}^{m}",
            "The difference of the powers is $@ = §$.",
            "Here $@ = §$.",
        )
        value = w.compute(
            "factor",
            Fraction(scale, power) * gap,
            rf"{frac(scale, power)} \cdot {gap}",
            "This gives $@ = §$.",
            "Multiplying by the constant, $@ = §$.",
        )
        w.finish(value, "The integral is $§$.")

    @route(back=ErrorKind.FORMULA, top=ErrorKind.CALCULATION, zero=ErrorKind.UNJUSTIFIED)
    def substitute_back(self, w: Writer) -> None:
        m, s = self.n + 1, self._s()
        w.step(
            rf"The factor ${2 * self.s}x$ is ${s or '1'}$ times the derivative of ${self.inner}$, so by "
            r"the chain rule an antiderivative is "
            rf"\[F(x) = {frac(self.s, m)}({self.inner})^{m}.\]",
            rf"First find the indefinite integral. With $u = {self.inner}$ and $du = 2x\,dx$ it is "
            rf"${frac(self.s, m)}u^{m} = {frac(self.s, m)}({self.inner})^{m}$.",
        )
        if w.slips("back"):
            value: Num = Fraction(self.s * (self.hi**m - self.lo**m), m)
            w.step(
                rf"Inserting the limits for $u$, we obtain ${frac(self.s, m)}({self.hi}^{m} - "
                rf"{self.lo}^{m}) = {tex(value)}$.",
                at="back",
            )
            w.finish(value)
            return
        top = w.compute(
            "top",
            Fraction(self.s, m) * self.v**m,
            rf"{frac(self.s, m)} \cdot {self.v}^{m}",
            f"At $x = {self.hi}$ it equals $@ = §$.",
            f"We have $F({self.hi}) = @ = §$.",
        )
        bottom: Num = Fraction(self.s, m) * self.u**m
        if w.slips("zero"):
            w.step(
                "At the lower limit an antiderivative of this kind always vanishes, so only "
                f"$F({self.hi})$ matters.",
                at="zero",
            )
            w.finish(top)
            return
        w.step(rf"At $x = {self.lo}$ it is ${frac(self.s, m)} \cdot {self.u}^{m} = {tex(bottom)}$.")
        w.step(f"The difference is ${tex(top)} - {paren(bottom)} = {tex(top - bottom)}$.")
        w.finish(top - bottom, "The integral has the value $§$.")


FAMILIES = (
    PolynomialIntegral,
    Substitution,
)
