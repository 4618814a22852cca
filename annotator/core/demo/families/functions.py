"""Writing a small Python function, and reading slices. Nothing is executed."""

from __future__ import annotations

from random import Random

from annotator.core.demo.tex import fenced
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class CountBetween(Problem):
    """Write a counting function and say what it returns for one list."""

    subject = "python"
    domain = "code"

    def __init__(self, rng: Random) -> None:
        self.low = rng.randrange(5, 20)
        self.high = self.low + rng.randrange(8, 20)
        inner = [rng.randrange(self.low + 1, self.high) for _ in range(rng.randrange(2, 4))]
        outer = [
            rng.randrange(0, self.low),
            rng.randrange(self.high + 1, self.high + 15),
            rng.randrange(0, self.low),
        ]
        self.values = [*inner, *outer, self.low, self.high]
        rng.shuffle(self.values)
        self.values.append(rng.randrange(self.low + 1, self.high))
        self.name = rng.choice(("count_between", "count_in_range", "how_many", "count_inside"))
        self.text = (
            f"Write a Python function `{self.name}(values, low, high)` that returns how many numbers in "
            "the list `values` are at least `low` and "
            f"less than `high`. What does it return for `values = {self.values}`, `low = {self.low}`, "
            f"`high = {self.high}`?"
        )
        self.hits = self._hits(self.values, ">=", "<")
        self.answer = str(len(self.hits))
        self.reference = (
            fenced(
                f"def {self.name}(values, low, high):\n    return sum(1 for v in values if low <= v < high)"
            )
            + f"\n\nThe numbers {', '.join(map(str, self.hits))} qualify, so it returns {self.answer}."
        )

    def _hits(self, values: list[int], lower: str, upper: str) -> list[int]:
        above = [v for v in values if v > self.low or (v == self.low and lower == ">=")]
        return [v for v in above if v < self.high or (v == self.high and upper == "<=")]

    @route(
        strict=ErrorKind.CODE,
        closed=ErrorKind.CODE,
        short=ErrorKind.CODE,
        list=ErrorKind.MISSING_CASE,
        early=ErrorKind.CODE,
    )
    def loop(self, w: Writer) -> None:
        w.open("a function and its value for one list")
        w.step(
            "The lower bound is included and the upper bound is not. A simple loop with a counter does it.",
            "I'll go through the list once and count every value that passes both comparisons, `>=` for "
            "the lower bound and `<` for the upper one.",
        )
        lower = ">" if w.slips("strict") else ">="
        upper = "<=" if w.slips("closed") else "<"
        span = "range(len(values) - 1)" if w.slips("short") else "range(len(values))"
        indent = "        " if w.slips("early") else "    "
        code = (
            f"def {self.name}(values, low, high):\n    count = 0\n    for i in {span}:\n"
            f"        if values[i] {lower} low and values[i] {upper} high:\n            count += "
            f"1\n{indent}return count"
        )
        at = next((name for name in ("strict", "closed", "short", "early") if w.slips(name)), None)
        w.step(fenced(code), kind="code", at=at)
        seen = self.values[:1] if w.slips("early") else self.values[:-1] if w.slips("short") else self.values
        self._report(w, self._hits(seen, lower, upper))

    def _report(self, w: Writer, hits: list[int]) -> None:
        if w.slips("list"):
            hits = hits[:-1]
        shown = ", ".join(map(str, hits)) or "none"
        w.step(
            f"For the given list, the values that pass the test are: {shown}.",
            f"Running through the example by hand, the counter goes up at these values: {shown}.",
            at="list",
        )
        w.step(f"That makes {len(hits)} in total.")
        w.finish(len(hits), "The call returns $§$.", f"So `{self.name}` returns $§$ for this input.")

    @route(chain=ErrorKind.CODE, sets=ErrorKind.CODE, wrong_list=ErrorKind.MISREAD)
    def generator(self, w: Writer) -> None:
        w.step(
            "Python allows chained comparisons, so this can be a single expression.",
            "This fits in one line with `sum` and a generator expression.",
        )
        test = "low <= v <= high" if w.slips("chain") else "low <= v < high"
        source = "set(values[1:])" if w.slips("sets") else "values"
        at = "chain" if w.slips("chain") else "sets" if w.slips("sets") else None
        w.step(
            fenced(f"def {self.name}(values, low, high):\n    return sum(1 for v in {source} if {test})"),
            kind="code",
            at=at,
        )
        upper = "<=" if w.slips("chain") else "<"
        values = sorted(set(self.values[1:])) if w.slips("sets") else self.values
        hits = self._hits(values, ">=", upper)
        if w.slips("wrong_list"):
            hits = [v for v in self.values if v not in hits]
            w.step(
                f"In the example, the function counts {', '.join(map(str, hits))}, which lie outside the "
                "bounds as required.",
                at="wrong_list",
            )
        else:
            w.step(
                f"In the example, {', '.join(map(str, hits))} satisfy the condition.",
                f"With `low = {self.low}` and `high = {self.high}` it counts {', '.join(map(str, hits))}.",
            )
        w.finish(len(hits), "The result is $§$.")


