"""Areas of rings and of triangles in the coordinate plane."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

from annotator.core.demo.tex import Num, paren, tex
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class Ring(Problem):
    """The area between two concentric circles, given by their diameters."""

    subject = "geometry"

    def __init__(self, rng: Random) -> None:
        self.inner = rng.randrange(2, 25)
        self.outer = self.inner + rng.randrange(1, 12)
        self.thing = rng.choice(
            (
                "circular path around a pond",
                "flat metal washer",
                "running track",
                "ring of grass around a fountain",
            )
        )
        self.unit = rng.choice(("m", "cm"))
        self.D, self.d = 2 * self.outer, 2 * self.inner
        self.text = (
            f"A {self.thing} is bounded by two concentric circles with diameters {self.D} {self.unit} and "
            f"{self.d} {self.unit}. "
            f"Find its area in square {'metres' if self.unit == 'm' else 'centimetres'}, in terms of $\\pi$."
        )
        self.area = self.outer**2 - self.inner**2
        self.answer = rf"{self.area}\pi"
        self.reference = (
            rf"With radii ${self.outer}$ and ${self.inner}$ the area is $\pi({self.outer}^2 - {self.inner}^2) = "
            rf"{self.answer}$."
        )

    @route(
        radii=ErrorKind.MISREAD,
        square=ErrorKind.FORMULA,
        minus=ErrorKind.CALCULATION,
        area=ErrorKind.FORMULA,
        inner_again=ErrorKind.CONTRADICTION,
    )
    def difference(self, w: Writer) -> None:
        big, small = (self.D, self.d) if w.slips("radii") else (self.outer, self.inner)
        w.open("the area of the region between the two circles")
        w.step(
            f"The radius of the outer circle is ${big}$ {self.unit} and that of the inner one is ${small}$ "
            f"{self.unit}.",
            f"Let $R$ and $r$ be the two radii. Here $R = {big}$ and $r = {small}$.",
            at="radii",
        )
        if w.slips("square"):
            value: Num = (big - small) ** 2
            w.step(rf"The area between them is $\pi(R - r)^2 = \pi({big} - {small})^2$.", at="square")
            w.step(rf"That equals ${big - small}^2 \cdot \pi = {value}\pi$.")
            w.finish(rf"{value}\pi")
            return
        if w.slips("area"):
            value = 2 * (big - small)
            w.step(
                r"A circle of radius $r$ has area $2\pi r$, so the region has area $2\pi R - 2\pi r$.",
                at="area",
            )
            w.finish(rf"{value}\pi", "The area is $§$.")
            return
        w.step(
            r"The region is the large disc without the small one, so its area is $\pi R^2 - \pi r^2$.",
            rf"A disc of radius $r$ has area $\pi r^2$. We therefore need \[\pi \cdot {big}^2 - \pi \cdot "
            rf"{small}^2.\]",
        )
        small = int(w.recall("inner_again", small, "the inner radius", wrong=(small + 1, 2 * small)))
        w.step(f"The squares are ${big}^2 = {big * big}$ and ${small}^2 = {small * small}$.")
        value = w.compute(
            "minus",
            big**2 - small**2,
            f"{big * big} - {small * small}",
            "Their difference is $@ = §$.",
            "Subtracting, $@ = §$.",
        )
        w.finish(rf"{value}\pi", f"The area is $§$ square {'metres' if self.unit == 'm' else 'centimetres'}.")

    @route(halves=ErrorKind.FORMULA, product=ErrorKind.CALCULATION, unit=ErrorKind.NOTATION)
    def factored(self, w: Writer) -> None:
        big, small = self.outer, self.inner
        w.step(
            rf"Halving the diameters, the radii are $R = \frac{{{self.D}}}{{2}} = {big}$ and $r = "
            rf"\frac{{{self.d}}}{{2}} = {small}$."
        )
        w.step(
            r"The area is $\pi(R^2 - r^2) = \pi(R - r)(R + r)$.",
            r"By the difference of squares, \[\pi R^2 - \pi r^2 = \pi (R - r)(R + r).\]",
        )
        if w.slips("halves"):
            middle = Fraction(big + small, 2)
            w.step(
                rf"Here $R - r = {big - small}$, and $R + r$ is the radius halfway between the circles, "
                rf"$\frac{{{big} + {small}}}{{2}} = {tex(middle)}$.",
                at="halves",
            )
            value: Num = (big - small) * middle
            w.step(rf"So the product is ${big - small} \cdot {tex(middle)} = {tex(value)}$.")
        else:
            w.step(
                f"Here $R - r = {big - small}$ and $R + r = {big + small}$.",
                f"We have ${big} - {small} = {big - small}$ and ${big} + {small} = {big + small}$.",
            )
            value = w.compute(
                "product",
                self.area,
                rf"{big - small} \cdot {big + small}",
                "The product is $@ = §$.",
                "Multiplying gives $@ = §$.",
            )
        if w.slips("unit"):
            small_unit, per = ("centimetres", 100) if self.unit == "m" else ("millimetres", 10)
            w.step(
                rf"So the area is ${value}\pi$ {self.unit}$^2$. Since $1$ {self.unit} is ${per}$ "
                rf"{small_unit}, this is the same as "
                rf"${per * value}\pi$ square {small_unit}.",
                at="unit",
            )
        w.finish(rf"{tex(value)}\pi", "The area of the region is $§$.")


class LatticeTriangle(Problem):
    """The area of a triangle from its corners' coordinates."""

    subject = "geometry"

    def __init__(self, rng: Random) -> None:
        while True:
            values = [n for n in range(-6, 10) if n]
            self.pts = [(rng.choice(values), rng.choice(values)) for _ in range(3)]
            self.twice = self._cross()
            (x1, y1), (x2, y2), (x3, y3) = self.pts
            dot = (x2 - x1) * (x3 - x1) + (y2 - y1) * (y3 - y1)
            if abs(self.twice) > 5 and dot and x3 * y1 != x1 * y3:
                break
        self.names = rng.choice(("ABC", "PQR", "STU", "KLM"))
        corners = ", ".join(f"${n}({x}, {y})$" for n, (x, y) in zip(self.names, self.pts, strict=True))
        self.text = f"A triangle in the coordinate plane has the corners {corners}. What is its area?"
        self.answer = tex(Fraction(abs(self.twice), 2))
        self.reference = (
            f"The cross product of two sides is ${self.twice}$, so the area is half its absolute value, "
            f"${self.answer}$."
        )

    def _cross(self) -> int:
        (x1, y1), (x2, y2), (x3, y3) = self.pts
        return (x2 - x1) * (y3 - y1) - (x3 - x1) * (y2 - y1)

    @route(
        plus=ErrorKind.FORMULA, half=ErrorKind.FORMULA, cross=ErrorKind.CALCULATION, right=ErrorKind.CONDITION
    )
    def cross_product(self, w: Writer) -> None:
        (x1, y1), (x2, y2), (x3, y3) = self.pts
        n = self.names
        u, v = (x2 - x1, y2 - y1), (x3 - x1, y3 - y1)
        w.open("the area of the triangle")
        w.step(
            rf"The sides from ${n[0]}$ are the vectors $\overrightarrow{{{n[0]}{n[1]}}} = ({u[0]}, "
            rf"{u[1]})$ and $\overrightarrow{{{n[0]}{n[2]}}} = ({v[0]}, {v[1]})$.",
            rf"Move ${n[0]}$ to the origin. The other corners then become $({u[0]}, {u[1]})$ and $({v[0]}, "
            rf"{v[1]})$.",
        )
        if w.slips("right"):
            p, q = u[0] ** 2 + u[1] ** 2, v[0] ** 2 + v[1] ** 2
            w.step(
                r"These two sides are the legs of the triangle, so its area is "
                rf"$\frac{{1}}{{2}}\sqrt{{{p}}} \cdot \sqrt{{{q}}}$.",
                at="right",
            )
            w.finish(rf"\frac{{\sqrt{{{p * q}}}}}{{2}}")
            return
        sign = "+" if w.slips("plus") else "-"
        w.step(
            rf"For vectors $(a, b)$ and $(c, d)$ the triangle's area is $\frac{{1}}{{2}}|ad {sign} bc|$.",
            rf"Use the determinant formula: the area is \[\frac{{1}}{{2}}\left|ad {sign} bc\right|\] for "
            r"the vectors $(a, b)$ and $(c, d)$.",
            at="plus",
        )
        value = u[0] * v[1] + u[1] * v[0] if w.slips("plus") else self.twice
        cross = w.compute(
            "cross",
            value,
            rf"{paren(u[0])} \cdot {paren(v[1])} {sign} {paren(u[1])} \cdot {paren(v[0])}",
            "Inside the absolute value we get $@ = §$.",
            f"Plugging in, $ad {sign} bc = @ = §$.",
        )
        self._area(w, cross)

    def _area(self, w: Writer, twice: Num) -> None:
        size = max(twice, -twice)
        if w.slips("half"):
            w.step(
                f"The absolute value ${size}$ is the area of the triangle spanned by the two vectors.",
                at="half",
            )
            w.finish(size)
            return
        area = Fraction(size) / 2
        w.step(
            rf"Half of the absolute value is $\frac{{{size}}}{{2}} = {tex(area)}$."
            if area.denominator == 1
            else rf"So the area is ${tex(area)}$."
        )
        w.finish(area, "The triangle has area $§$.")

    @route(order=ErrorKind.FORMULA, add=ErrorKind.CALCULATION, closing=ErrorKind.MISSING_CASE)
    def shoelace(self, w: Writer) -> None:
        pts = [*self.pts, self.pts[0]]
        w.step(
            r"I'll use the shoelace formula, \[\text{area} = \frac{1}{2}\left|\sum_i (x_i y_{i+1} - "
            r"x_{i+1} y_i)\right|,\] going once around the triangle.",
            r"By the shoelace formula the area is half the absolute value of $\sum_i (x_i y_{i+1} - "
            r"x_{i+1} y_i)$.",
        )
        terms = [p[0] * q[1] - q[0] * p[1] for p, q in pairwise(pts)]
        first = paren(pts[0][0]), paren(pts[1][1]), paren(pts[1][0]), paren(pts[0][1])
        w.step(
            rf"The first term is ${first[0]} \cdot {first[1]} - {first[2]} \cdot {first[3]} = {terms[0]}$."
        )
        second = paren(pts[1][0]), paren(pts[2][1]), paren(pts[2][0]), paren(pts[1][1])
        if w.slips("order"):
            terms[1] = pts[1][0] * pts[2][1] + pts[2][0] * pts[1][1] or terms[1] + 1
            w.step(
                rf"The second term is ${second[0]} \cdot {second[1]} + {second[2]} \cdot {second[3]} = "
                rf"{terms[1]}$.",
                at="order",
            )
        else:
            w.step(
                rf"The second term is ${second[0]} \cdot {second[1]} - {second[2]} \cdot {second[3]} = "
                rf"{terms[1]}$."
            )
        if w.slips("closing"):
            w.step(
                f"There are no further terms, so the sum is ${terms[0]} + {paren(terms[1])} = "
                f"{terms[0] + terms[1]}$.",
                at="closing",
            )
            self._area(w, terms[0] + terms[1])
            return
        w.step(
            f"The last term goes from ${self.names[2]}$ back to ${self.names[0]}$ and equals ${terms[2]}$."
        )
        total = w.compute(
            "add",
            sum(terms),
            f"{terms[0]} + {paren(terms[1])} + {paren(terms[2])}",
            "The sum of all three is $@ = §$.",
            "Adding up: $@ = §$.",
        )
        self._area(w, total)


FAMILIES = (
    Ring,
    LatticeTriangle,
)
