"""What a Python loop computes. Nothing is executed: each result is computed beside it."""

from __future__ import annotations

from math import gcd
from random import Random

from annotator.core.demo.tex import Num, fenced
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class LoopTotal(Problem):
    """What a loop over a range adds up to."""

    subject = "python"
    domain = "code"

    def __init__(self, rng: Random) -> None:
        self.start, self.by, self.skip = rng.randrange(1, 9), rng.choice((2, 3, 4, 5)), rng.choice((3, 4, 5))
        if gcd(self.by, self.skip) > 1:  # else the range might hold no multiple at all
            self.skip = 7
        self.count = rng.randrange(5, 9)
        self.end = self.start + self.by * self.count
        self.var = rng.choice(("i", "n", "k", "x"))
        self.total = rng.choice(("total", "result", "acc", "s"))
        self.values = list(range(self.start, self.end, self.by))
        self.kept = [v for v in self.values if v % self.skip]
        while not self.end % self.skip or len(self.kept) == len(self.values) or len(self.kept) < 3:
            self.end += self.by
            self.values = list(range(self.start, self.end, self.by))
            self.kept = [v for v in self.values if v % self.skip]
        self.code = (
            f"{self.total} = 0\nfor {self.var} in range({self.start}, {self.end}, {self.by}):\n"
            f"    if {self.var} % {self.skip} == 0:\n        continue\n    {self.total} += "
            f"{self.var}\nprint({self.total})"
        )
        self.text = f"What does this program print?\n\n{fenced(self.code)}"
        self.answer = str(sum(self.kept))
        self.reference = f"The loop adds {', '.join(map(str, self.kept))}, so it prints {self.answer}."

    @route(
        end=ErrorKind.CODE,
        condition=ErrorKind.CODE,
        total=ErrorKind.CALCULATION,
        missed=ErrorKind.MISSING_CASE,
        last_again=ErrorKind.CONTRADICTION,
    )
    def trace(self, w: Writer) -> None:
        v, skip = self.var, self.skip
        w.open(f"the value of `{self.total}` after the loop")
        values = [*self.values, self.end] if w.slips("end") else self.values
        w.step(
            f"`range({self.start}, {self.end}, {self.by})` takes `{v}` through "
            f"{', '.join(map(str, values))}.",
            f"First list the values of `{v}`: {', '.join(map(str, values))}.",
            at="end",
        )
        inverted = w.slips("condition")
        word = "only" if inverted else "not"
        kept = [x for x in values if bool(x % skip) != inverted]
        if w.slips("missed"):
            kept = kept[:-1]
        w.step(
            f"The `continue` means that the multiples of {skip} are "
            f"{'the ones that count' if inverted else 'skipped'}, so what is added is "
            f"{', '.join(map(str, kept))}.",
            f"Because of `if {v} % {skip} == 0: continue`, multiples of {skip} are {word} added. This "
            f"leaves {', '.join(map(str, kept))}.",
            at="condition" if inverted else "missed",
        )
        largest = w.recall("last_again", kept[-1], "the last number that is added")
        shown = [*kept[:-1], int(largest)]
        total = w.compute(
            "total",
            sum(shown),
            " + ".join(map(str, shown)),
            "Adding these up, $@ = §$.",
            f"So `{self.total}` ends as $@ = §$.",
        )
        w.finish(total, "The program prints $§$.")

    @route(
        rewritten=ErrorKind.CODE,
        whole=ErrorKind.CALCULATION,
        minus=ErrorKind.CALCULATION,
        count=ErrorKind.FORMULA,
    )
    def rewrite(self, w: Writer) -> None:
        v = self.var
        w.step(
            "The loop is easier to read as two sums: everything in the range, minus the multiples that are "
            "skipped.",
            "I'll rewrite the program without `continue`.",
        )
        end = f"{self.end} + 1" if w.slips("rewritten") else str(self.end)
        head = f"range({self.start}, {end}, {self.by})"
        w.step(
            fenced(
                f"# the same result as the loop\neverything = sum({head})\nskipped = sum({v} for {v} in "
                f"{head} if {v} % {self.skip} == 0)\nprint(everything - skipped)"
            ),
            kind="code",
            at="rewritten",
        )
        values = [*self.values, self.end] if w.slips("rewritten") else self.values
        n, first, last = len(values), values[0], values[-1]
        if w.slips("count"):
            whole: Num = n * last
            w.step(
                rf"There are ${n}$ values up to ${last}$, so `everything` is their number times the last "
                rf"one, ${n} \cdot {last} = {whole}$.",
                at="count",
            )
        else:
            whole = w.compute(
                "whole",
                sum(values),
                rf"\frac{{{n} \cdot ({first} + {last})}}{{2}}",
                f"The values form an arithmetic progression with {n} terms from {first} to {last}, so "
                "`everything` is $@ = §$.",
            )
        gone = [x for x in values if x % self.skip == 0]
        w.step(
            f"The multiples of {self.skip} among them are {', '.join(map(str, gone))}, with sum "
            f"${sum(gone)}$."
        )
        total = w.compute(
            "minus",
            whole - sum(gone),
            f"{whole} - {sum(gone)}",
            "The difference is $@ = §$.",
            "So the program prints $@ = §$.",
        )
        w.finish(total)


