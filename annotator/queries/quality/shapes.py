"""What a quality report holds, as frozen dataclasses that become JSON and come back from it."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import orjson

from annotator.core.agreement import StopAgreement
from annotator.core.intervals import Figure


@dataclass(frozen=True)
class Sample:
    """What the headline stands on: solutions of the audit prefix and of the holdout, and those with two labels."""

    prefix: int
    holdout: int
    pool: int
    paired: int
    annotations: int


@dataclass(frozen=True)
class Row:
    """One group and its exact agreement on the stop (or, by depth, agreement on the step)."""

    name: str
    figure: Figure


@dataclass(frozen=True)
class Depth:
    """Agreement on one step, over people who both reached it, with neutral counted either way."""

    name: str
    neutral_correct: Figure
    neutral_incorrect: Figure


@dataclass(frozen=True)
class Steps:
    """Over steps that both reached: percent and Krippendorff's alpha, with neutral counted either way."""

    neutral_correct: Figure
    neutral_incorrect: Figure
    alpha_neutral_correct: Figure
    alpha_neutral_incorrect: Figure
    by_depth: list[Depth]


@dataclass(frozen=True)
class Groups:
    """Exact agreement on the stop by what the solutions are, and over time."""

    domain: list[Row]
    subject: list[Row]
    generator: list[Row]
    month: list[Row]


@dataclass(frozen=True)
class Finish:
    """Agreement on why people stopped judging."""

    exact: Figure
    ac1: Figure


@dataclass(frozen=True)
class AgainstGold:
    """Hidden gold: each annotation beside gold, and people among themselves on the same solutions."""

    gold: StopAgreement
    people: StopAgreement


@dataclass(frozen=True)
class Truth:
    """Share of erroneous solutions by the audit prefix and by the queue's plain mean; share of wrong labels."""

    audit_mean: Figure
    naive_mean: Figure
    noise_reannotation: Figure
    noise_adjudication: Figure


@dataclass(frozen=True)
class Person:
    """One member's work and checks. ``rolling`` is the accuracy over the last 30 checks after each of the last ones,
    ``cusum`` the statistic after each; ``pace`` the usual time as a factor; ``effect`` against the rest, shrunken."""

    member_id: int
    pseudonym: str
    role: str
    state: str
    state_reason: str
    standing: str
    n: int
    hours: float
    checks: int
    sensitivity: Figure
    false_alarms: Figure
    items: Figure
    recent: Figure
    rolling: list[float]
    cusum: list[float]
    statistic: float
    only_correct: bool
    pace: float | None
    too_fast: int
    consistency: Figure
    effect: float | None
    effect_low: float | None
    effect_high: float | None
    effect_n: int
    quarantined: int


@dataclass(frozen=True)
class Heat:
    """Pairs of people, by row and column in ``names``: solutions in common and kappa on "has an error"."""

    names: list[str]
    n: list[list[int]]
    kappa: list[list[float | None]]


@dataclass(frozen=True)
class SuspectItem:
    """A gold solution that most good people fail."""

    solution_id: int
    external_id: str
    right: int
    of: int


@dataclass(frozen=True)
class GoldHealth:
    """The stock of gold. ``least_unseen`` hidden items are left for the active person who has had the most;
    ``days_left`` at the present pace until that person has had all (None: no pace yet)."""

    hidden: int
    exam: int
    practice: int
    retired: int
    with_error: Figure
    members: int
    least_unseen: int | None
    mean_unseen: float | None
    days_left: float | None
    suspects: list[SuspectItem]


@dataclass(frozen=True)
class Report:
    """The whole quality report of a project. ``confusion``: gold was row, the person said column; -1, 0, +1."""

    mode: str
    sample: Sample
    stop: StopAgreement
    steps: Steps
    finish: Finish
    groups: Groups
    gold: AgainstGold
    truth: Truth
    people: list[Person]
    heat: Heat
    confusion: list[list[int]]
    gold_health: GoldHealth
    threshold: float


def to_json(report: Report) -> dict[str, Any]:
    """Plain data for a JSON column."""
    plain: dict[str, Any] = orjson.loads(orjson.dumps(report, option=orjson.OPT_SERIALIZE_NUMPY))
    return plain


def from_json(data: Mapping[str, Any]) -> Report:
    """A report as `to_json` wrote it. Raises KeyError for one of another shape."""
    report = _restored(Report, data)
    assert isinstance(report, Report)
    return report


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _restored(kind: Any, data: Any) -> Any:
    if get_origin(kind) in (Union, types.UnionType):
        return data  # a number, a word or nothing
    if get_origin(kind) is list:
        (inner,) = get_args(kind)
        return [_restored(inner, each) for each in data] if is_dataclass(inner) else data
    if is_dataclass(kind) and isinstance(kind, type):
        hints = _hints(kind)
        return kind(**{field.name: _restored(hints[field.name], data[field.name]) for field in fields(kind)})
    return data
