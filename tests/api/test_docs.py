"""The client in docs/api.md does what it says, against a running server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from annotator import jobs, tasks
from annotator.actions import tokens
from annotator.models import Annotation, Role
from tests import factories as make
from tests.files import jsonl, native

PAGE = Path(__file__).parents[2] / "docs" / "api.md"


def clients() -> dict[str, Any]:
    """What the page's code defines."""
    (code,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found: dict[str, Any] = {}
    exec(compile(code, str(PAGE), "exec"), found)
    return found


@pytest.mark.django_db(transaction=True)
def test_the_client_in_the_documentation_labels_everything(live_server: Any) -> None:
    project = make.project(slug="maths")
    for _ in range(3):
        make.work(project)
    token = tokens.make(user_id=make.member(project).user_id, name="docs", scopes=["label"]).secret

    done = clients()["label_all"](live_server.url, token, "maths", lambda problem, steps: [1] * len(steps))

    assert done == 3
    assert Annotation.objects.filter(counted=True, labels=[1, 1, 1]).count() == 3


@pytest.mark.django_db(transaction=True)
def test_the_client_in_the_documentation_imports_a_file(
    live_server: Any, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.STEPMARK_UPLOADS = tmp_path
    project = make.project(slug="maths")
    token = tokens.make(user_id=make.member(project, Role.MANAGER).user_id, name="docs", scopes=["import"])
    found = clients()

    def work(_: float) -> None:
        while (job := jobs.claim("default")) is not None:
            tasks.run(job)

    monkeypatch.setattr(found["time"], "sleep", work)  # a worker's turn
    data = jsonl(native(0), native(1), b"{").getvalue()

    state = found["import_file"](live_server.url, token.secret, "maths", "rows.jsonl", data)

    assert (state["state"], state["imported"], state["rejected"]) == ("done", 2, 1)
    assert found["import_file"](live_server.url, token.secret, "maths", "rows.jsonl", data) == state