class Collatz(Problem):
    """How often a while loop runs."""

    subject = "python"
    domain = "code"

    def __init__(self, rng: Random) -> None:
        self.name = rng.choice(("steps", "f", "length", "g"))
        while True:
            self.mul, self.add = rng.choice(((3, 1), (1, 1), (1, 3), (3, 3)))
            self.n, self.stop = rng.randrange(9, 300), rng.choice((4, 6))
            self.trail = self._run(self.n)
            first_odd = next((i for i, v in enumerate(self.trail) if v % 2), 0)
            # Ending exactly at the bound makes `>=` a different program from `>`.
            if (
                5 <= len(self.trail) <= 12
                and self.trail[-1] == self.stop
                and first_odd + 4 <= len(self.trail)
            ):
                break
        step = f"{self.mul} * n + {self.add}" if self.mul > 1 else f"n + {self.add}"
        self.code = (
            f"def {self.name}(n):\n    count = 0\n    while n > {self.stop}:\n        if n % 2 == 0:\n     "
            "       n = n // 2\n        else:\n"
            f"            n = {step}\n        count += 1\n    return count"
        )
        self.text = f"What is the value of `{self.name}({self.n})`?\n\n{fenced(self.code)}"
        self.answer = str(len(self.trail) - 1)
        values = ", ".join(map(str, self.trail))
        self.reference = f"The values of `n` are {values}, so the loop body runs {self.answer} times."

    def _run(self, n: int) -> list[int]:
        trail = [n]
        while trail[-1] > self.stop and len(trail) < 40:
            last = trail[-1]
            trail.append(last // 2 if last % 2 == 0 else self.mul * last + self.add)
        return trail

    @route(odd=ErrorKind.CALCULATION, count=ErrorKind.CODE, exit=ErrorKind.CODE, returned=ErrorKind.MISREAD)
    def trace(self, w: Writer) -> None:
        w.open(f"how often the loop in `{self.name}` runs for {self.n}")
        w.step(
            f"Let's trace `n`. As long as it is greater than {self.stop}, even values are halved and odd "
            "ones are replaced.",
            "I'll follow the variable `n` through the loop.",
        )
        odd = next((i for i, v in enumerate(self.trail[:-1]) if v % 2), None)
        trail = self.trail
        place = odd if odd is not None else 0
        before = trail[place]
        if odd is None:
            after = w.compute(
                "odd",
                before // 2,
                rf"{before} / 2",
                f"The start value {before} is even, so it becomes $@ = §$.",
            )
        else:
            expression = (
                rf"{self.mul} \cdot {before} + {self.add}" if self.mul > 1 else f"{before} + {self.add}"
            )
            lead = (
                f"From {self.n} we get {', '.join(map(str, trail[1 : place + 1]))} by halving. "
                if place
                else ""
            )
            after = w.compute(
                "odd",
                trail[place + 1],
                expression,
                f"{lead}The value {before} is odd, so the next one is $@ = §$.",
            )
        trail = [*trail[: place + 1], *self._run(int(after))]
        if w.slips("exit"):
            trail = trail[:-1]
        w.step(
            f"From there on `n` takes the values {', '.join(map(str, trail[place + 1 :]))}, and then the "
            "loop stops.",
            at="exit",
        )
        if w.slips("returned"):
            w.step(f"The function returns the last value of `n`, which is {trail[-1]}.", at="returned")
            w.finish(trail[-1])
            return
        count = len(trail) if w.slips("count") else len(trail) - 1
        w.step(
            f"The body is executed once for each arrow in {' → '.join(map(str, trail))}, that is, {count} "
            "times.",
            at="count",
        )
        w.finish(count, f"So `{self.name}({self.n})` is $§$.")

    @route(table=ErrorKind.CODE, condition=ErrorKind.CODE, guess=ErrorKind.UNJUSTIFIED)
    def table(self, w: Writer) -> None:
        w.step("To see what happens I'd add a print statement and read off the iterations.")
        test = f"n >= {self.stop}" if w.slips("condition") else f"n > {self.stop}"
        step = f"{self.mul} * n + {self.add}" if self.mul > 1 else f"n + {self.add}"
        halved = "n - 2" if w.slips("table") else "n // 2"
        w.step(
            fenced(
                f"# equivalent to the loop, with output\nn, count = {self.n}, 0\nwhile {test}:\n    n = "
                f"{halved} if n % 2 == 0 else {step}\n    count += 1\n    print(count, n)"
            ),
            kind="code",
            at="table" if w.slips("table") else "condition",
        )
        if w.slips("guess"):
            guess = self.n.bit_length()
            w.step(
                "Each pass roughly halves `n`, so the number of passes must be the number of binary "
                f"digits of {self.n}, which is {guess}.",
                at="guess",
            )
            w.finish(guess)
            return
        lines = list(enumerate(self.trail))[1:]
        if w.slips("table") or w.slips("condition"):
            lines = [*lines, (len(lines) + 1, self.trail[-1] // 2)]
        w.step("It would print the pairs " + ", ".join(f"({i}, {v})" for i, v in lines) + ".")
        w.finish(lines[-1][0], "The last counter value, and so the result, is $§$.")


FAMILIES = (
    LoopTotal,
    Collatz,
)
