"""Remainders of large powers."""

from __future__ import annotations

from math import gcd
from random import Random

from annotator.core.demo.tex import Num
from annotator.core.demo.writer import ErrorKind, Problem, Writer, route


class PowerModPrime(Problem):
    """The remainder of a large power divided by a prime."""

    subject = "number theory"

    def __init__(self, rng: Random) -> None:
        self.p = rng.choice((7, 11, 13, 17, 19, 23, 29, 31))
        while True:
            self.a = rng.randrange(2, min(self.p - 1, 13))
            self.n = (self.p - 1) * rng.randrange(3, 40) + rng.randrange(2, min(self.p - 1, 9))
            self.r = self.n % (self.p - 1)
            self.value = pow(self.a, self.r, self.p)
            # A remainder of 1 would make wrong exponents right by accident.
            if (
                pow(self.a, self.n % self.p, self.p) != self.value
                and self.n % self.p < 9
                and self.a**self.r > self.p
            ):
                break
        self.text = rng.choice(
            (
                f"Find the remainder when ${self.a}^{{{self.n}}}$ is divided by ${self.p}$.",
                f"What is ${self.a}^{{{self.n}}} \\bmod {self.p}$?",
            )
        )
        self.answer = str(self.value)
        self.reference = (
            rf"By Fermat's little theorem ${self.a}^{{{self.p - 1}}} \equiv 1$, and ${self.n} \equiv "
            rf"{self.r} \pmod{{{self.p - 1}}}$, so the "
            rf"power is ${self.a}^{{{self.r}}} \equiv {self.value} \pmod{{{self.p}}}$."
        )

    @route(
        wrong_modulus=ErrorKind.FORMULA,
        invented=ErrorKind.INVENTED,
        power=ErrorKind.CALCULATION,
        exponent_again=ErrorKind.CONTRADICTION,
        residue=ErrorKind.CALCULATION,
    )
    def fermat(self, w: Writer) -> None:
        a, n, p = self.a, self.n, self.p
        w.open(f"the remainder of ${a}^{{{n}}}$ modulo ${p}$")
        w.step(
            rf"Since ${p}$ is prime and doesn't divide ${a}$, Fermat's little theorem gives "
            rf"${a}^{{{p - 1}}} \equiv 1 \pmod{{{p}}}$.",
            rf"${p}$ is a prime and $\gcd({a}, {p}) = 1$. By Fermat's little theorem, \[{a}^{{{p - 1}}} "
            rf"\equiv 1 \pmod{{{p}}}.\]",
        )
        if w.slips("invented"):
            w.step(
                r"By the half-order lemma, which holds for every base, we even have "
                rf"${a}^{{{(p - 1) // 2}}} \equiv 1 \pmod{{{p}}}$ for any prime modulus.",
                at="invented",
            )
            order = (p - 1) // 2
        else:
            order = p if w.slips("wrong_modulus") else p - 1
        r = n % order
        w.step(
            rf"So the exponent only matters modulo ${order}$, and ${n} = {order} \cdot {n // order} + {r}$. "
            rf"Hence ${a}^{{{n}}} \equiv {a}^{{{r}}} \pmod{{{p}}}$.",
            rf"Reduce the exponent modulo ${order}$: ${n} = {order} \cdot {n // order} + {r}$, so "
            rf"${a}^{{{n}}} \equiv {a}^{{{r}}}$.",
            at="wrong_modulus",
        )
        r = int(w.recall("exponent_again", r, "the reduced exponent", wrong=(r + 1, r + 2)))
        power = w.compute(
            "power",
            a**r,
            f"{a}^{{{r}}}",
            "Now $@ = §$.",
            "We can compute this directly: $@ = §$.",
            wrong=(a**r + 1, a**r + 10, a**r - 1),
        )
        self._reduce(w, power)

    def _reduce(self, w: Writer, power: Num) -> None:
        p = self.p
        rest = w.compute(
            "residue",
            power % p,
            rf"{power} - {p} \cdot {power // p}",
            f"Dividing by ${p}$ leaves $@ = §$.",
            f"Subtract the largest multiple of ${p}$: $@ = §$.",
        )
        w.finish(rest, "The remainder is $§$.", f"So the remainder on division by ${p}$ is $§$.")

    @route(square=ErrorKind.CALCULATION, pattern=ErrorKind.UNJUSTIFIED)
    def cycle(self, w: Writer) -> None:
        a, n, p = self.a, self.n, self.p
        w.open(f"${a}^{{{n}}}$ modulo ${p}$, using the cycle of its powers")
        powers = [1]
        while len(powers) == 1 or powers[-1] != 1:
            powers.append(powers[-1] * a % p)
        order = len(powers) - 1
        if w.slips("pattern"):
            shown = ", ".join(str(x) for x in powers[1:3])
            guess = powers[1 + (n - 1) % 2]
            w.step(
                f"The first two powers of ${a}$ leave the remainders ${shown}$ modulo ${p}$, so the "
                "remainders obviously alternate from here on.",
                at="pattern",
            )
            w.step(f"Because ${n}$ is {'even' if n % 2 == 0 else 'odd'}, the remainder is ${guess}$.")
            w.finish(guess)
            return
        square = w.compute(
            "square",
            a * a,
            f"{a}^2",
            "Start with a small power, $@ = §$.",
            f"The first power above ${a}$ itself is $@ = §$.",
        )
        if square != a * a:
            odd = rf" \cdot {a}" if n % 2 else ""
            w.step(
                rf"Modulo ${p}$ this is ${square % p}$, so ${a}^{{{n}}} \equiv "
                rf"{square % p}^{{{n // 2}}}{odd}$."
            )
            wrong = pow(int(square), n // 2, p) * (a if n % 2 else 1) % p
            w.step(f"Continuing with repeated squaring, the remainder comes out as ${wrong}$.")
            w.finish(wrong)
            return
        w.step(
            rf"The successive remainders of ${a}^1, {a}^2, {a}^3, \dots$ modulo ${p}$ are "
            rf"${', '.join(map(str, powers[1:]))}$, and then they repeat. The cycle has length ${order}$."
        )
        w.step(
            rf"Since ${n} = {order} \cdot {n // order} + {n % order}$, we need "
            + self._entry(powers, n % order)
        )
        w.finish(powers[n % order], "The remainder is $§$.")

    @staticmethod
    def _entry(powers: list[int], index: int) -> str:
        return (
            f"entry number ${index}$ of the cycle, which is ${powers[index]}$."
            if index
            else "the last entry of the cycle, which is $1$."
        )


class PowerModComposite(Problem):
    """The same with a composite modulus, where Fermat's theorem doesn't apply."""

    subject = "number theory"
    MODULI = {
        15: (3, 5),
        21: (3, 7),
        33: (3, 11),
        35: (5, 7),
        39: (3, 13),
        55: (5, 11),
        65: (5, 13),
        77: (7, 11),
    }

    def __init__(self, rng: Random) -> None:
        self.m = rng.choice(tuple(self.MODULI))
        self.p, self.q = self.MODULI[self.m]
        self.phi = (self.p - 1) * (self.q - 1)
        self.a = rng.choice(
            [
                a
                for a in range(2, min(self.m - 1, 20))
                if gcd(a, self.m) == 1 and pow(a, self.m - 1, self.m) != 1
            ]
        )
        self.k, self.r = rng.randrange(2, 30), rng.randrange(2, 5)
        self.n = self.phi * self.k + self.r
        self.text = f"Determine the remainder of ${self.a}^{{{self.n}}}$ on division by ${self.m}$."
        self.answer = str(pow(self.a, self.r, self.m))
        self.reference = (
            rf"$\varphi({self.m}) = {self.phi}$ and $\gcd({self.a}, {self.m}) = 1$, so "
            rf"${self.a}^{{{self.n}}} \equiv {self.a}^{self.r} "
            rf"\equiv {self.answer} \pmod{{{self.m}}}$."
        )

    @route(
        fermat=ErrorKind.CONDITION,
        phi=ErrorKind.FORMULA,
        totient=ErrorKind.CALCULATION,
        phi_again=ErrorKind.CONTRADICTION,
    )
    def euler(self, w: Writer) -> None:
        a, n, m, p, q = self.a, self.n, self.m, self.p, self.q
        w.open(f"the remainder of ${a}^{{{n}}}$ modulo ${m}$")
        if w.slips("fermat"):
            order: Num = m - 1
            w.step(
                rf"As $\gcd({a}, {m}) = 1$, Fermat's little theorem tells us that ${a}^{{{m - 1}}} \equiv "
                rf"1 \pmod{{{m}}}$.",
                at="fermat",
            )
        else:
            w.step(
                rf"The numbers ${a}$ and ${m} = {p} \cdot {q}$ have no common factor, so Euler's theorem "
                r"applies.",
                rf"Note that $\gcd({a}, {m}) = 1$, hence ${a}^{{\varphi({m})}} \equiv 1 \pmod{{{m}}}$ by "
                r"Euler's theorem.",
            )
            if w.slips("phi"):
                order = m - p - q
                w.step(
                    rf"From ${m}$ numbers we remove the multiples of ${p}$ and ${q}$: $\varphi({m}) = {m} "
                    rf"- {p} - {q} = {order}$.",
                    at="phi",
                )
            else:
                order = w.compute(
                    "totient",
                    self.phi,
                    rf"({p} - 1)({q} - 1)",
                    rf"Here $\varphi({m}) = @ = §$.",
                    rf"Because ${m}$ is a product of two distinct primes, $\varphi({m}) = @ = §$.",
                )
            order = w.recall("phi_again", order, rf"$\varphi({m})$")
        self._power(w, int(order))

    def _power(self, w: Writer, order: int) -> None:
        a, n, m = self.a, self.n, self.m
        r = n % order
        w.step(
            rf"Write ${n} = {order} \cdot {n // order} + {r}$. Then ${a}^{{{n}}} \equiv {a}^{{{r}}} "
            rf"\pmod{{{m}}}$.",
            rf"The exponent leaves remainder ${r}$ modulo ${order}$, so it is enough to find ${a}^{{{r}}}$ "
            rf"modulo ${m}$.",
        )
        value = pow(a, r, m)
        w.step(rf"Working modulo ${m}$, ${a}^{{{r}}} \equiv {value}$.")
        w.finish(value, "The remainder is $§$.")

    @route(crt=ErrorKind.CONTRADICTION, second=ErrorKind.CALCULATION, glue=ErrorKind.FORMULA)
    def by_primes(self, w: Writer) -> None:
        a, n, m, p, q = self.a, self.n, self.m, self.p, self.q
        x, y = pow(a, n, p), pow(a, n, q)
        w.step(
            rf"Split the modulus: ${m} = {p} \cdot {q}$, and treat both primes separately.",
            rf"It is easier to work modulo ${p}$ and modulo ${q}$ and to combine the results.",
        )
        w.step(
            rf"Modulo ${p}$, Fermat gives ${a}^{{{p - 1}}} \equiv 1$, and ${n}$ leaves remainder "
            rf"${n % (p - 1)}$ modulo ${p - 1}$, so ${a}^{{{n}}} \equiv {x} \pmod{{{p}}}$."
        )
        exponent = w.compute(
            "second",
            n % (q - 1),
            rf"{n} - {q - 1} \cdot {n // (q - 1)}",
            f"Modulo ${q}$ the exponent may be reduced by multiples of ${q - 1}$: $@ = §$.",
        )
        y = pow(a, int(exponent), q)
        w.step(rf"Thus ${a}^{{{n}}} \equiv {a}^{{{exponent}}} \equiv {y} \pmod{{{q}}}$.")
        x = int(w.recall("crt", x, f"the remainder modulo ${p}$", wrong=((x + 1) % p,)))
        if w.slips("glue"):
            w.step(
                rf"The remainder modulo ${m} = {p} \cdot {q}$ is the product of the two, ${x} \cdot {y} "
                rf"\equiv {x * y % m} \pmod{{{m}}}$.",
                at="glue",
            )
            w.finish(x * y % m)
            return
        both = next(z for z in range(m) if z % p == x and z % q == y)
        w.step(
            rf"The only number from $0$ to ${m - 1}$ that is ${x}$ modulo ${p}$ and ${y}$ modulo ${q}$ is "
            rf"${both}$."
        )
        w.finish(both, "The remainder is $§$.")


FAMILIES = (
    PowerModPrime,
    PowerModComposite,
)
