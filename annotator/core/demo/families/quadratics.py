"""Quadratic equations and what squaring does to a radical one."""

from __future__ import annotations

from random import Random

from annotator.core.demo.tex import paren, poly, signed, tex
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class SumOfSquares(Problem):
    """The sum of the squares of a quadratic's roots. A sign error in the sum of the roots is squared away."""

    subject = "algebra"

    def __init__(self, rng: Random) -> None:
        self.r, self.q = sorted(rng.sample([n for n in range(-14, 15) if n], 2))
        while self.r + self.q == 0:
            self.r, self.q = sorted(rng.sample([n for n in range(-14, 15) if n], 2))
        self.s, self.p = self.r + self.q, self.r * self.q
        self.equation = f"{poly([1, -self.s, self.p])} = 0"
        self.text = rng.choice(
            (
                f"Let $\\alpha$ and $\\beta$ be the roots of ${self.equation}$. Find $\\alpha^2 + \\beta^2$.",
                f"What is the sum of the squares of the solutions of ${self.equation}$?",
            )
        )
        self.answer = str(self.r**2 + self.q**2)
        self.reference = (
            rf"By Vieta, $\alpha + \beta = {self.s}$ and $\alpha\beta = {self.p}$, so "
            rf"$\alpha^2 + \beta^2 = {paren(self.s)}^2 - 2 \cdot {paren(self.p)} = {self.answer}$."
        )

    @route(
        sign=ErrorKind.FORMULA,
        identity=ErrorKind.FORMULA,
        square=ErrorKind.CALCULATION,
        value=ErrorKind.CALCULATION,
        product_again=ErrorKind.CONTRADICTION,
    )
    def vieta(self, w: Writer) -> None:
        w.open("the sum of the squares of both roots")
        s = -self.s if w.slips("sign") else self.s
        w.step(
            rf"By Vieta's formulas, the sum of the roots is $\alpha + \beta = {s}$ and their product is "
            rf"$\alpha\beta = {self.p}$.",
            rf"We don't need the roots themselves. Comparing coefficients gives $\alpha + \beta = {s}$ and "
            rf"$\alpha\beta = {self.p}$.",
            at="sign",
        )
        double = "" if w.slips("identity") else "2"
        w.step(
            rf"Since $(\alpha + \beta)^2 = \alpha^2 + {double}\alpha\beta + \beta^2$, we have "
            rf"\[\alpha^2 + \beta^2 = (\alpha + \beta)^2 - {double}\alpha\beta.\]",
            rf"Use the identity $\alpha^2 + \beta^2 = (\alpha + \beta)^2 - {double}\alpha\beta$.",
            at="identity",
        )
        square = w.compute(
            "square", s * s, f"{paren(s)}^2", r"The square of the sum is $@ = §$.", "Here $@ = §$."
        )
        p = w.recall("product_again", self.p, r"the product $\alpha\beta$", wrong=(-self.p,))
        rest = p if w.slips("identity") else 2 * p
        expression = (
            f"{tex(square)} - {paren(p)}" if w.slips("identity") else rf"{tex(square)} - 2 \cdot {paren(p)}"
        )
        value = w.compute(
            "value", square - rest, expression, "Substituting, $@ = §$.", r"So $\alpha^2 + \beta^2 = @ = §$."
        )
        w.finish(value, r"Thus $\alpha^2 + \beta^2 = §$.")

    @route(
        signs=ErrorKind.FORMULA,
        add=ErrorKind.CALCULATION,
        negative=ErrorKind.MISSING_CASE,
        before=ErrorKind.MISREAD,
    )
    def factor(self, w: Writer) -> None:
        w.open("both roots first, and then the sum of their squares")
        w.step(
            f"We look for two numbers with product ${self.p}$ and sum ${self.s}$; these are ${self.r}$ and "
            f"${self.q}$.",
            f"The quadratic factors, because ${paren(self.r)} + {paren(self.q)} = {self.s}$ and "
            rf"${paren(self.r)} \cdot {paren(self.q)} = {self.p}$.",
        )
        r, q = (-self.r, -self.q) if w.slips("signs") else (self.r, self.q)
        w.step(
            f"So ${poly([1, -self.s, self.p])} = (x {signed(-r)})(x {signed(-q)})$ and the roots are ${r}$ "
            f"and ${q}$.",
            f"Factoring gives \\[(x {signed(-r)})(x {signed(-q)}) = 0,\\] hence $x = {r}$ or $x = {q}$.",
            at="signs",
        )
        if w.slips("negative"):
            keep = max(r, q, key=abs)
            w.step(
                f"Only the root that is larger in size contributes, so we take $x = {keep}$ alone.",
                at="negative",
            )
            w.finish(keep * keep, "The sum is $§$.")
            return
        if w.slips("before"):
            w.step(
                f"We have to square the sum of the roots: $({r} {signed(q)})^2 = {(r + q) ** 2}$.",
                at="before",
            )
            w.finish((r + q) ** 2)
            return
        w.step(f"Their squares are ${paren(r)}^2 = {r * r}$ and ${paren(q)}^2 = {q * q}$.")
        value = w.compute(
            "add", r * r + q * q, f"{r * r} + {q * q}", "Adding them up, $@ = §$.", "The sum is \\[@ = §.\\]"
        )
        w.finish(value, "The sum of the squares is $§$.")


