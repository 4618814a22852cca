"""An export as a whole: any format, what goes into every object beside it, and who looks on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import orjson

from annotator.core.codecs import CODECS, UnknownFormat
from annotator.core.codecs.base import Codec, ExportRow, LeftOut
from annotator.core.codecs.policies import Policies, PolicyError, check_policies
from annotator.core.codecs.rows import ExportTally
from annotator.core.codecs.step_table import StepTable

Format = Codec | StepTable
TABLE = StepTable()
#: Every format that labels can leave in.
FORMATS: tuple[str, ...] = (*CODECS, TABLE.name)


class Values(StrEnum):
    """HARD: yes and no. WEIGHTED: also a weight for each solution. SOFT: probabilities and a weight (core.soft)."""

    HARD = "hard"
    WEIGHTED = "weighted"
    SOFT = "soft"


class NoSoftLabels(PolicyError):
    """Probabilities were asked of a format that holds none."""

    def __init__(self, format_name: str) -> None:
        able = [name for name in FORMATS if carries_soft(format_named(name))]
        super().__init__(f"{format_name} holds no soft labels; these formats do: {', '.join(able)}")


@dataclass(frozen=True, slots=True)
class Beside:
    """What every object gets beside its format's own fields, where the format has no field for it."""

    weight: bool = False
    split: bool = False


def format_named(name: str) -> Format:
    """The codec, or the table, of that name. Raises UnknownFormat."""
    if name == TABLE.name:
        return TABLE
    if name not in CODECS:
        raise UnknownFormat(name)
    return CODECS[name]


def carries_soft(form: Format) -> bool:
    """Whether the format has a place for probabilities."""
    return bool(getattr(form, "carries_soft", False))


def write_rows(
    rows: Iterable[ExportRow],
    form: Format,
    policies: Policies,
    tally: ExportTally,
    *,
    beside: Beside = Beside(),
    written: Callable[[ExportRow], None] = lambda _row: None,
) -> Iterator[bytes]:
    """The file's lines; the tally grows as they are taken, ``written`` sees each row that is in the file.

    Raises PolicyNotSupported at once, NeutralPolicyNeeded when the first neutral step is met that the format can't say.
    """
    check_policies(form, policies)
    if isinstance(form, StepTable):
        return _table(rows, form, tally, written)
    return _objects(rows, form, policies, tally, beside, written)


def _table(
    rows: Iterable[ExportRow], form: StepTable, tally: ExportTally, written: Callable[[ExportRow], None]
) -> Iterator[bytes]:
    yield form.head()
    for row in rows:
        for line in form.write(row):
            tally.written += 1
            yield line
        written(row)


def _objects(
    rows: Iterable[ExportRow],
    form: Codec,
    policies: Policies,
    tally: ExportTally,
    beside: Beside,
    written: Callable[[ExportRow], None],
) -> Iterator[bytes]:
    adds = beside.weight or beside.split
    for row in rows:
        try:
            found = form.write(row, policies)
        except LeftOut as left_out:
            tally.left_out[left_out.reason] += 1
            continue
        if found.lost:
            tally.lost.update(found.lost)
        for value in found.objects:
            tally.written += 1
            whole = _with(value, row, beside) if adds else value
            yield orjson.dumps(whole, option=orjson.OPT_APPEND_NEWLINE)
        written(row)


def _with(value: dict[str, Any], row: ExportRow, beside: Beside) -> Mapping[str, Any]:
    if beside.weight and row.weight is not None:
        value.setdefault("weight", row.weight)
    if beside.split and row.split is not None:
        value.setdefault("split", row.split)
    return value
