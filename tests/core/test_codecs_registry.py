"""All formats together: each one's sample, and telling them apart."""

from __future__ import annotations

import io

import orjson
import pytest

from annotator.core.codecs import CODECS, UnknownFormat, codec_named
from annotator.core.codecs.base import Codec, ExportRow, ReadOptions
from annotator.core.codecs.detect import FormatNotDetected, detect
from annotator.core.codecs.policies import Policies
from annotator.core.codecs.rows import first_objects

every_codec = pytest.mark.parametrize("codec", CODECS.values(), ids=list(CODECS))


@every_codec
def test_the_sample_is_written_back_exactly(codec: Codec) -> None:
    records = codec.read(codec.sample, ReadOptions())

    written = [value for record in records for value in codec.write(ExportRow(record), Policies()).objects]

    assert [orjson.dumps(value) for value in written] == [orjson.dumps(codec.sample)]


@every_codec
def test_the_sample_is_recognised_by_its_fields(codec: Codec) -> None:
    found = detect([codec.sample, codec.sample])

    assert found.codec.name == codec.name
    assert found.reason == f"2 of the first 2 rows have the fields of {codec.name}: {codec.told_by}"


@every_codec
def test_a_codec_is_listed_under_its_name(codec: Codec) -> None:
    assert codec_named(codec.name) is codec


def test_an_unknown_format_is_named_with_the_known_ones() -> None:
    with pytest.raises(UnknownFormat, match=r"'csv'.*native, prm800k, math_shepherd"):
        codec_named("csv")


def test_a_few_broken_rows_do_not_hide_the_format() -> None:
    sample = CODECS["trl"].sample

    assert detect([sample, {"prompt": "p"}, sample]).codec.name == "trl"


def test_a_row_with_broken_values_still_shows_its_format() -> None:
    assert detect([{**CODECS["processbench"].sample, "steps": "one text"}]).codec.name == "processbench"


def test_where_nothing_fits_the_fields_and_the_known_formats_are_listed() -> None:
    with pytest.raises(
        FormatNotDetected, match=r"fields are: question, text; the known formats are: native, "
    ):
        detect([{"text": "a", "question": "b"}])


def test_where_two_fit_both_are_named() -> None:
    both = {**CODECS["trl"].sample, **CODECS["processbench"].sample}

    with pytest.raises(FormatNotDetected, match="more than one format fits: processbench, trl") as caught:
        detect([both])
    assert caught.value.fitting == ("processbench", "trl")


def test_a_file_without_objects_can_not_be_told() -> None:
    with pytest.raises(FormatNotDetected, match="expected JSONL, one object a line"):
        detect([])


def test_first_objects_pass_over_broken_lines() -> None:
    assert first_objects(io.BytesIO(b'{\n\n{"a": 1}\n[]\n{"a": 2}\n{"a": 3}'), count=2) == [
        {"a": 1},
        {"a": 2},
    ]
