"""The client in docs/api.md does what it says, against a running server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from annotator.actions import tokens
from annotator.models import Annotation
from tests import factories as make

PAGE = Path(__file__).parents[2] / "docs" / "api.md"


@pytest.mark.django_db(transaction=True)
def test_the_client_in_the_documentation_labels_everything(live_server: Any) -> None:
    project = make.project(slug="maths")
    for _ in range(3):
        make.work(project)
    token = tokens.make(user_id=make.member(project).user_id, name="docs", scopes=["label"]).secret
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    client: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), client)

    done = client["label_all"](live_server.url, token, "maths", lambda problem, steps: [1] * len(steps))

    assert done == 3
    assert Annotation.objects.filter(counted=True, labels=[1, 1, 1]).count() == 3
