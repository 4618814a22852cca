"""Divisors and simultaneous congruences."""

from __future__ import annotations

from math import gcd
from random import Random

from annotator.core.demo.tex import Num, frac
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class EvenDivisors(Problem):
    """How many divisors of a number are multiples of a given prime."""

    subject = "number theory"

    def __init__(self, rng: Random) -> None:
        self.primes = (2, *sorted(rng.sample((3, 5, 7, 11), 2)))
        self.exps = (rng.randrange(2, 7), rng.randrange(1, 4), rng.randrange(1, 3))
        self.n = 1
        for prime, exponent in zip(self.primes, self.exps, strict=True):
            self.n *= prime**exponent
        self.factored = r" \cdot ".join(f"{p}^{e}" for p, e in zip(self.primes, self.exps, strict=True))
        self.text = rng.choice(
            (
                f"How many even positive divisors does ${self.n}$ have?",
                f"How many of the positive divisors of ${self.n}$ are even?",
            )
        )
        a, b, c = self.exps
        self.answer = str(a * (b + 1) * (c + 1))
        self.reference = (
            rf"${self.n} = {self.factored}$. An even divisor has at least one factor 2, so there are ${a} \cdot "
            rf"{b + 1} \cdot {c + 1} = {self.answer}$."
        )

    @route(
        zero=ErrorKind.MISSING_CASE,
        all=ErrorKind.MISREAD,
        product=ErrorKind.CALCULATION,
        one=ErrorKind.CONTRADICTION,
    )
    def direct(self, w: Writer) -> None:
        a, b, c = self.exps
        _, q, r = self.primes
        w.open(f"the number of even divisors of ${self.n}$")
        w.step(
            f"The prime factorization is ${self.n} = {self.factored}$.",
            f"Factor the number first: \\[{self.n} = {self.factored}.\\]",
        )
        w.step(
            f"Every divisor has the form $2^i \\cdot {q}^j \\cdot {r}^k$ with $0 \\le i \\le {a}$, $0 \\le "
            f"j \\le {b}$ and $0 \\le k \\le {c}$."
        )
        two = a + 1 if w.slips("all") else a
        if w.slips("all"):
            w.step(
                f"All of these are divisors we are looking for, so there are ${a + 1}$ choices for $i$.",
                at="all",
            )
        else:
            w.step(
                f"For an even divisor $i$ must be at least $1$, which leaves ${a}$ choices for $i$.",
                f"Even means $i \\ge 1$, so $i$ takes the values $1, \\dots, {a}$: that is ${a}$ choices.",
            )
        two = int(w.recall("one", two, "the number of choices for $i$", wrong=(a + 1, a + 2)))
        j, k = (b, c) if w.slips("zero") else (b + 1, c + 1)
        w.step(
            f"There are ${j}$ choices for $j$ and ${k}$ choices for $k$.",
            f"Independently of that, $j$ can be chosen in ${j}$ ways and $k$ in ${k}$ ways.",
            at="zero",
        )
        total = w.compute(
            "product",
            two * j * k,
            rf"{two} \cdot {j} \cdot {k}",
            "Multiplying, the count is $@ = §$.",
            "In total, $@ = §$.",
        )
        w.finish(total, f"${self.n}$ has $§$ even divisors.")

    @route(
        exponents=ErrorKind.FORMULA,
        odd=ErrorKind.CALCULATION,
        minus=ErrorKind.CALCULATION,
        half=ErrorKind.UNJUSTIFIED,
    )
    def complement(self, w: Writer) -> None:
        a, b, c = self.exps
        w.step(
            rf"We have ${self.n} = {self.factored}$.",
            rf"Write ${self.n} = {self.factored}$ and count all divisors, then take away the odd ones.",
        )
        if w.slips("exponents"):
            total: Num = a * b * c
            w.step(
                rf"The number of divisors is the product of the exponents, ${a} \cdot {b} \cdot {c} = "
                rf"{total}$.",
                at="exponents",
            )
            w.step(
                rf"The odd divisors come from the other two primes, so there are ${b} \cdot {c} = {b * c}$ "
                r"of them."
            )
            w.finish(total - b * c)
            return
        total = (a + 1) * (b + 1) * (c + 1)
        w.step(rf"Altogether there are $({a} + 1)({b} + 1)({c} + 1) = {total}$ divisors.")
        if w.slips("half"):
            w.step(
                r"Half of all whole numbers are even, so half of these divisors are even, which is "
                rf"${frac(total, 2)}$.",
                at="half",
            )
            w.finish(rf"\frac{{{total}}}{{2}}" if total % 2 else total // 2)
            return
        odd = w.compute(
            "odd",
            (b + 1) * (c + 1),
            rf"({b} + 1)({c} + 1)",
            "A divisor is odd exactly when it has no factor $2$; there are $@ = §$ of those.",
            "The odd ones number $@ = §$.",
        )
        even = w.compute(
            "minus",
            total - odd,
            f"{total} - {odd}",
            "The rest are even: $@ = §$.",
            "So the number of even divisors is $@ = §$.",
        )
        w.finish(even, "There are $§$ even divisors.")


class Congruences(Problem):
    """The smallest positive number with two given remainders."""

    subject = "number theory"

    def __init__(self, rng: Random) -> None:
        while True:
            self.m, self.n = rng.sample(range(5, 24), 2)
            self.r, self.s = rng.randrange(1, self.m), rng.randrange(1, self.n)
            self.x = next(
                (x for x in range(self.m * self.n) if x % self.m == self.r and x % self.n == self.s), 0
            )
            if gcd(self.m, self.n) == 1 and self.x > max(self.m, self.n) and self.x >= 3 * self.m:
                break
        self.thing = rng.choice(("eggs", "marbles", "coins", "books", "beads", "dancers"))
        self.text = (
            f"When the {self.thing} of a collection are put in groups of {self.m}, {self.r} remain; in "
            f"groups of {self.n}, {self.s} remain. "
            f"What is the smallest possible number of {self.thing}?"
        )
        self.answer = str(self.x)
        self.reference = (
            rf"We need $x \equiv {self.r} \pmod{{{self.m}}}$ and $x \equiv {self.s} \pmod{{{self.n}}}$. The smallest "
            rf"such number is ${self.x}$."
        )

    @route(
        listing=ErrorKind.CALCULATION,
        swap=ErrorKind.MISREAD,
        add=ErrorKind.FORMULA,
        inverse_again=ErrorKind.CONTRADICTION,
        last=ErrorKind.CALCULATION,
    )
    def substitute(self, w: Writer) -> None:
        m, n = self.m, self.n
        r, s = (self.s % m, self.r % n) if w.slips("swap") else (self.r, self.s)
        if w.slips("swap") and (r, s) == (self.r, self.s):
            r = (r + 1) % m
        w.open(f"the smallest number of {self.thing} that fits both conditions")
        w.step(
            rf"In terms of congruences, $x \equiv {r} \pmod{{{m}}}$ and $x \equiv {s} \pmod{{{n}}}$.",
            rf"Let $x$ be the number of {self.thing}. Then \[x \equiv {r} \pmod{{{m}}}, \qquad x \equiv "
            rf"{s} \pmod{{{n}}}.\]",
            at="swap",
        )
        if w.slips("add"):
            x = (r + s) % (m * n)
            w.step(
                rf"Adding the two congruences, $x \equiv {r} + {s} = {r + s} \pmod{{{m} \cdot {n}}}$.",
                at="add",
            )
            w.finish(x, "The smallest possible number is $§$.")
            return
        w.step(rf"From the first one, $x = {m}k + {r}$ for some integer $k \ge 0$.")
        gap = w.compute(
            "listing",
            s - r,
            f"{s} - {r}",
            rf"Inserting this in the second gives ${m}k \equiv @ = § \pmod{{{n}}}$.",
        )
        inverse = pow(m, -1, n)
        w.step(
            rf"Because ${m} \cdot {inverse} = {m * inverse} \equiv 1 \pmod{{{n}}}$, the inverse of ${m}$ "
            rf"modulo ${n}$ is ${inverse}$."
        )
        inverse = int(
            w.recall(
                "inverse_again",
                inverse,
                f"the inverse of ${m}$ modulo ${n}$",
                wrong=((inverse + 1) % n, (inverse + 2) % n),
            )
        )
        k = inverse * int(gap) % n
        w.step(
            rf"So $k \equiv {inverse} \cdot {gap if gap >= 0 else f'({gap})'} \equiv {k} \pmod{{{n}}}$, "
            rf"and the smallest choice is $k = {k}$."
        )
        x = int(
            w.compute(
                "last",
                m * k + r,
                rf"{m} \cdot {k} + {r}",
                "This gives $x = @ = §$.",
                "Therefore \\[x = @ = §.\\]",
            )
        )
        w.finish(x, f"The smallest possible number of {self.thing} is $§$.")

    @route(skip=ErrorKind.CONDITION, misstep=ErrorKind.CALCULATION, lcm=ErrorKind.FORMULA)
    def by_listing(self, w: Writer) -> None:
        m, n, r, s = self.m, self.n, self.r, self.s
        w.step(
            f"Numbers that leave remainder ${r}$ when divided by ${m}$ are ${r}, {r + m}, {r + 2 * m}, "
            f"{r + 3 * m}, \\dots$",
            f"The first condition allows only $x = {r}, {r + m}, {r + 2 * m}, \\dots$, in steps of ${m}$.",
        )
        if w.slips("lcm"):
            w.step(
                rf"Both patterns line up again after $\operatorname{{lcm}}({m}, {n}) = {m * n}$, so the "
                rf"smallest solution is ${m * n} + {r} = {m * n + r}$.",
                at="lcm",
            )
            w.finish(m * n + r)
            return
        if w.slips("skip"):
            x = r + m * 2
            w.step(
                f"Take $x = {x}$, the third number of this list. It leaves the right remainder, so this is "
                f"how many {self.thing} there are.",
                at="skip",
            )
            w.finish(x)
            return
        k = self.x // m
        x = int(
            w.compute(
                "misstep",
                self.x,
                rf"{r} + {k} \cdot {m}",
                f"Checking them one after another modulo ${n}$, the first that leaves ${s}$ is the one "
                f"after ${k}$ steps, $@ = §$.",
            )
        )
        w.step(rf"Check: ${x} = {n} \cdot {self.x // n} + {s}$, as required.") if x == self.x else w.step(
            "Both conditions are met by this number."
        )
        w.finish(x, f"There are at least $§$ {self.thing}.")


FAMILIES = (
    EvenDivisors,
    Congruences,
)