class Slices(Problem):
    """What a slice of a string is."""

    subject = "python"
    domain = "code"
    WORDS = (
        "programming",
        "basketball",
        "watermelon",
        "lighthouse",
        "background",
        "playground",
        "strawberry",
        "blacksmith",
        "journalist",
        "algorithms",
        "motherboard",
        "binoculars",
    )

    def __init__(self, rng: Random) -> None:
        self.word = rng.choice(self.WORDS)
        self.a = rng.randrange(0, 4)
        self.by = rng.choice((1, 2, 3))
        self.b = self.a + rng.randrange(4, 7)
        self.word2 = rng.choice(("-", "+", "*", "_", "."))
        if (self.b - self.a) % self.by:
            self.b = self.a + self.by * ((self.b - self.a) // self.by)
        self.var = rng.choice(("s", "word", "text", "t"))
        self.call = (
            f"{self.var}[{self.a}:{self.b}:{self.by}]" if self.by > 1 else f"{self.var}[{self.a}:{self.b}]"
        )
        self.code = f'{self.var} = "{self.word}"\nprint({self.call}[::-1] + "{self.word2}" + {self.var}[-2:])'
        self.text = f"What does the following code print?\n\n{fenced(self.code)}"
        self.tail = self.word[-2:]
        self.piece = self.word[self.a : self.b : self.by]
        self.answer = rf"\texttt{{{self._shown(self.piece[::-1] + self.word2 + self.tail)}}}"
        self.reference = (
            f"The slice is `{self.piece}`, reversed `{self.piece[::-1]}`, and the last two characters are "
            f"`{self.tail}`."
        )

    @staticmethod
    def _shown(text: str) -> str:
        return text.replace("_", r"\_")

    @route(end=ErrorKind.CODE, base=ErrorKind.CODE, reverse=ErrorKind.MISREAD, tail=ErrorKind.CODE)
    def evaluate(self, w: Writer) -> None:
        a, b, by, word = self.a, self.b, self.by, self.word
        w.open("the printed string")
        letters = ", ".join(f"{i}:{c}" for i, c in enumerate(word))
        shift = 1 if w.slips("base") else 0
        w.step(
            "Write the characters with their positions: "
            f"{letters if not shift else ', '.join(f'{i}:{c}' for i, c in enumerate(word, 1))}.",
            f"Python numbers the characters from {shift}: "
            f"{letters if not shift else ', '.join(f'{i}:{c}' for i, c in enumerate(word, 1))}.",
            at="base",
        )
        stop = b + 1 if w.slips("end") else b
        piece = word[max(a - shift, 0) : stop - shift : by]
        every = f", taking every {('second', 'third')[by - 2]} character" if by > 1 else ""
        w.step(
            f"`{self.call}` goes from position {a} to position {stop - 1}{every}, which gives `{piece}`.",
            f"The slice covers the positions {a} to {stop - 1}{every}: `{piece}`.",
            at="end",
        )
        turned = piece if w.slips("reverse") else piece[::-1]
        w.step(
            "Applying `[::-1]` "
            f"{'keeps all characters, so we still have' if w.slips('reverse') else 'reverses this to'} "
            f"`{turned}`.",
            at="reverse",
        )
        tail = word[-3:-1] if w.slips("tail") else self.tail
        w.step(
            f"`{self.var}[-2:]` is the last two characters, `{tail}`."
            if not w.slips("tail")
            else f"`{self.var}[-2:]` starts two before the end, not counting the last character: `{tail}`.",
            at="tail",
        )
        w.finish(
            rf"\texttt{{{self._shown(turned + self.word2 + tail)}}}",
            "The output is $§$.",
            "So the program prints $§$.",
        )

    @route(order=ErrorKind.CODE, list=ErrorKind.CODE)
    def by_positions(self, w: Writer) -> None:
        a, b, by, word = self.a, self.b, self.by, self.word
        positions = list(range(a, b, by))
        if w.slips("list"):
            positions = list(range(a, b + by, by))
        w.step(
            f"The positions in the slice are those of `range({a}, {b}, {by})`: "
            f"{', '.join(map(str, positions))}.",
            at="list",
        )
        positions = positions if w.slips("order") else positions[::-1]
        w.step(
            f"Because of `[::-1]` they are read in the order {', '.join(map(str, positions))}.",
            f"The reversal means reading them as {', '.join(map(str, positions))}.",
            at="order",
        )
        turned = "".join(word[i] for i in positions if i < len(word))
        w.step(f"In `{word}` these are the characters {', '.join(turned)}, so the first part is `{turned}`.")
        w.step(f"Then comes `{self.word2}`, and finally the last two characters, `{self.tail}`.")
        w.finish(
            rf"\texttt{{{self._shown(turned + self.word2 + self.tail)}}}", "Altogether the output is $§$."
        )


FAMILIES = (
    CountBetween,
    Slices,
)
