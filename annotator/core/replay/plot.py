"""Curves with bands as an SVG file, so that a picture needs no plotting library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from annotator.core.replay.curves import Band
from annotator.core.replay.orders import Order
from annotator.core.replay.report import Simulated
from annotator.core.replay.text import TITLES

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 460, 300, 46, 44, 24, 40
COLUMNS = 2
#: Colour and dashes: the strategy, random, oracle. They also differ by dashes, for print and for the colour-blind.
_LOOKS = {Order.RANDOM: ("#767676", "6 4"), Order.ORACLE: ("#9a6700", "2 3")}
_STRATEGY = ("#0b5cad", "none")


def svg(one: Simulated) -> str:
    """All curves of a simulation, a panel each."""
    panels = [(TITLES["found"], one.found)]
    panels += [(TITLES[curve.name], curve.bands) for curve in (*one.whole_set, *one.retrained)]
    rows = -(-len(panels) // COLUMNS)
    drawn = [
        f'<g transform="translate({WIDTH * (place % COLUMNS)},{HEIGHT * (place // COLUMNS)})">'
        f"{_panel(title, bands, one)}</g>"
        for place, (title, bands) in enumerate(panels)
    ]
    size = f'width="{WIDTH * COLUMNS}" height="{HEIGHT * rows}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(drawn)}</svg>\n'
    )


def _panel(title: str, bands: Mapping[Order, Band], one: Simulated) -> str:
    low = min(min(band.low) for band in bands.values())
    high = max(max(band.high) for band in bands.values())
    scale = _Scale(one.budgets, low, high if high > low else low + 1.0)
    lines = [_text(LEFT, 16, _shortened(title), weight="bold"), _axes(scale, one.unit)]
    for order, band in bands.items():
        lines.append(_curve(order, band, scale))
    lines.append(_legend(list(bands)))
    return "".join(lines)


class _Scale:
    """Budgets and qualities to places in a panel."""

    def __init__(self, budgets: Sequence[float], low: float, high: float) -> None:
        self.budgets, self.low, self.high = budgets, low, high

    def x(self, budget: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * budget / self.budgets[-1]

    def y(self, value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (value - self.low) / (self.high - self.low)

    def points(self, values: Sequence[float]) -> list[str]:
        pairs = zip(self.budgets, values, strict=True)
        return [f"{self.x(budget):.1f},{self.y(value):.1f}" for budget, value in pairs]


def _curve(order: Order, band: Band, scale: _Scale) -> str:
    colour, dashes = _LOOKS.get(order, _STRATEGY)
    around = " ".join([*scale.points(band.high), *reversed(scale.points(band.low))])
    line = " ".join(scale.points(band.mean))
    return (
        f'<polygon points="{around}" fill="{colour}" fill-opacity="0.15"/>'
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"/>'
    )


def _axes(scale: _Scale, unit: str) -> str:
    parts = []
    for tick in range(5):
        value = scale.low + (scale.high - scale.low) * tick / 4
        y = scale.y(value)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#e2e2e2"/>')
        parts.append(_text(LEFT - 6, y + 4, f"{100 * value:.0f} %", anchor="end"))
    for tick in range(6):
        budget = scale.budgets[-1] * tick / 5
        parts.append(_text(scale.x(budget), HEIGHT - BOTTOM + 16, f"{100 * budget:.0f} %", anchor="middle"))
    parts.append(_text(WIDTH / 2, HEIGHT - 6, f"share of the budget, in {unit}", anchor="middle"))
    return "".join(parts)


def _legend(orders: Sequence[Order]) -> str:
    parts = []
    for place, order in enumerate(orders):
        colour, dashes = _LOOKS.get(order, _STRATEGY)
        x = LEFT + place * 110
        parts.append(
            f'<line x1="{x}" x2="{x + 24}" y1="30" y2="30" stroke="{colour}" stroke-width="2" '
            f'stroke-dasharray="{dashes}"/>{_text(x + 30, 34, order.value)}'
        )
    return "".join(parts)


def _text(x: float, y: float, said: str, anchor: str = "start", weight: str = "normal") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-weight="{weight}">{escape(said)}</text>'
    )


def _shortened(title: str) -> str:
    """A title that fits above a panel: what follows a colon or a comma is left to the tables."""
    return title if len(title) < 62 else title.split(":")[0].split(",")[0]
