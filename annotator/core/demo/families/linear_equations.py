"""One linear equation, and two at once."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from annotator.core.demo.tex import Num, paren, poly, quotient, signed, tex
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class Linear(Problem):
    """a(x - b) + c = dx + e with a whole-number solution."""

    subject = "algebra"

    def __init__(self, rng: Random) -> None:
        self.root = rng.choice([r for r in range(-12, 13) if r not in (0, 1)])
        self.a, self.b, self.c = rng.randrange(3, 10), rng.randrange(2, 10), rng.randrange(1, 25)
        self.d = rng.choice([d for d in range(2, 9) if d != self.a])
        self.e = self.a * (self.root - self.b) + self.c - self.d * self.root
        self.left = f"{self.a}(x - {self.b}) + {self.c}"
        self.right = poly([self.d, self.e])
        self.text = rng.choice(
            (
                f"Solve for $x$: \\[{self.left} = {self.right}.\\]",
                f"Find the number $x$ for which ${self.left} = {self.right}$.",
            )
        )
        self.answer = str(self.root)
        moved = f"{poly([self.a - self.d, 0])} = {self.e - self.c + self.a * self.b}"
        self.reference = (
            f"Expanding, ${poly([self.a, self.c - self.a * self.b])} = {self.right}$. "
            f"Collecting terms, ${moved}$, so $x = {self.root}$."
        )

    @route(
        product=ErrorKind.CALCULATION,
        bracket=ErrorKind.FORMULA,
        sides=ErrorKind.FORMULA,
        constant_again=ErrorKind.CONTRADICTION,
        guess=ErrorKind.CIRCULAR,
    )
    def expand(self, w: Writer) -> None:
        a, b, c, d, e = self.a, self.b, self.c, self.d, self.e
        w.open("the value of $x$ that satisfies the equation")
        if w.slips("guess"):
            w.step(
                rf"Suppose the solution is $x = {self.root}$. Then $x {signed(-self.root)} = 0$, and $0 = 0$ is "
                r"true, "
                rf"so this assumption proves that $x = {self.root}$ is the only solution.",
                at="guess",
            )
            w.finish(self.root)
            return
        if w.slips("bracket"):
            shift: Num = b
            w.step(rf"Multiplying out the bracket, ${a}(x - {b}) = {a}x - {b}$.", at="bracket")
        else:
            shift = w.compute(
                "product",
                a * b,
                rf"{a} \cdot {b}",
                f"Distribute the {a}. The constant it produces is $@ = §$, so the left side starts with "
                f"${a}x$ minus that number.",
                f"Expanding the bracket gives ${a}x$ minus $@ = §$.",
            )
        constant = c - shift
        w.step(
            f"The equation becomes ${poly([a, int(constant)])} = {self.right}$.",
            f"Collecting constants on the left, \\[{poly([a, int(constant)])} = {self.right}.\\]",
        )
        constant = w.recall("constant_again", constant, "the constant on the left-hand side")
        total = e + constant if w.slips("sides") else e - constant
        w.step(
            f"Bring the $x$-terms to the left and the constants to the right: ${poly([a - d, 0])} = "
            f"{tex(total)}$.",
            f"Subtract ${d}x$ and move the constant across, which leaves \\[{poly([a - d, 0])} = "
            f"{tex(total)}.\\]",
            at="sides",
        )
        self._divide(w, total)

    def _divide(self, w: Writer, total: Num) -> None:
        x = Fraction(total) / (self.a - self.d)
        if self.a - self.d != 1:
            w.step(
                f"Dividing both sides by ${self.a - self.d}$ gives $x = {tex(x)}$.", f"Hence $x = {tex(x)}$."
            )
        w.finish(x, "The solution is $x = §$.")

    @route(back=ErrorKind.CALCULATION, shift=ErrorKind.MISREAD, undo=ErrorKind.MISREAD)
    def shifted(self, w: Writer) -> None:
        a, b, c, d, e = self.a, self.b, self.c, self.d, self.e
        w.step(
            f"Substitute $y = x - {b}$, so that $x = y + {b}$.",
            f"The bracket suggests setting $y = x - {b}$, i.e. $x = y + {b}$.",
        )
        if w.slips("shift"):
            constant: Num = e
            w.step(f"The equation turns into ${a}y + {c} = {poly([d, e], 'y')}$.", at="shift")
        else:
            constant = w.compute(
                "back",
                d * b + e,
                rf"{d} \cdot {b} {signed(e)}",
                f"On the right we get ${d}(y + {b}) {signed(e)}$, whose constant is $@ = §$.",
                f"The right-hand side has the new constant $@ = §$ next to ${d}y$.",
            )
        total = constant - c
        y = Fraction(total) / (a - d)
        w.step(
            f"So ${a}y + {c} = {poly([d, int(constant)], 'y')}$, which simplifies to "
            f"${poly([a - d, 0], 'y')} = {tex(total)}$ and $y = {tex(y)}$."
        )
        if w.slips("undo"):
            w.step(
                f"This is the value we were asked for, so the solution of the equation is ${tex(y)}$.",
                at="undo",
            )
            w.finish(y)
            return
        w.step(
            f"Undo the substitution: $x = y + {b} = {tex(y + b)}$.",
            f"Therefore $x = {tex(y)} + {b} = {tex(y + b)}$.",
        )
        w.finish(y + b, "The solution is $x = §$.")


class System(Problem):
    """Two linear equations with whole solutions; asks for a combination of both."""

    subject = "algebra"

    def __init__(self, rng: Random) -> None:
        self.x, self.y = rng.randrange(-9, 10), rng.choice([n for n in range(-9, 10) if n])
        self.a, self.b, self.c, self.d = (rng.randrange(2, 8) for _ in range(4))
        while self.a * self.d == self.b * self.c or self.c * self.x == self.d * self.y:
            self.d += 1
        self.e, self.f = self.a * self.x + self.b * self.y, self.c * self.x - self.d * self.y
        self.det = -self.a * self.d - self.b * self.c
        self.lines = (f"{self.a}x + {self.b}y = {self.e}", f"{self.c}x - {self.d}y = {self.f}")
        self.text = (
            rf"The numbers $x$ and $y$ satisfy \[\begin{{aligned}} {self.a}x + {self.b}y &= {self.e}, \\ "
            rf"{self.c}x - {self.d}y &= {self.f}. \end{{aligned}}\] What is $x - y$?"
        )
        self.answer = str(self.x - self.y)
        self.reference = f"Elimination gives $x = {self.x}$ and $y = {self.y}$, so $x - y = {self.answer}$."

    @route(
        scale=ErrorKind.CALCULATION,
        sign=ErrorKind.FORMULA,
        sum=ErrorKind.MISREAD,
        x_again=ErrorKind.CONTRADICTION,
    )
    def elimination(self, w: Writer) -> None:
        a, b, c, d, e, f = self.a, self.b, self.c, self.d, self.e, self.f
        w.open("$x - y$, so both unknowns have to be found")
        w.step(
            f"Multiply the first equation by ${d}$ and the second by ${b}$, so that the $y$-terms cancel "
            "when we add them.",
            f"To eliminate $y$, take ${d}$ times the first equation and ${b}$ times the second.",
        )
        if w.slips("sign"):
            top: Num = d * e - b * f
            w.step(
                rf"Adding the equations removes $y$: $({d} \cdot {a} + {b} \cdot {c})x = {d} \cdot "
                rf"{paren(e)} - {b} \cdot {paren(f)}$, "
                f"that is, ${-self.det}x = {top}$.",
                at="sign",
            )
        else:
            top = w.compute(
                "scale",
                d * e + b * f,
                rf"{d} \cdot {paren(e)} + {b} \cdot {paren(f)}",
                f"Adding them gives ${-self.det}x$ on the left and $@ = §$ on the right.",
                f"The sum of the two right-hand sides is $@ = §$, and the left side is $({d} \\cdot {a} + "
                f"{b} \\cdot {c})x = {-self.det}x$.",
                wrong=(d * e + b * f + self.det, d * e + b * f - self.det),
            )
        x: Num = Fraction(top) / -self.det
        w.step(rf"So $x = {quotient(top, -self.det)}$.")
        x = w.recall("x_again", x, "the value of $x$", wrong=(-self.x - 1, self.x + b))
        y = (e - a * x) / Fraction(b)
        w.step(
            rf"From the first equation, $y = \frac{{{e} - {a} \cdot {paren(x)}}}{{{b}}} = {tex(y)}$.",
            f"Substituting back into ${self.lines[0]}$ yields ${b}y = {tex(e - a * x)}$, hence $y = "
            f"{tex(y)}$.",
        )
        self._combine(w, x, y)

    def _combine(self, w: Writer, x: Num, y: Num) -> None:
        if w.slips("sum"):
            w.step(f"The requested quantity is $x + y = {tex(x)} + {paren(y)} = {tex(x + y)}$.", at="sum")
            w.finish(x + y)
            return
        w.step(f"Therefore $x - y = {tex(x)} - {paren(y)} = {tex(x - y)}$.")
        w.finish(x - y, "So $x - y = §$.")

    @route(det=ErrorKind.FORMULA, det_value=ErrorKind.CALCULATION, x_top=ErrorKind.CALCULATION)
    def cramer(self, w: Writer) -> None:
        a, b, c, d, e, f = self.a, self.b, self.c, self.d, self.e, self.f
        w.step(
            rf"In matrix form the system reads \[\begin{{pmatrix}} {a} & {b} \\ {c} & -{d} \end{{pmatrix}}"
            rf"\begin{{pmatrix}} x \\ y \end{{pmatrix}} = \begin{{pmatrix}} {e} \\ {f} \end{{pmatrix}}.\]",
            r"This is a $2 \times 2$ linear system, so Cramer's rule applies as long as the determinant "
            r"isn't zero.",
        )
        if w.slips("det"):
            det: Num = -a * d + b * c
            w.step(
                rf"The determinant of the coefficients is ${a} \cdot (-{d}) + {b} \cdot {c} = {det}$.",
                at="det",
            )
        else:
            det = w.compute(
                "det_value",
                self.det,
                rf"{a} \cdot (-{d}) - {b} \cdot {c}",
                "The determinant of the coefficients is $@ = §$.",
                r"We have \[\det A = @ = §.\]",
            )
        top = w.compute(
            "x_top",
            -e * d - b * f,
            rf"{paren(e)} \cdot (-{d}) - {b} \cdot {paren(f)}",
            "Replacing the first column by the right-hand sides, the numerator for $x$ is $@ = §$.",
            "For $x$ the numerator determinant is $@ = §$.",
        )
        other = a * f - c * e
        w.step(rf"For $y$ it is ${a} \cdot {paren(f)} - {c} \cdot {paren(e)} = {other}$.")
        x, y = Fraction(top) / det, Fraction(other) / det
        w.step(rf"Dividing by the determinant, $x = {tex(x)}$ and $y = {tex(y)}$.")
        self._combine(w, x, y)


FAMILIES = (
    Linear,
    System,
)
