"""Units of measure that a step may convert: `2 hours = 120 minutes`. No currencies, and no single letters: whoever
reads algebra takes those for variables."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple


class Unit(NamedTuple):
    """How many of its dimension's base unit (m, kg, s, l, byte, piece) it is."""

    dimension: str
    size: float


def _table() -> dict[str, Unit]:
    names: dict[str, tuple[str, float]] = {
        "km kilometer kilometers kilometre kilometres": ("length", 1000.0),
        "meter meters metre metres": ("length", 1.0),
        "cm centimeter centimeters centimetre centimetres": ("length", 0.01),
        "mm millimeter millimeters millimetre millimetres": ("length", 0.001),
        "inch inches": ("length", 0.0254),
        "ft foot feet": ("length", 0.3048),
        "yd yard yards": ("length", 0.9144),
        "mile miles": ("length", 1609.344),
        "kg kilogram kilograms kilo kilos": ("mass", 1.0),
        "gram grams": ("mass", 0.001),
        "mg milligram milligrams": ("mass", 1e-6),
        "lb lbs pound pounds": ("mass", 0.45359237),
        "oz ounce ounces": ("mass", 0.45359237 / 16),
        "sec secs second seconds": ("time", 1.0),
        "min mins minute minutes": ("time", 60.0),
        "hr hrs hour hours": ("time", 3600.0),
        "day days": ("time", 86_400.0),
        "week weeks": ("time", 604_800.0),
        "liter liters litre litres": ("volume", 1.0),
        "ml milliliter milliliters millilitre millilitres": ("volume", 0.001),
        "dozen dozens": ("count", 12.0),
    }
    return {name: Unit(*unit) for many, unit in names.items() for name in many.split()}


UNITS: Mapping[str, Unit] = _table()
#: Ounces and pounds also are volumes and money, so only these of mass are compared with other units.
_ALONE = frozenset({"pound", "pounds", "oz", "ounce", "ounces"})


def conversion(left: Collection[str], right: Collection[str]) -> float | None:
    """By what the left number is multiplied to be in the right one's unit; None unless each side has one known unit
    and both measure the same.

    >>> conversion({"hours"}, {"minutes"}), conversion({"km"}, {"hours"}), conversion({"apples"}, {"dollars"})
    (60.0, None, None)
    """
    if len(left) != 1 or len(right) != 1:
        return None
    (one,), (other,) = left, right
    first, second = UNITS.get(one), UNITS.get(other)
    if first is None or second is None or first.dimension != second.dimension:
        return None
    if {one, other} & _ALONE and not {one, other} <= _ALONE | {"lb", "lbs"}:
        return None
    return first.size / second.size


def differ_in_size(units: Collection[str]) -> bool:
    """Whether some of these measure the same by different sizes, so that their numbers can't be added as they are.

    >>> differ_in_size({"hour", "minutes"}), differ_in_size({"hour", "hours", "km"})
    (True, False)
    """
    known = {UNITS[name] for name in units if name in UNITS}
    return len(known) > len({unit.dimension for unit in known})
