"""The steps of native rows: the usual ones are read fast, and come to the same as by the long way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.core.codecs.base import CAPS, InvalidRow, ReadOptions
from annotator.core.codecs.fields import Fields
from annotator.core.codecs.native_steps import checked_steps, read_steps
from annotator.core.solutions import (
    KINDS,
    ProblemText,
    StoredSteps,
    judged_mask,
    steps_hash,
    steps_json,
    stored_json,
)

_ODD = st.sampled_from([None, True, False, 0, 1, 2.5, "", " ", "x", "tool", "code", [], ["x"], {}, {"x": 1}])
_GOOD = {
    "text": st.sampled_from(["a", "b c", " d", "\u00e9"]),
    "kind": st.sampled_from(sorted(KINDS)),
    "judged": st.booleans(),
    "sep": st.sampled_from(["", "\n\n"]),
    "alternatives": st.sampled_from([[], ["x"]]),
}
_ENTRY = st.one_of(
    st.fixed_dictionaries({name: _GOOD[name] for name in ("text", "kind", "judged", "sep")}),
    st.fixed_dictionaries({"text": _GOOD["text"]}, optional={n: s for n, s in _GOOD.items() if n != "text"}),
    st.fixed_dictionaries({}, optional=dict.fromkeys([*_GOOD, "more"], _ODD)),
    st.fixed_dictionaries({"text": _GOOD["text"]}, optional=dict.fromkeys(["kind", "judged", "sep"], _ODD)),
    _ODD,
)


def _outcome(reading: Callable[[], Any]) -> Any:
    try:
        return reading()
    except InvalidRow as error:
        return str(error)


@given(st.lists(_ENTRY, min_size=1, max_size=3))
def test_steps_that_are_kept_as_they_came_are_those_that_are_looked_at_one_by_one(entries: list[Any]) -> None:
    quickly = _outcome(lambda: read_steps(Fields({"steps": entries}), ReadOptions()))
    slowly = _outcome(lambda: checked_steps(entries, CAPS))
    assert quickly == slowly
    if not isinstance(slowly, str):
        problem = ProblemText("p")
        for said in (judged_mask, steps_json, stored_json, lambda steps: steps_hash(problem, steps)):
            assert said(quickly[0]) == said(slowly[0])


@pytest.mark.parametrize(
    "step",
    [
        {"text": "a", "kind": "code", "judged": True, "sep": ""},
        {"text": "a"},
        {"text": "a", "kind": "tool", "judged": False, "sep": "", "alternatives": []},
    ],
)
def test_a_usual_step_is_not_made_anew(step: dict[str, Any]) -> None:
    steps, _ = read_steps(Fields({"steps": [step]}), ReadOptions())
    assert isinstance(steps, StoredSteps)
