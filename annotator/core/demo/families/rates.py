"""Speeds and flows that have to be combined."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from annotator.core.demo.tex import Num, frac, quotient, tex
from annotator.core.demo.writer import NAMES, ErrorKind, Problem, Writer, route


class RoundTrip(Problem):
    """There at one speed and back at another: the average speed is the harmonic mean."""

    subject = "arithmetic"

    def __init__(self, rng: Random) -> None:
        self.name = rng.choice(NAMES)
        self.there, self.back = rng.sample((10, 12, 15, 20, 24, 30, 36, 40, 45, 60), 2)
        self.km = rng.choice((60, 120, 180, 240, 360, 420))
        self.how = rng.choice(("cycles", "drives", "rides a moped", "travels by boat"))
        self.place = rng.choice(
            ("the coast", "the lake", "the next town", "a friend's house", "the observatory")
        )
        self.text = (
            f"{self.name} {self.how} {self.km} km to {self.place} at a constant {self.there} km/h and "
            "returns along "
            f"the same road at a constant {self.back} km/h. What is the average speed of the whole trip, "
            "in km/h?"
        )
        self.t1, self.t2 = Fraction(self.km, self.there), Fraction(self.km, self.back)
        self.answer = tex(2 * self.km / (self.t1 + self.t2))
        self.reference = (
            rf"The trip takes ${tex(self.t1)} + {tex(self.t2)} = {tex(self.t1 + self.t2)}$ hours for "
            rf"${2 * self.km}$ km, so the average speed is ${self.answer}$ km/h."
        )

    @route(
        t1=ErrorKind.CALCULATION,
        sum=ErrorKind.CALCULATION,
        mean=ErrorKind.FORMULA,
        half=ErrorKind.MISREAD,
        t2_again=ErrorKind.CONTRADICTION,
    )
    def by_times(self, w: Writer) -> None:
        w.open("the average speed over the whole journey")
        w.step(
            "Average speed is total distance divided by total time, so we need the time for each leg.",
            r"By definition, \[\text{average speed} = \frac{\text{total distance}}{\text{total time}}.\]",
        )
        t1 = w.compute(
            "t1",
            self.t1,
            frac(self.km, self.there),
            "The way there takes $@ = §$ hours.",
            f"Going out at {self.there} km/h, the time is $@ = §$ h.",
        )
        w.step(rf"The way back takes ${quotient(self.km, self.back)}$ hours.")
        if w.slips("mean"):
            mean = Fraction(self.there + self.back, 2)
            w.step(
                rf"Since both legs are equally long, the average speed is just the mean of the two speeds: "
                rf"$\frac{{{self.there} + {self.back}}}{{2}} = {tex(mean)}$ km/h.",
                at="mean",
            )
            w.finish(mean, "The average speed of the whole trip is $§$ km/h.")
            return
        t2 = w.recall("t2_again", self.t2, "the time for the way back, in hours,")
        total = w.compute(
            "sum",
            t1 + t2,
            f"{tex(t1)} + {tex(t2)}",
            "In total that is $@ = §$ hours.",
            "Total time: \\[@ = §.\\]",
        )
        km = self.km if w.slips("half") else 2 * self.km
        w.step(
            rf"The distance covered is ${km}$ km, so the average speed is ${km} \div {tex(total)} = "
            rf"{tex(km / Fraction(total))}$ km/h.",
            at="half",
        )
        w.finish(km / Fraction(total), "The average speed is $§$ km/h.")

    @route(harmonic=ErrorKind.FORMULA, value=ErrorKind.CALCULATION, geometric=ErrorKind.INVENTED)
    def by_harmonic_mean(self, w: Writer) -> None:
        a, b = self.there, self.back
        w.open("one average speed for both directions together")
        w.step(
            rf"Let the one-way distance be $d$. Then the total time is $\frac{{d}}{{{a}}} + "
            rf"\frac{{d}}{{{b}}}$ hours.",
            rf"Call the distance to {self.place} $d$ kilometres. The two legs take $\frac{{d}}{{{a}}}$ and "
            rf"$\frac{{d}}{{{b}}}$ hours.",
        )
        if w.slips("geometric"):
            w.step(
                r"By the equal-legs theorem of kinematics, on a round trip the average speed is the "
                r"*product* of the "
                rf"speeds over their difference, that is $\frac{{{a} \cdot {b}}}{{{abs(a - b)}}}$.",
                at="geometric",
            )
            value: Num = Fraction(a * b, abs(a - b))
            w.step(rf"This gives ${frac(a * b, abs(a - b))} = {tex(value)}$ km/h.")
            w.finish(value)
            return
        if w.slips("harmonic"):
            w.step(
                rf"So the average speed is $\frac{{d}}{{\frac{{d}}{{{a}}} + \frac{{d}}{{{b}}}}} = "
                rf"\frac{{{a} \cdot {b}}}{{{a} + {b}}}$; "
                "the $d$ cancels.",
                at="harmonic",
            )
            value = Fraction(a * b, a + b)
            w.step(rf"Numerically, ${frac(a * b, a + b)} = {tex(value)}$.")
            w.finish(value)
            return
        w.step(
            rf"Therefore the average speed is \[\begin{{aligned}} v &= \frac{{2d}}{{\frac{{d}}{{{a}}} + "
            rf"\frac{{d}}{{{b}}}}} \\ "
            rf"&= \frac{{2 \cdot {a} \cdot {b}}}{{{a} + {b}}}, \end{{aligned}}\] and the distance cancels.",
            rf"The average speed is $\frac{{2d}}{{d/{a} + d/{b}}} = \frac{{2 \cdot {a} \cdot {b}}}{{{a} + "
            rf"{b}}}$. "
            "Note that it does not depend on $d$.",
        )
        value = w.compute(
            "value",
            Fraction(2 * a * b, a + b),
            frac(rf"2 \cdot {a} \cdot {b}", f"{a} + {b}"),
            "Substituting the numbers, $@ = §$ km/h.",
            rf"The denominator is ${a} + {b} = {a + b}$, so $@ = §$.",
        )
        w.finish(value, "The average speed of the whole trip is $§$ km/h.")


class Taps(Problem):
    """Two taps fill a tank together."""

    subject = "arithmetic"
    PAIRS = tuple((a, b) for a in range(2, 31) for b in range(a + 1, 31) if 60 * a * b % (a + b) == 0)

    def __init__(self, rng: Random) -> None:
        self.a, self.b = rng.choice(self.PAIRS)
        self.first, self.second = rng.sample(
            ("copper", "steel", "brass", "garden", "upper", "lower", "old", "new"), 2
        )
        self.tank = rng.choice(("tank", "cistern", "pool", "fish pond"))
        self.text = (
            f"The {self.first} tap alone fills a {self.tank} in {self.a} hours, the {self.second} tap "
            f"alone in {self.b} "
            f"hours. Both are opened at the same time. After how many minutes is the {self.tank} full?"
        )
        self.hours = Fraction(self.a * self.b, self.a + self.b)
        self.answer = tex(60 * self.hours)
        self.reference = (
            rf"Together they fill ${frac(1, self.a)} + {frac(1, self.b)} = {tex(1 / self.hours)}$ of it "
            r"per hour, so it takes "
            rf"${tex(self.hours)}$ hours, which is ${self.answer}$ minutes."
        )

    @route(
        rate=ErrorKind.CALCULATION,
        mean=ErrorKind.FORMULA,
        tops=ErrorKind.FORMULA,
        minutes=ErrorKind.NOTATION,
        stop=ErrorKind.MISREAD,
    )
    def by_rates(self, w: Writer) -> None:
        a, b = self.a, self.b
        w.open(f"how long both taps need together to fill the {self.tank}")
        if w.slips("mean"):
            hours: Num = Fraction(a + b, 2)
            w.step(
                rf"With both taps open, the time is the average of the two times, $\frac{{{a} + {b}}}{{2}} "
                rf"= {tex(hours)}$ hours.",
                at="mean",
            )
            self._minutes(w, hours)
            return
        w.step(
            rf"In one hour the {self.first} tap fills $\frac{{1}}{{{a}}}$ of the {self.tank} and the "
            rf"{self.second} tap $\frac{{1}}{{{b}}}$.",
            rf"The rates are $\frac{{1}}{{{a}}}$ and $\frac{{1}}{{{b}}}$ of the {self.tank} per hour.",
        )
        rate: Num = Fraction(a + b, a * b)
        if w.slips("tops"):
            rate = Fraction(2, a + b)
            w.step(
                rf"Adding the rates: $\frac{{1}}{{{a}}} + \frac{{1}}{{{b}}} = \frac{{2}}{{{a + b}}}$ per "
                r"hour.",
                at="tops",
            )
        else:
            rate = w.compute(
                "rate",
                rate,
                f"{frac(1, a)} + {frac(1, b)}",
                "Together they fill $@ = §$ of it per hour.",
                "Since the flows add up, the combined rate is \\[@ = §\\] per hour.",
            )
        hours = 1 / Fraction(rate)
        w.step(
            rf"The time is the reciprocal of the rate, ${tex(hours)}$ hours.",
            rf"A full {self.tank} therefore takes $1 \div {tex(rate)} = {tex(hours)}$ hours.",
        )
        if w.slips("stop"):
            w.step(
                r"The question asks for the time in hours, so no conversion is needed and we can stop at "
                rf"${tex(hours)}$.",
                at="stop",
            )
            w.finish(hours)
            return
        self._minutes(w, hours)

    def _minutes(self, w: Writer, hours: Num) -> None:
        factor = 100 if w.slips("minutes") else 60
        w.step(
            rf"In minutes this is ${tex(hours)} \cdot {factor} = {tex(hours * factor)}$.",
            rf"Converting hours to minutes, ${factor} \cdot {tex(hours)} = {tex(hours * factor)}$.",
            at="minutes",
        )
        w.finish(hours * factor, f"The {self.tank} is full after $§$ minutes.")

    @route(flow=ErrorKind.CALCULATION, difference=ErrorKind.FORMULA, volume_again=ErrorKind.CONTRADICTION)
    def by_volume(self, w: Writer) -> None:
        a, b = self.a, self.b
        volume = a * b
        w.open(f"the time until the {self.tank} is full")
        w.step(
            rf"The size of the {self.tank} doesn't matter, so suppose it holds ${a} \cdot {b} = {volume}$ "
            r"litres.",
            rf"To avoid fractions, let the {self.tank} hold ${a} \cdot {b} = {volume}$ litres.",
        )
        w.step(
            rf"Then the {self.first} tap delivers ${volume} \div {a} = {b}$ litres an hour and the "
            rf"{self.second} one ${volume} \div {b} = {a}$."
        )
        if w.slips("difference"):
            flow: Num = b - a
            w.step(rf"The net flow is the difference, ${b} - {a} = {flow}$ litres an hour.", at="difference")
        else:
            flow = w.compute(
                "flow",
                a + b,
                f"{b} + {a}",
                "Both together deliver $@ = §$ litres an hour.",
                "The flows add: $@ = §$ litres per hour.",
            )
        full = w.recall(
            "volume_again",
            volume,
            f"the volume of the {self.tank}, in litres,",
            wrong=(volume + 10, 2 * volume),
        )
        hours = Fraction(full) / Fraction(flow)
        w.step(
            f"Filling ${full}$ litres takes ${quotient(full, flow)}$ hours.",
            f"So it takes ${quotient(full, flow)}$ hours to fill ${full}$ litres.",
        )
        w.step(rf"That is ${tex(hours)} \cdot 60 = {tex(60 * hours)}$ minutes.")
        w.finish(60 * hours, "Both taps together need $§$ minutes.")


FAMILIES = (
    RoundTrip,
    Taps,
)
