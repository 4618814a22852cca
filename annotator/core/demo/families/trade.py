"""Word problems about goods, prices and percentages."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from annotator.core.demo.tex import Num, decimal, frac, tex
from annotator.core.demo.writer import NAMES, ErrorKind, Problem, Writer, route


class Bakery(Problem):
    """Trays of rolls, some burnt, the rest bagged and sold."""

    subject = "arithmetic"

    def __init__(self, rng: Random) -> None:
        self.name = rng.choice(NAMES)
        self.goods, self.fault = rng.choice(
            (("rolls", "are burnt"), ("muffins", "fall on the floor"), ("samosas", "are eaten by the staff"))
        )
        self.bag, self.tray, self.price = (
            rng.choice((4, 5, 6, 8, 10)),
            rng.randrange(14, 33),
            rng.randrange(3, 10),
        )
        self.bags = rng.randrange(11, 45)
        while -self.bag * self.bags % self.tray < 2:
            self.bags += 1
        self.trays = self.bag * self.bags // self.tray + 1
        self.total = self.trays * self.tray
        self.lost = self.total - self.bag * self.bags
        self.text = (
            f"{self.name} bakes {self.trays} trays with {self.tray} {self.goods} on each tray. "
            f"{self.lost} of the {self.goods} {self.fault}. The rest are packed into bags of {self.bag}, "
            "and every "
            f"bag is sold for {self.price} euros. How many euros does {self.name} take in?"
        )
        self.answer = str(self.bags * self.price)
        self.reference = (
            rf"${self.trays} \times {self.tray} = {self.total}$ {self.goods} are baked and "
            rf"${self.total} - {self.lost} = {self.total - self.lost}$ are left. They fill "
            rf"${self.total - self.lost} \div {self.bag} = {self.bags}$ bags, which bring "
            rf"${self.bags} \times {self.price} = {self.answer}$ euros."
        )

    @route(
        total=ErrorKind.CALCULATION,
        left=ErrorKind.CALCULATION,
        money=ErrorKind.CALCULATION,
        lost=ErrorKind.MISREAD,
        bags_again=ErrorKind.CONTRADICTION,
        cancel=ErrorKind.CALCULATION,
        unit=ErrorKind.NOTATION,
    )
    def forwards(self, w: Writer) -> None:
        w.open(f"how many euros {self.name} takes in")
        near = tuple(self.total + self.bag * k for k in (-2, -1, 1, 2))
        total = w.compute(
            "cancel" if w.slips("cancel") else "total",
            self.total,
            rf"{self.trays} \times {self.tray}",
            f"The {self.trays} trays hold {self.tray} {self.goods} each, so that is $@ = §$ {self.goods}.",
            f"Start with everything that came out of the oven: $@ = §$ {self.goods}.",
            f"First compute how many {self.goods} were baked: \\[@ = §.\\]",
            wrong=near,
        )
        left = self._left(w, total)
        bags: Num = left / Fraction(self.bag)
        if w.slips("unit"):
            self._price_each(w, left)
            return
        w.step(
            rf"With {self.bag} in a bag, this makes ${left} \div {self.bag} = {tex(bags)}$ bags.",
            rf"Each bag takes {self.bag} {self.goods}, so {self.name} fills ${frac(left, self.bag)} = "
            rf"{tex(bags)}$ bags.",
        )
        bags = w.recall("bags_again", bags, "the number of bags")
        self._sell(w, bags)

    def _left(self, w: Writer, total: Num) -> Num:
        if w.slips("lost"):
            usable = total - total % self.bag
            w.step(
                f"All {total} {self.goods} can now be packed; {usable} of them fill whole bags.",
                f"Next, the {total} {self.goods} are packed for sale. The largest number that fills whole "
                f"bags is {usable}.",
                at="lost",
            )
            return usable
        if w.slips("cancel") and not w.plan.recovers:
            left: Num = self.total - self.lost
            w.step(
                rf"Taking away the {self.lost} lost ones leaves ${total} - {self.lost} = {left}$ "
                rf"{self.goods}."
            )
            return left
        left = total - self.lost
        return w.compute(
            "left",
            left,
            f"{total} - {self.lost}",
            f"Of these, {self.lost} can't be sold, which leaves $@ = §$ {self.goods}.",
            f"Removing the {self.lost} that {self.fault}: $@ = §$.",
            f"We subtract the {self.lost} that were lost, so {self.name} can sell $@ = §$ {self.goods}.",
            wrong=tuple(left + self.bag * k for k in (-2, -1, 1, 2)),
        )

    def _price_each(self, w: Writer, left: Num) -> None:
        money = left * self.price
        w.step(
            rf"Each of the ${left}$ {self.goods} brings {self.price} euros, so the income is "
            rf"${left} \times {self.price} = {money}$ euros.",
            at="unit",
        )
        w.neutral(f"That is a good day at the market for {self.name}.")
        w.finish(money, f"{self.name} takes in $§$ euros.")

    def _sell(self, w: Writer, bags: Num) -> None:
        money = w.compute(
            "money",
            bags * self.price,
            rf"{tex(bags)} \times {self.price}",
            f"At {self.price} euros a bag the income is $@ = §$ euros.",
            f"Every bag sells for {self.price} euros, giving \\[@ = §.\\]",
            "Now multiply by the price per bag: $@ = §$.",
        )
        w.finish(money, f"{self.name} takes in $§$ euros.", f"So in total {self.name} earns $§$ euros.")

    @route(top=ErrorKind.CALCULATION, order=ErrorKind.FORMULA, worth=ErrorKind.CALCULATION)
    def one_formula(self, w: Writer) -> None:
        t, k, b, g, p = self.trays, self.tray, self.lost, self.bag, self.price
        bags = frac(rf"{t} \cdot {k} - {b}", g)
        w.open(f"the total that {self.name} earns from the bags")
        w.step(
            rf"We can write the income as a single expression: \[\text{{income}} = {bags} \cdot {p}.\]",
            rf"Put together, the number of bags is ${bags}$, and each bag is worth {p} euros.",
        )
        if w.slips("order"):
            wrong = self.total - Fraction(b, g)
            w.step(
                rf"Dividing by {g} gives ${t} \cdot {k} - {frac(b, g)} = {self.total} - {frac(b, g)}$, "
                rf"that is, ${tex(wrong)}$ bags.",
                at="order",
            )
            w.step(rf"Multiplying by the price: ${tex(wrong)} \cdot {p} = {tex(wrong * p)}$.")
            w.finish(wrong * p)
            return
        top = w.compute(
            "top",
            self.total - b,
            rf"{t} \cdot {k} - {b}",
            "Evaluate the numerator first: $@ = §$.",
            f"The top of the fraction is $@ = §$; this is the number of {self.goods} that can be sold.",
            wrong=tuple(self.total - b + g * j for j in (-2, -1, 1, 2)),
        )
        w.step(rf"Then ${frac(top, g)} = {top // g}$, so there are ${top // g}$ full bags.")
        money = w.compute(
            "worth",
            top // g * p,
            rf"{top // g} \cdot {p}",
            "Finally, $@ = §$ euros.",
            "The income is therefore $@ = §$.",
        )
        w.finish(money, f"{self.name} takes in $§$ euros.")


class Discount(Problem):
    """A discount and then a tax, both in percent."""

    subject = "arithmetic"

    def __init__(self, rng: Random) -> None:
        self.thing = rng.choice(
            ("bicycle", "sofa", "camera", "violin", "kayak", "winter coat", "desk", "telescope")
        )
        self.price = 200 * rng.randrange(1, 16)
        self.off, self.tax = rng.choice((10, 15, 20, 25, 30, 35, 40)), rng.choice((5, 6, 8, 10, 12, 20))
        self.text = (
            f"A {self.thing} is priced at {self.price} euros. The shop takes {self.off}% off, and then a "
            "sales tax of "
            f"{self.tax}% is added to the reduced price. How many euros does the customer pay?"
        )
        self.reduced = Fraction(self.price * (100 - self.off), 100)
        paid = self.reduced * (100 + self.tax) / 100
        self.answer = decimal(paid)
        self.reference = (
            rf"${self.price} \cdot {decimal(Fraction(100 - self.off, 100))} \cdot "
            rf"{decimal(Fraction(100 + self.tax, 100))} = {self.answer}$ euros."
        )

    @route(
        cut=ErrorKind.CALCULATION,
        reduced=ErrorKind.CALCULATION,
        tax=ErrorKind.CALCULATION,
        base=ErrorKind.MISREAD,
        reduced_again=ErrorKind.CONTRADICTION,
        cancel=ErrorKind.CALCULATION,
    )
    def in_steps(self, w: Writer) -> None:
        w.open(f"the final price of the {self.thing}")
        right = self.price - self.reduced
        cut = w.compute(
            "cancel" if w.slips("cancel") else "cut",
            right,
            rf"{decimal(Fraction(self.off, 100))} \times {self.price}",
            "The discount is $@ = §$ euros.",
            f"{self.off}% of the price is $@ = §$.",
            "First find how much is taken off: \\[@ = §.\\]",
            show=decimal,
        )
        value = self.reduced if w.slips("cancel") else self.price - cut
        reduced = w.compute(
            "reduced",
            value,
            f"{self.price} - {decimal(cut)}",
            f"The {self.thing} now costs $@ = §$ euros.",
            "Subtracting this from the original price, we get $@ = §$ euros.",
            show=decimal,
        )
        reduced = w.recall("reduced_again", reduced, "the reduced price, in euros,")
        base: Num = self.price if w.slips("base") else reduced
        rate = decimal(Fraction(self.tax, 100))
        tax = (
            w.compute(
                "tax",
                base * self.tax / Fraction(100),
                rf"{rate} \times {decimal(base)}",
                f"The tax of {self.tax}% amounts to $@ = §$ euros.",
                "Next, the sales tax is $@ = §$ euros.",
                show=decimal,
            )
            if base == reduced
            else self._tax_on_full(w, rate)
        )
        total = reduced + tax
        w.step(
            rf"Altogether the customer pays ${decimal(reduced)} + {decimal(tax)} = {decimal(total)}$ euros."
        )
        w.finish(decimal(total), "The customer pays $§$ euros.")

    def _tax_on_full(self, w: Writer, rate: str) -> Num:
        tax = Fraction(self.price * self.tax, 100)
        w.step(
            rf"The tax is charged on the price of {self.price} euros: ${rate} \times {self.price} = "
            rf"{decimal(tax)}$ euros.",
            at="base",
        )
        return tax

    @route(
        added=ErrorKind.FORMULA,
        first=ErrorKind.CALCULATION,
        second=ErrorKind.CALCULATION,
        factor=ErrorKind.NOTATION,
    )
    def by_factors(self, w: Writer) -> None:
        w.open(f"what the {self.thing} costs after discount and tax")
        keep, grow = Fraction(100 - self.off, 100), Fraction(100 + self.tax, 100)
        if w.slips("added"):
            net = self.tax - self.off
            final = Fraction(self.price * (100 + net), 100)
            w.step(
                f"A discount of {self.off}% and a tax of {self.tax}% combine to a change of "
                rf"${self.tax}\% - {self.off}\% = {net}\%$ on the original price.",
                at="added",
            )
            w.step(
                rf"So the customer pays ${decimal(Fraction(100 + net, 100))} \times {self.price} = "
                rf"{decimal(final)}$ euros."
            )
            w.finish(decimal(final))
            return
        w.step(
            rf"Taking {self.off}% off means multiplying by ${decimal(keep)}$.",
            rf"After the discount, $100\% - {self.off}\% = {100 - self.off}\%$ of the price remains, a "
            rf"factor of ${decimal(keep)}$.",
        )
        if w.slips("factor"):
            grow = 1 + Fraction(self.tax, 1000) if self.tax >= 10 else 1 + Fraction(self.tax, 10)
        w.step(
            rf"Adding {self.tax}% tax means multiplying by ${decimal(grow)}$.",
            rf"The tax of {self.tax}% corresponds to a factor of ${decimal(grow)}$.",
            at="factor",
        )
        first = w.compute(
            "first",
            self.price * keep,
            rf"{self.price} \cdot {decimal(keep)}",
            "So the reduced price is $@ = §$.",
            "We get $@ = §$.",
            show=decimal,
        )
        paid = w.compute(
            "second",
            first * grow,
            rf"{decimal(first)} \cdot {decimal(grow)}",
            "And with tax $@ = §$ euros.",
            "Then \\[@ = §.\\]",
            show=decimal,
        )
        w.finish(decimal(paid), f"The {self.thing} costs the customer $§$ euros.")


FAMILIES = (
    Bakery,
    Discount,
)
