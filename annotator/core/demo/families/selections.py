"""Committees, and numbers that are multiples of one number or another."""

from __future__ import annotations

from math import comb, factorial, gcd
from random import Random

from annotator.core.demo.tex import Num, binom
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class Committee(Problem):
    """Committees with at least one (or two) from one of two groups."""

    subject = "combinatorics"
    GROUPS = (
        ("chemists", "physicists"),
        ("poets", "painters"),
        ("teachers", "parents"),
        ("cellists", "violinists"),
        ("nurses", "doctors"),
    )

    def __init__(self, rng: Random) -> None:
        self.one, self.two = rng.choice(self.GROUPS)
        if rng.random() < 0.5:
            self.one, self.two = self.two, self.one
        self.m, self.n, self.k = rng.randrange(4, 11), rng.randrange(4, 11), rng.choice((3, 4))
        self.what = rng.choice(("committee", "team", "jury", "delegation"))
        self.text = (
            f"From {self.m} {self.one} and {self.n} {self.two}, a {self.what} of {self.k} people is chosen. "
            f"In how many ways can this be done if it must include at least one of the {self.two}?"
        )
        self.all, self.none = comb(self.m + self.n, self.k), comb(self.m, self.k)
        self.answer = str(self.all - self.none)
        counts = f"{binom(self.m + self.n, self.k)} - {binom(self.m, self.k)}"
        self.reference = f"${counts} = {self.all} - {self.none} = {self.answer}$."

    @route(
        ordered=ErrorKind.FORMULA,
        all=ErrorKind.CALCULATION,
        minus=ErrorKind.CALCULATION,
        other=ErrorKind.MISREAD,
        all_again=ErrorKind.CONTRADICTION,
    )
    def complement(self, w: Writer) -> None:
        m, n, k = self.m, self.n, self.k
        w.open(f"the number of {self.what}s with at least one of the {self.two}")
        w.step(
            f"It is easier to count all possible {self.what}s and remove those with none of the {self.two}.",
            f"Use the complement: the only bad {self.what}s are those without any of the {self.two}.",
        )
        if w.slips("ordered"):
            total: Num = factorial(m + n) // factorial(m + n - k)
            product = r" \cdot ".join(str(m + n - i) for i in range(k))
            w.step(
                rf"The {k} members can be picked from {m + n} people in ${product} = {total}$ ways.",
                at="ordered",
            )
        else:
            total = w.compute(
                "all",
                self.all,
                binom(m + n, k),
                "Without the restriction there are $@ = §$ choices.",
                f"From {m + n} people we can choose {k} in \\[@ = §\\] ways.",
            )
        total = w.recall("all_again", total, "the number of choices without the restriction")
        group, size = (self.two, n) if w.slips("other") else (self.one, m)
        bad = comb(size, k)
        w.step(
            rf"The {self.what}s to be excluded consist of {group} only; there are ${binom(size, k)} = "
            rf"{bad}$ of them.",
            rf"Those made up of {group} alone number ${binom(size, k)} = {bad}$, and these have to go.",
            at="other",
        )
        good = w.compute(
            "minus",
            total - bad,
            f"{total} - {bad}",
            "Subtracting, we get $@ = §$.",
            "That leaves $@ = §$ possibilities.",
        )
        w.finish(good, f"There are $§$ such {self.what}s.")

    @route(
        missing=ErrorKind.MISSING_CASE,
        term=ErrorKind.CALCULATION,
        sum=ErrorKind.CALCULATION,
        add=ErrorKind.FORMULA,
    )
    def cases(self, w: Writer) -> None:
        m, n, k = self.m, self.n, self.k
        w.open(f"how many {self.what}s contain one or more of the {self.two}")
        last = k - 1 if w.slips("missing") else k
        listed = ", ".join(map(str, range(1, last))) + f" or {last}"
        w.step(
            f"Split by the number of {self.two} on the {self.what}. It can be {listed}.",
            f"We distinguish cases: exactly {listed} of the {self.two}.",
            at="missing",
        )
        terms = [comb(n, j) * comb(m, k - j) for j in range(1, last + 1)]
        formula = " + ".join(rf"{binom(n, j)}{binom(m, k - j)}" for j in range(1, last + 1))
        if w.slips("add"):
            terms[0] = n + comb(m, k - 1)
            w.step(
                rf"With exactly one there are ${binom(n, 1)} + {binom(m, k - 1)} = {terms[0]}$ "
                r"possibilities.",
                at="add",
            )
        else:
            terms[0] = int(
                w.compute(
                    "term",
                    terms[0],
                    rf"{binom(n, 1)} \cdot {binom(m, k - 1)}",
                    f"Exactly one of the {self.two}: $@ = §$ ways.",
                    "The first case contributes $@ = §$.",
                )
            )
        w.step(
            f"The other cases are counted in the same way and give ${', '.join(map(str, terms[1:]))}$; as "
            f"a formula the whole sum is ${formula}$."
        ) if not w.slips("add") else w.step(f"The other cases contribute ${', '.join(map(str, terms[1:]))}$.")
        total = w.compute(
            "sum",
            sum(terms),
            " + ".join(map(str, terms)),
            "Adding the cases, we obtain $@ = §$.",
            "The sum is $@ = §$.",
        )
        w.finish(total, "So there are $§$ ways.")

    @route(double=ErrorKind.FORMULA)
    def first_one_then_rest(self, w: Writer) -> None:
        if not w.slips("double"):
            self.complement.write(self, w)
            return
        m, n, k = self.m, self.n, self.k
        w.open(f"the number of ways to form the {self.what}")
        rest = comb(m + n - 1, k - 1)
        w.step(
            f"First make sure the condition holds: choose one of the {self.two}, in {n} ways. The "
            f"remaining {k - 1} seats can then be filled "
            rf"freely from the other {m + n - 1} people in ${binom(m + n - 1, k - 1)} = {rest}$ ways, and "
            rf"every valid {self.what} arises exactly once like this.",
            at="double",
        )
        w.step(rf"By the product rule there are ${n} \cdot {rest} = {n * rest}$ possibilities.")
        w.finish(n * rest, f"So the {self.what} can be chosen in $§$ ways.")


