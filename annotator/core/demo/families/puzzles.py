"""Truth-tellers and liars, and finishing orders."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from random import Random

from annotator.core.demo.writer import NAMES, ErrorKind, Problem, Writer, route

World = tuple[bool, ...]


Claim = tuple[str, Callable[[World], bool]]


Order = tuple[str, ...]
Clue = tuple[str, Callable[[Order], bool]]


class Knights(Problem):
    """Three people, each a knight (always truthful) or a knave (never)."""

    subject = "logic"
    domain = "logic"

    def __init__(self, rng: Random) -> None:
        self.people = rng.sample(NAMES, 3)
        while True:
            self.claims = [self._claim(rng, speaker) for speaker in range(3)]
            worlds = [w for w in product((True, False), repeat=3) if not self._broken(w)]
            if len(worlds) == 1:
                break
        self.world = worlds[0]
        said = " ".join(
            f'{name} says: "{claim[0]}"' for name, claim in zip(self.people, self.claims, strict=True)
        )
        self.text = (
            "On an island everyone is either a knight, who always tells the truth, or a knave, who always lies. "
            f"{said} Who is a knight?"
        )
        self.answer = self._knights(self.world)
        self.reference = (
            f"Of the eight possibilities only one fits all three statements: {self._describe(self.world)}."
        )

    def _claim(self, rng: Random, speaker: int) -> Claim:
        a, b = [i for i in range(3) if i != speaker]
        other = rng.choice((a, b))
        names = self.people
        options: list[Claim] = [
            (f"{names[other]} is a knave.", lambda w: not w[other]),
            (f"{names[other]} is a knight.", lambda w: w[other]),
            (f"{names[a]} and {names[b]} are of the same kind.", lambda w: w[a] == w[b]),
            ("At least one of us three is a knave.", lambda w: not all(w)),
            ("Exactly one of us three is a knight.", lambda w: sum(w) == 1),
            (f"{names[a]} and I are of different kinds.", lambda w: w[a] != w[speaker]),
            (f"{names[a]} and {names[b]} are both knaves.", lambda w: not w[a] and not w[b]),
            ("Exactly two of us are knights.", lambda w: sum(w) == 2),
        ]
        return rng.choice(options)

    def _broken(self, world: World) -> list[int]:
        return [i for i in range(3) if self.claims[i][1](world) != world[i]]

    def _knights(self, world: World) -> str:
        names = [n for n, knight in zip(self.people, world, strict=True) if knight]
        return (
            rf"\text{{{' and '.join(names) if len(names) < 3 else 'all three'}}}"
            if names
            else r"\text{nobody}"
        )

    def _describe(self, world: World) -> str:
        return ", ".join(
            f"{n} is a {'knight' if k else 'knave'}" for n, k in zip(self.people, world, strict=True)
        )

    def _why(self, world: World, speaker: int) -> str:
        kind = "knight" if world[speaker] else "knave"
        truth = "false" if world[speaker] else "true"
        return f"{self.people[speaker]} would be a {kind} whose statement is {truth}"

    def _case(self, first: bool, fits: World | None) -> str:
        parts = []
        for rest in product((True, False), repeat=2):
            world = (first, *rest)
            pair = " and ".join(
                f"{n} a {'knight' if k else 'knave'}" for n, k in zip(self.people[1:], rest, strict=True)
            )
            if world == fits:
                parts.append(f"with {pair}, all three statements fit")
            else:
                broken = self._broken(world) or [2]
                parts.append(f"with {pair}, {self._why(world, broken[0])}")
        return "; ".join(parts)

    @route(
        overlook=ErrorKind.CONDITION,
        one_case=ErrorKind.MISSING_CASE,
        circular=ErrorKind.CIRCULAR,
        lie=ErrorKind.MISREAD,
    )
    def cases(self, w: Writer) -> None:
        one = self.people[0]
        w.open("who of the three is a knight")
        if w.slips("circular"):
            w.step(
                f"{one} is a knight, because what {one} says is true, and we know that it is true since "
                f"knights like {one} always tell the truth.",
                at="circular",
            )
            worlds = [x for x in product((True, False), repeat=3) if x[0] and self.claims[0][1](x)] or [
                (True, True, True)
            ]
            w.step(f"Going on from there, it follows that {self._describe(worlds[0])}.")
            w.finish(self._knights(worlds[0]))
            return
        if w.slips("lie"):
            w.step(
                "A knave may also tell the truth now and then, so statements of knaves give no "
                "information. Only a knight's statement matters here.",
                at="lie",
            )
            worlds = [
                x
                for x in product((True, False), repeat=3)
                if all(self.claims[i][1](x) for i in range(3) if x[i])
            ]
            w.step(f"One possibility that fits is that {self._describe(worlds[0])}.")
            w.finish(self._knights(worlds[0]))
            return
        w.step(
            f"I'll distinguish two cases, depending on what {one} is. A combination is possible only if "
            "knights' statements are true and knaves' statements are false.",
            f"Start with {one}, who is either a knight or a knave, and test what the others could be.",
        )
        if w.slips("one_case") or w.slips("overlook"):
            self._wrong_case(w)
            return
        for first in (True, False):
            fits = self.world if self.world[0] == first else None
            end = "" if fits else f" So {one} can't be a {'knight' if first else 'knave'}."
            w.step(
                f"Suppose {one} is a {'knight' if first else 'knave'}. Then {self._case(first, fits)}.{end}"
            )
        w.step(f"Only one combination survives: {self._describe(self.world)}.")
        w.finish(self.answer)

    def _wrong_case(self, w: Writer) -> None:
        one, other = self.people[0], not self.world[0]
        kind = "knight" if other else "knave"
        fake = next(x for x in product((True, False), repeat=3) if x[0] == other)
        if w.slips("one_case"):
            wrong = (other, *self.world[1:])
            w.step(
                f"It is enough to look at the case that {one} is a {kind}, because the puzzle has a single "
                f"solution and this case already gives one: {self._describe(wrong)}.",
                at="one_case",
            )
            w.finish(self._knights(wrong))
            return
        w.step(f"Suppose {one} is a {kind}. Then {self._case(other, fake)}.", at="overlook")
        w.step(f"So we have found the combination: {self._describe(fake)}.")
        w.finish(self._knights(fake))

    @route(count=ErrorKind.MISSING_CASE, flip=ErrorKind.CONTRADICTION)
    def table(self, w: Writer) -> None:
        rows = list(product((True, False), repeat=3))
        first = [x for x in rows if 0 not in self._broken(x)]
        w.step(
            "There are $2^3 = 8$ combinations. I write K for knight and N for knave, in the order "
            + ", ".join(self.people)
            + "."
        )
        w.step(
            f"{self.people[0]}'s statement has to be true exactly if {self.people[0]} is a knight. That "
            f"leaves {self._codes(first)}."
        )
        second = [x for x in first if 1 not in self._broken(x)]
        if w.slips("count"):
            second = [x for x in second if x != self.world]
        w.step(
            f"Of these, {self.people[1]}'s statement is consistent only with "
            f"{self._codes(second) if second else 'none'}.",
            at="count",
        )
        if w.slips("count"):
            left = (
                second[0]
                if second
                else first[0]
                if first[0] != self.world
                else (not self.world[0], *self.world[1:])
            )
            w.step(f"The best remaining fit is {self._codes([left])}.")
            w.finish(self._knights(left))
            return
        w.step(f"Finally, {self.people[2]}'s statement leaves just {self._codes([self.world])}.")
        world = self.world
        if w.slips("flip"):
            world = (world[0], world[1], not world[2])
            w.step(f"In this combination, {self._describe(world)}.", at="flip")
        w.finish(self._knights(world))

    @staticmethod
    def _codes(worlds: list[World]) -> str:
        return ", ".join("".join("K" if k else "N" for k in world) for world in worlds)


class FinishOrder(Problem):
    """Four runners and clues that fix their order."""

    subject = "logic"
    domain = "logic"

    def __init__(self, rng: Random) -> None:
        self.people = sorted(rng.sample(NAMES, 4))
        orders = list(permutations(self.people))
        hidden = rng.choice(orders)
        while True:
            self.clues = self._clues(rng, hidden)
            left, sizes = orders, []
            for _, holds in self.clues:
                left = [o for o in left if holds(o)]
                sizes.append(len(left))
            if left == [hidden] and sizes[0] > sizes[1] > sizes[2] and sizes[0] <= 8:
                break
        self.hidden = hidden
        listed = " ".join(f"({i}) {text}" for i, (text, _) in enumerate(self.clues, 1))
        self.text = (
            f"{', '.join(self.people[:-1])} and {self.people[-1]} ran a race without ties. {listed} In which order "
            "did they finish?"
        )
        self.answer = self._boxed(hidden)
        self.reference = f"The only order that agrees with all clues is {self._shown(hidden)}."

    def _clues(self, rng: Random, hidden: Order) -> list[Clue]:
        clues: list[Clue] = []
        for _ in range(3):
            i, j = sorted(rng.sample(range(4), 2))
            x, y = hidden[i], hidden[j]
            between = ("nobody", "one other runner", "both of the others")[j - i - 1]
            clues.append(
                rng.choice(
                    (
                        (f"{x} finished before {y}.", lambda o, x=x, y=y: o.index(x) < o.index(y)),
                        (
                            f"{x} wasn't last and {y} wasn't first.",
                            lambda o, x=x, y=y: o[3] != x and o[0] != y,
                        ),
                        (f"{y} came in place {j + 1}.", lambda o, y=y, j=j: o.index(y) == j),
                        (
                            f"{x} finished ahead of {y}, with {between} between them.",
                            lambda o, x=x, y=y, k=j - i: o.index(y) - o.index(x) == k,
                        ),
                    )
                )
            )
        return clues

    @staticmethod
    def _shown(order: Order) -> str:
        return "–".join(order)

    @staticmethod
    def _boxed(order: Order) -> str:
        return rf"\text{{{', '.join(order)}}}"

    @route(
        lost=ErrorKind.MISSING_CASE,
        against=ErrorKind.CONTRADICTION,
        jump=ErrorKind.UNJUSTIFIED,
        reverse=ErrorKind.MISREAD,
    )
    def eliminate(self, w: Writer) -> None:
        w.open("the order in which the four finished")
        left = list(permutations(self.people))
        w.step(
            "Without any clue there are $4! = 24$ possible orders, so we can afford to list what each clue "
            "leaves.",
            "Let's cut down the $24$ possible orders clue by clue.",
        )
        for number, (_, holds) in enumerate(self.clues, 1):
            left = [o for o in left if holds(o)]
            if number == 2 and w.slips("lost"):
                left = [o for o in left if o != self.hidden]
            if number == 3:
                break
            w.step(
                f"Clue ({number}) leaves {len(left)} {'order' if len(left) == 1 else 'orders'}: "
                f"{', '.join(map(self._shown, left))}.",
                f"After clue ({number}) we are left with {', '.join(map(self._shown, left))}.",
                at="lost" if number == 2 else None,
            )
            if number == 2 and w.slips("jump"):
                pick = next(o for o in left if o != self.hidden)
                w.step(
                    f"The first of these that looks natural, {self._shown(pick)}, must be the answer, so "
                    "the last clue isn't needed.",
                    at="jump",
                )
                w.finish(self._boxed(pick))
                return
        self._conclude(w, left)

    def _conclude(self, w: Writer, left: list[Order]) -> None:
        final = left[0] if left else self.hidden[::-1]
        if w.slips("reverse"):
            w.step(
                f"Clue (3) leaves only {self._shown(self.hidden)}, where the one listed first was the "
                f"slowest, so from fastest to slowest it is {self._shown(self.hidden[::-1])}.",
                at="reverse",
            )
            w.finish(self._boxed(self.hidden[::-1]))
            return
        if w.slips("against"):
            final = (self.hidden[1], self.hidden[0], *self.hidden[2:])
            w.step(
                f"Clue (3) then fixes everything, and the order we are left with is {self._shown(final)}.",
                at="against",
            )
        else:
            w.step(
                f"Finally, clue (3) leaves only {self._shown(final)}.",
                f"Of these, just {self._shown(final)} agrees with clue (3).",
            )
        w.finish(self._boxed(final))

    @route(check=ErrorKind.CONDITION)
    def guess_and_check(self, w: Writer) -> None:
        order = self.hidden
        if w.slips("check"):
            order = next(o for o in permutations(self.people) if self.clues[0][1](o) and o != self.hidden)
            w.step(
                f"Try the order {self._shown(order)}. It agrees with clue (1), so it is the order we are "
                "looking for.",
                at="check",
            )
            w.finish(self._boxed(order))
            return
        w.step(f"Let's test the order {self._shown(order)} against the clues.")
        for number, (text, _) in enumerate(self.clues, 1):
            w.step(f'Clue ({number}), "{text}", holds for it.')
        others = [o for o in permutations(self.people) if o != order and self.clues[0][1](o)]
        w.step(
            f"The other orders that satisfy clue (1) are {', '.join(map(self._shown, others))}, and each "
            "of them breaks clue (2) or clue (3). So it is the only one."
        )
        w.finish(self._boxed(order))


FAMILIES = (
    Knights,
    FinishOrder,
)
