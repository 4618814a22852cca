"""Broken rows of every kind: each is read or refused with a reason, and what is read is sound."""

from __future__ import annotations

import io
import random
from copy import deepcopy

import orjson
import pytest

from annotator.core.codecs import CODECS
from annotator.core.codecs.base import Codec, ExportRow, ImportRow, LeftOut, ReadOptions, RowError
from annotator.core.codecs.detect import FormatNotDetected, detect
from annotator.core.codecs.policies import NeutralPolicy, Policies
from annotator.core.codecs.rows import read_rows
from annotator.core.labels import check_shape
from annotator.core.solutions import judged_mask
from tests.mutations import mutate, mutated

LINES = 2_500


@pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))
def test_mutated_rows_are_read_or_refused_with_a_reason(codec: Codec) -> None:
    chance = random.Random(codec.name)
    lines = [mutated(codec.sample, chance) for _ in range(LINES)]

    entries = list(read_rows(io.BytesIO(b"\n".join(lines)), codec))

    errors = [entry for entry in entries if isinstance(entry, RowError)]
    assert all(error.message for error in errors)
    good = [entry for entry in entries if isinstance(entry, ImportRow)]
    assert len(good) > LINES / 50
    assert len(errors) > LINES / 20
    for entry in good:
        _check_sound(codec, entry)


def _check_sound(codec: Codec, entry: ImportRow) -> None:
    record = entry.record
    record.content_hash()
    assert record.problem.text.strip()
    assert record.steps
    assert all(step.text.strip() for step in record.steps)
    if record.labels is not None:
        check_shape(record.labels, judged_mask(record.steps))
    native = CODECS["native"]
    (row,) = native.write(ExportRow(record), Policies()).objects
    (again,) = native.read(orjson.loads(orjson.dumps(row)), ReadOptions())
    assert (again.steps, again.labels, again.problem) == (record.steps, record.labels, record.problem)
    try:
        written = codec.write(ExportRow(record), Policies(neutral=NeutralPolicy.DROP))
    except LeftOut:
        return
    for value in written.objects:
        orjson.dumps(value)


def test_most_rows_show_their_format_though_something_in_them_is_broken() -> None:
    chance = random.Random(8)
    told = 0
    for codec in CODECS.values():
        for _ in range(100):
            row = deepcopy(codec.sample)
            mutate(row, chance)
            try:
                told += detect([row]).codec is codec
            except FormatNotDetected:
                continue
    assert told > 1_000
