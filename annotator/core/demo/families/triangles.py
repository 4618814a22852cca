"""Right and similar triangles."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from annotator.core.demo.tex import Num, frac, quotient, tex
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class Altitude(Problem):
    """The altitude to the hypotenuse of a right triangle with whole sides."""

    subject = "geometry"
    TRIPLES = ((3, 4, 5), (5, 12, 13), (8, 15, 17), (7, 24, 25), (20, 21, 29), (12, 35, 37), (9, 40, 41))

    def __init__(self, rng: Random) -> None:
        scale = rng.randrange(1, 13)
        self.a, self.b, self.c = (scale * n for n in rng.choice(self.TRIPLES))
        if rng.random() < 0.5:
            self.a, self.b = self.b, self.a
        self.p, self.q, self.r = rng.choice(("ABC", "PQR", "KLM", "XYZ", "DEF"))
        self.unit = rng.choice(("cm", "m", "units"))
        self.foot = rng.choice("HTF".replace(self.r, "N").replace(self.p, "N"))
        self.text = (
            f"In triangle ${self.p}{self.q}{self.r}$ the angle at ${self.r}$ is $90^\\circ$, "
            f"${self.p}{self.r} = {self.a}$ "
            f"{self.unit} and ${self.q}{self.r} = {self.b}$ {self.unit}. What is the distance from "
            f"${self.r}$ to the line "
            f"${self.p}{self.q}$, in {self.unit}?"
        )
        self.answer = tex(Fraction(self.a * self.b, self.c))
        self.reference = (
            rf"The hypotenuse is $\sqrt{{{self.a}^2 + {self.b}^2}} = {self.c}$. Writing the area in two "
            r"ways, "
            rf"${frac(1, 2)} \cdot {self.a} \cdot {self.b} = {frac(1, 2)} \cdot {self.c} \cdot h$, so $h = "
            rf"{self.answer}$."
        )

    @route(
        squares=ErrorKind.CALCULATION,
        hyp=ErrorKind.FORMULA,
        area=ErrorKind.FORMULA,
        hyp_again=ErrorKind.CONTRADICTION,
        median=ErrorKind.FORMULA,
        mean=ErrorKind.INVENTED,
    )
    def by_area(self, w: Writer) -> None:
        a, b, side = self.a, self.b, f"{self.p}{self.q}"
        w.open(f"the length of the altitude from ${self.r}$")
        hyp: Num = self.c
        if w.slips("hyp"):
            hyp = a + b
            w.step(
                rf"The side opposite the right angle is ${side} = \sqrt{{{a}^2}} + \sqrt{{{b}^2}} = {a} + "
                rf"{b} = {hyp}$.",
                at="hyp",
            )
        else:
            near = tuple((self.c + k) ** 2 for k in (-1, 1, 2))
            squares = w.compute(
                "squares",
                self.c**2,
                f"{a}^2 + {b}^2",
                f"By the Pythagorean theorem, ${side}^2 = @ = §$.",
                f"The triangle is right-angled at ${self.r}$, so \\[{side}^2 = @ = §.\\]",
                wrong=near,
            )
            hyp = round(squares**0.5)
            w.step(
                f"Taking the square root, ${side} = {hyp}$.",
                f"Hence the hypotenuse is ${side} = {hyp}$ {self.unit}.",
            )
        if w.slips("median"):
            w.step(
                "The altitude to the hypotenuse of a right triangle is half as long as the hypotenuse, so "
                f"$h = {quotient(hyp, 2)}$.",
                at="median",
            )
            w.finish(Fraction(hyp) / 2)
            return
        if w.slips("mean"):
            w.step(
                r"By the Dornfeld altitude lemma, the reciprocal of the altitude is the mean of the "
                r"reciprocals of the legs: "
                rf"\[\frac{{1}}{{h}} = \frac{{1}}{{2}}\left({frac(1, a)} + {frac(1, b)}\right).\]",
                at="mean",
            )
            w.finish(Fraction(2 * a * b, a + b))
            return
        self._two_ways(w, hyp)

    def _two_ways(self, w: Writer, hyp: Num) -> None:
        a, b = self.a, self.b
        area: Num = a * b if w.slips("area") else Fraction(a * b, 2)
        half = "" if w.slips("area") else r"\frac{1}{2} \cdot "
        w.step(
            rf"The legs are perpendicular, so the area is ${half}{a} \cdot {b} = {tex(area)}$.",
            rf"Using the legs as base and height, the area of the triangle is \[{half}{a} \cdot {b} = "
            rf"{tex(area)}.\]",
            at="area",
        )
        hyp = w.recall("hyp_again", hyp, "the length of the hypotenuse")
        w.step(
            r"With the hypotenuse as base and $h$ as height, the same area is $\frac{1}{2} \cdot "
            rf"{hyp} \cdot h$.",
            rf"On the other hand, the area is also $\frac{{1}}{{2}} \cdot {hyp} \cdot h$, where $h$ is the "
            r"distance we want.",
        )
        h = 2 * area / Fraction(hyp)
        w.step(rf"Equating both expressions, $h = \frac{{2 \cdot {tex(area)}}}{{{hyp}}} = {tex(h)}$.")
        w.finish(h, f"The distance is $§$ {self.unit}.", "So $h = §$.")

    @route(ratio=ErrorKind.FORMULA, quotient=ErrorKind.CALCULATION)
    def by_similarity(self, w: Writer) -> None:
        a, b, c, foot = self.a, self.b, self.c, self.foot
        w.step(
            rf"The hypotenuse has length $\sqrt{{{a}^2 + {b}^2}} = \sqrt{{{c * c}}} = {c}$.",
            rf"First, ${self.p}{self.q} = \sqrt{{{a * a} + {b * b}}} = {c}$ by Pythagoras.",
        )
        w.step(
            f"Drop the perpendicular from ${self.r}$ to ${self.p}{self.q}$ and call its foot ${foot}$. "
            "Triangle "
            f"${self.p}{foot}{self.r}$ shares the angle at ${self.p}$ with triangle "
            f"${self.p}{self.r}{self.q}$ and both have a right angle, so they are similar."
        )
        if w.slips("ratio"):
            w.step(
                rf"From the similarity, $\frac{{{self.r}{foot}}}{{{self.p}{self.r}}} = "
                rf"\frac{{{self.p}{self.q}}}{{{self.q}{self.r}}} = {frac(c, b)}$.",
                at="ratio",
            )
            h: Num = Fraction(a * c, b)
            w.step(rf"Thus ${self.r}{foot} = {a} \cdot {frac(c, b)} = {tex(h)}$.")
        else:
            w.step(
                rf"Comparing corresponding sides, $\frac{{{self.r}{foot}}}{{{self.p}{self.r}}} = "
                rf"\frac{{{self.q}{self.r}}}{{{self.p}{self.q}}} = {frac(b, c)}$."
            )
            h = w.compute(
                "quotient",
                Fraction(a * b, c),
                rf"{a} \cdot {frac(b, c)}",
                f"So ${self.r}{foot} = @ = §$.",
                f"It follows that \\[{self.r}{foot} = @ = §.\\]",
            )
        w.finish(h, f"The distance is $§$ {self.unit}.")


class Trapezoid(Problem):
    """A line parallel to a side cuts off a similar triangle; asks for what is left."""

    subject = "geometry"

    def __init__(self, rng: Random) -> None:
        self.p = rng.randrange(1, 6)
        self.q = rng.randrange(self.p + 1, 9)
        self.whole = (self.p + self.q) ** 2 * rng.randrange(1, 13)
        self.text = (
            "In triangle $ABC$ a line parallel to $BC$ meets $AB$ in $D$ and $AC$ in $E$, and $AD : DB = "
            f"{self.p} : {self.q}$. "
            f"The area of triangle $ABC$ is {self.whole}. Find the area of the quadrilateral $DBCE$."
        )
        self.small = self.whole * self.p**2 // (self.p + self.q) ** 2
        self.answer = str(self.whole - self.small)
        self.reference = (
            rf"Triangle $ADE$ is similar to $ABC$ with ratio ${frac(self.p, self.p + self.q)}$, so its "
            rf"area is ${self.small}$ and "
            rf"the quadrilateral has area ${self.whole} - {self.small} = {self.answer}$."
        )

    @route(
        ratio=ErrorKind.MISREAD,
        linear=ErrorKind.FORMULA,
        small=ErrorKind.CALCULATION,
        rest=ErrorKind.CALCULATION,
        asked=ErrorKind.MISREAD,
        small_again=ErrorKind.CONTRADICTION,
    )
    def similar(self, w: Writer) -> None:
        p, q, n = self.p, self.q, self.p + self.q
        w.open("the area of $DBCE$")
        w.step(
            r"Because $DE \parallel BC$, triangles $ADE$ and $ABC$ have equal angles and are similar.",
            r"The lines $DE$ and $BC$ are parallel, so $\triangle ADE \sim \triangle ABC$.",
        )
        ratio = Fraction(p, q) if w.slips("ratio") else Fraction(p, n)
        w.step(
            rf"The ratio of similarity is $\frac{{AD}}{{AB}} = {tex(ratio)}$.",
            rf"From $AD : DB = {p} : {q}$ we get $\frac{{AD}}{{AB}} = {tex(ratio)}$, and this is the scale "
            r"factor.",
            at="ratio",
        )
        factor = ratio if w.slips("linear") else ratio**2
        if w.slips("linear"):
            w.step(
                rf"Areas of similar figures are in the ratio of their sides, so $[ADE] = {tex(factor)} "
                r"\cdot [ABC]$.",
                at="linear",
            )
        else:
            w.step(
                rf"Areas scale with the square of the lengths, so $[ADE] = \left({tex(ratio)}\right)^2 "
                r"[ABC]$."
            )
        small = w.compute(
            "small",
            factor * self.whole,
            rf"{tex(factor)} \cdot {self.whole}",
            "That gives $[ADE] = @ = §$.",
            "So the small triangle has area \\[@ = §.\\]",
        )
        small = w.recall("small_again", small, "the area of the small triangle $ADE$")
        if w.slips("asked"):
            w.step(
                "This is the area that the line cuts off, so the quadrilateral $DBCE$ has area "
                f"${tex(small)}$.",
                at="asked",
            )
            w.finish(small)
            return
        rest = w.compute(
            "rest",
            self.whole - small,
            f"{self.whole} - {tex(small)}",
            "The quadrilateral is what remains: $@ = §$.",
            "Subtracting from the whole, $[DBCE] = @ = §$.",
        )
        w.finish(rest, "The area of $DBCE$ is $§$.")

    @route(share=ErrorKind.FORMULA, parts=ErrorKind.CALCULATION)
    def complement(self, w: Writer) -> None:
        p, n = self.p, self.p + self.q
        w.step(
            rf"Point $D$ divides $AB$ so that $AD$ is $\frac{{{p}}}{{{n}}}$ of $AB$.",
            rf"We have $AD = \frac{{{p}}}{{{n}}} AB$, and likewise $AE = \frac{{{p}}}{{{n}}} AC$.",
        )
        if w.slips("share"):
            share = 1 - Fraction(p, n)
            w.step(
                rf"Hence the quadrilateral takes up $1 - \frac{{{p}}}{{{n}}} = {tex(share)}$ of the "
                r"triangle's area.",
                at="share",
            )
            w.finish(share * self.whole, "So $[DBCE] = §$.")
            return
        w.step(
            rf"Both the base and the height of $ADE$ are $\frac{{{p}}}{{{n}}}$ of those of $ABC$, so it "
            rf"has $\frac{{{p * p}}}{{{n * n}}}$ of the area."
        )
        share = 1 - Fraction(p * p, n * n)
        w.step(
            rf"What is left for $DBCE$ is the fraction $1 - \frac{{{p * p}}}{{{n * n}}} = "
            rf"\frac{{{n * n - p * p}}}{{{n * n}}}$."
        )
        area = w.compute(
            "parts",
            share * self.whole,
            rf"\frac{{{n * n - p * p}}}{{{n * n}}} \cdot {self.whole}",
            "Its area is $@ = §$.",
            "Therefore \\[[DBCE] = @ = §.\\]",
        )
        w.finish(area, "The area of $DBCE$ is $§$.")


FAMILIES = (
    Altitude,
    Trapezoid,
)
