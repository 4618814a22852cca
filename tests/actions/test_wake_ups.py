"""Many jobs at once wake a few workers, not one for each job."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from annotator.actions import imports, scoring
from annotator.actions.access import operator
from annotator.models import Job
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("solutions", "wake_ups"), [(1, 1), (2, 2), (12, 3)])
def test_a_large_request_sends_no_message_for_each_job(
    solutions: int, wake_ups: int, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(scoring, "JOB_SIZE", 1)
    monkeypatch.setattr(scoring, "WAKE_UPS", 3)
    project = make.project()
    for _ in range(solutions):
        make.solution(project)
    with django_capture_on_commit_callbacks() as messages:
        scoring.request(actor=operator(project))

    assert Job.objects.filter(queue=scoring.QUEUE).count() == solutions
    assert len(messages) == wake_ups + 1  # the one more is for the new order of the queue


def test_each_later_chunk_of_an_import_wakes_one_worker_more(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    monkeypatch.setattr(scoring, "JOB_SIZE", 1)
    monkeypatch.setattr(scoring, "WAKE_UPS", 3)
    monkeypatch.setattr(imports, "CHUNK", 4)
    project = make.project()
    rows = [{"problem": {"text": f"{number}?"}, "steps": ["It is."]} for number in range(12)]
    file = io.BytesIO(b"".join(json.dumps(row).encode() + b"\n" for row in rows))
    with django_capture_on_commit_callbacks() as messages:
        imports.run(actor=operator(project), source=imports.Source(file, "rows.jsonl"))

    assert Job.objects.filter(queue=scoring.QUEUE).count() == 12
    assert len(messages) == 3 + 1 + 1