class Radical(Problem):
    """sqrt(x + a) = x - b: squaring brings in a second, false solution."""

    subject = "algebra"

    def __init__(self, rng: Random) -> None:
        self.m = rng.randrange(2, 12)
        self.a = rng.choice([n for n in range(-20, 60) if n != self.m * self.m - self.m])
        self.b = self.m * self.m - self.m - self.a
        self.good, self.false = self.m**2 - self.a, (1 - self.m) ** 2 - self.a
        self.equation = rf"\sqrt{{{poly([1, self.a])}}} = {poly([1, -self.b])}"
        self.text = f"Find the sum of all real solutions of \\[{self.equation}.\\]"
        self.answer = str(self.good)
        self.reference = (
            f"Squaring gives the candidates ${self.good}$ and ${self.false}$. For the second the right "
            "side is "
            f"${1 - self.m}$, which is negative, so only ${self.good}$ remains."
        )

    @route(
        unchecked=ErrorKind.CONDITION,
        binomial=ErrorKind.FORMULA,
        disc=ErrorKind.CALCULATION,
        dropped=ErrorKind.UNJUSTIFIED,
    )
    def squaring(self, w: Writer) -> None:
        w.open("all real solutions and their sum")
        w.step(
            f"Square both sides to remove the root: \\[{poly([1, self.a])} = ({poly([1, -self.b])})^2.\\]",
            f"Squaring gives ${poly([1, self.a])} = ({poly([1, -self.b])})^2$. Squaring can add false "
            "solutions, so we'll have to check.",
        )
        middle = -self.b if w.slips("binomial") else -2 * self.b
        p, q = middle - 1, self.b**2 - self.a
        w.step(
            f"Expanding the right side as ${poly([1, middle, self.b**2])}$ and collecting everything, we "
            f"get ${poly([1, p, q])} = 0$.",
            f"Since $({poly([1, -self.b])})^2 = {poly([1, middle, self.b**2])}$, this is "
            f"${poly([1, p, q])} = 0$.",
            at="binomial",
        )
        if w.slips("binomial"):
            w.step(f"By Vieta's formulas the solutions of this quadratic add up to ${-p}$.")
            w.finish(-p, "The sum of all solutions is $§$.")
            return
        disc = w.compute(
            "disc",
            p * p - 4 * q,
            rf"{paren(p)}^2 - 4 \cdot {paren(q)}",
            "The discriminant is $@ = §$.",
            "Its discriminant: \\[@ = §.\\]",
        )
        if disc != p * p - 4 * q:
            w.step(
                rf"So $x = \frac{{{-p} \pm \sqrt{{{disc}}}}}{{2}}$, and we keep the plus sign because the "
                r"right side of the equation must not be negative."
            )
            w.finish(rf"\frac{{{-p} + \sqrt{{{disc}}}}}{{2}}")
            return
        self._candidates(w, -p, 2 * self.m - 1)

    def _candidates(self, w: Writer, top: int, root: int) -> None:
        w.step(
            rf"Its solutions are $x = \frac{{{top} \pm {root}}}{{2}}$, that is, $x = {self.good}$ and $x = "
            rf"{self.false}$.",
            f"Solving it gives the two values $x = {self.good}$ and $x = {self.false}$.",
        )
        if w.slips("unchecked"):
            w.step(
                f"Both numbers solve the original equation, so their sum is ${self.good} + "
                f"{paren(self.false)} = {self.good + self.false}$.",
                at="unchecked",
            )
            w.finish(self.good + self.false, "The sum of all real solutions is $§$.")
            return
        if w.slips("dropped"):
            w.step(
                "An equation with a single square root has exactly one solution, and it is always the "
                f"larger of the two, so it must be $x = {self.good}$.",
                at="dropped",
            )
            w.finish(self.good)
            return
        w.step(
            f"Check $x = {self.good}$: the left side is $\\sqrt{{{self.m**2}}} = {self.m}$ and the right "
            f"side is ${self.good} - {paren(self.b)} = {self.m}$. This one works.",
            f"For $x = {self.good}$ both sides equal ${self.m}$, so it is a solution.",
        )
        w.step(
            f"For $x = {self.false}$ the right side is ${1 - self.m}$, which is negative, while a square "
            "root never is. We discard it.",
            f"But $x = {self.false}$ would need $\\sqrt{{{(self.m - 1) ** 2}}} = {1 - self.m}$, which is "
            "false.",
        )
        w.finish(self.good, "The only solution, and hence the sum, is $§$.")

    @route(both=ErrorKind.CONDITION, back=ErrorKind.CALCULATION, asked=ErrorKind.MISREAD)
    def substitution(self, w: Writer) -> None:
        m, a, k = self.m, self.a, self.m**2 - self.m
        w.step(
            rf"Put $t = \sqrt{{{poly([1, a])}}}$, so $t \ge 0$ and $x = {poly([1, 0, -a], 't')}$.",
            rf"Let $t = \sqrt{{{poly([1, a])}}}$. Then $x = {poly([1, 0, -a], 't')}$, where $t$ can't be "
            r"negative.",
        )
        w.step(
            f"The equation becomes $t = {poly([1, 0, -k], 't')}$, or $t^2 - t - {k} = 0$.",
            f"Substituting, $t = t^2 - {k}$, which we write as \\[t^2 - t - {k} = 0.\\]",
        )
        w.step(f"This factors as $(t - {m})(t + {m - 1}) = 0$.")
        if w.slips("both"):
            w.step(
                f"Both $t = {m}$ and $t = {1 - m}$ are allowed, so $x = {self.good}$ or $x = {self.false}$.",
                at="both",
            )
            w.step(f"Adding them gives ${self.good} + {paren(self.false)} = {self.good + self.false}$.")
            w.finish(self.good + self.false)
            return
        w.step(
            f"Because $t \\ge 0$, only $t = {m}$ is possible.",
            f"The value $t = {1 - m}$ is negative, so $t = {m}$.",
        )
        if w.slips("asked"):
            w.step(f"Hence the equation has the single solution ${m}$.", at="asked")
            w.finish(m)
            return
        x = w.compute(
            "back",
            m * m - a,
            f"{m}^2 - {paren(a)}",
            "Going back to $x$, we get $x = @ = §$.",
            "Then $x = @ = §$, the only solution.",
        )
        w.finish(x, "The sum of all real solutions is $§$.")


FAMILIES = (
    SumOfSquares,
    Radical,
)