class Multiples(Problem):
    """How many numbers up to a bound are multiples of one number or another."""

    subject = "combinatorics"

    def __init__(self, rng: Random) -> None:
        while True:
            self.a, self.b = sorted(rng.sample(range(4, 22), 2))
            self.g = gcd(self.a, self.b)
            if self.b % self.a and self.g > 1:
                break
        self.l = self.a * self.b // self.g
        self.top = rng.randrange(3 * self.a * self.b // 2, 4 * self.a * self.b)
        self.na, self.nb, self.nl = self.top // self.a, self.top // self.b, self.top // self.l
        self.text = rng.choice(
            (
                f"How many integers from 1 to {self.top} are divisible by {self.a} or {self.b} (or both)?",
                f"Up to {self.top}, how many positive integers are multiples of {self.a} or of {self.b}?",
            )
        )
        self.answer = str(self.na + self.nb - self.nl)
        self.reference = (
            rf"There are ${self.na}$ multiples of {self.a}, ${self.nb}$ of {self.b} and ${self.nl}$ of "
            r"their least common multiple "
            rf"{self.l}, so ${self.na} + {self.nb} - {self.nl} = {self.answer}$."
        )

    @route(
        overlap=ErrorKind.MISSING_CASE,
        product=ErrorKind.CONDITION,
        ceil=ErrorKind.FORMULA,
        total=ErrorKind.CALCULATION,
        nb_again=ErrorKind.CONTRADICTION,
    )
    def inclusion_exclusion(self, w: Writer) -> None:
        a, b, top = self.a, self.b, self.top
        w.open(f"how many numbers up to {top} are divisible by {a} or {b}")
        na = self.na + 1 if w.slips("ceil") else self.na
        w.step(
            rf"There are $\lfloor {top}/{a} \rfloor = {na}$ multiples of {a} in the range.",
            rf"The multiples of {a} up to {top}: \[\left\lfloor \frac{{{top}}}{{{a}}} \right\rfloor = "
            rf"{na}.\]",
            at="ceil",
        )
        w.step(
            rf"Likewise $\lfloor {top}/{b} \rfloor = {self.nb}$ multiples of {b}.",
            rf"For {b} we get $\lfloor {top}/{b} \rfloor = {self.nb}$.",
        )
        nb = w.recall("nb_again", self.nb, f"the number of multiples of {b}")
        if w.slips("overlap"):
            w.step(
                f"A number counts if it is in either list, so we add: ${na} + {nb} = {na + nb}$ numbers "
                f"are divisible by {a} or {b}.",
                at="overlap",
            )
            w.finish(na + nb, "The count is $§$.")
            return
        both, nl = (a * b, top // (a * b)) if w.slips("product") else (self.l, self.nl)
        w.step(
            f"Numbers divisible by both are counted twice. They are the multiples of ${both}$, and there "
            f"are ${nl}$ of them.",
            rf"The overlap consists of the multiples of ${both}$; that is $\lfloor {top}/{both} \rfloor = "
            rf"{nl}$ numbers.",
            at="product",
        )
        total = w.compute(
            "total",
            na + nb - nl,
            f"{na} + {nb} - {nl}",
            "By inclusion–exclusion the total is $@ = §$.",
            "So we get \\[@ = §.\\]",
        )
        w.finish(total, "There are $§$ such integers.")

    @route(only=ErrorKind.CALCULATION, twice=ErrorKind.FORMULA)
    def disjoint(self, w: Writer) -> None:
        a, b, top = self.a, self.b, self.top
        w.step(
            f"Let me split the numbers into three groups that don't overlap: multiples of {a} only, "
            f"multiples of {b} only, and multiples of both.",
            f"I'll count the multiples of {a} alone, of {b} alone, and of both separately.",
        )
        w.step(
            rf"Both means a multiple of $\operatorname{{lcm}}({a}, {b}) = {self.l}$. Up to {top} there are "
            rf"${self.nl}$ of these."
        )
        only_a = w.compute(
            "only",
            self.na - self.nl,
            f"{self.na} - {self.nl}",
            f"Of the ${self.na}$ multiples of {a}, those that aren't multiples of {b} number $@ = §$.",
        )
        w.step(
            f"Similarly, of the ${self.nb}$ multiples of {b}, ${self.nb} - {self.nl} = "
            f"{self.nb - self.nl}$ are not multiples of {a}."
        )
        middle = 2 * self.nl if w.slips("twice") else self.nl
        total = only_a + self.nb - self.nl + middle
        note = (
            " (the common multiples count for each of the two numbers, so they enter twice)"
            if w.slips("twice")
            else ""
        )
        w.step(
            f"Together{note} that makes ${only_a} + {self.nb - self.nl} + {middle} = {total}$.", at="twice"
        )
        w.finish(total, "The number of such integers is $§$.")


FAMILIES = (
    Committee,
    Multiples,
)
