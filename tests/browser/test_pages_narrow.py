"""On a telephone no page goes sideways, however wide a formula or long a name: what is wide scrolls in its own box."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from annotator.actions import queueing, uploads
from annotator.models import (
    ExportRun,
    ImportBatch,
    Problem,
    Project,
    Role,
    ScoreFailure,
    ScorerVersion,
    Solution,
)
from tests import factories as make
from tests.files import jsonl, native

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
Open = Callable[..., Page]
WIDE = "$$" + " + ".join(f"a_{{{n}}}" for n in range(60)) + "$$"
LONG = "a-name-that-goes-on-and-on-" * 8
PAGES = (
    "queue/", "imports/", "exports/", "scorers/", "scorers/sources/", "scorers/training/", "scorers/evaluation/",
    "segmentation/", "pictures/", "webhooks/",
)  # fmt: skip


def test_no_page_of_a_project_goes_sideways(
    open_as: Open, project: Project, settings: Any, tmp_path: Path
) -> None:
    settings.STEPMARK_UPLOADS = tmp_path
    manager = make.member(project, Role.MANAGER)
    for _ in range(2):
        solution = make.work(project, texts=[WIDE, f"So {LONG} it is. And it was."]).solution
    queueing.next_assignment(actor=make.as_actor(manager))
    Problem.objects.update(text=WIDE, domain=LONG[:100], external_id=LONG)
    Solution.objects.update(external_id=LONG)
    ImportBatch.objects.update(filename=LONG, imported=1)
    version = ScorerVersion.objects.create(
        scorer=project.scorers.get(), version="v1", threshold=0.5, status="live"
    )
    ScoreFailure.objects.create(solution=solution, version=version, message=LONG)
    ExportRun.objects.create(project=project, format="trl", state="failed", error=LONG)

    page = open_as(manager, "/p/maths/label/")
    page.set_viewport_size({"width": 390, "height": 800})
    over = {}
    row = native() | {"problem": {"text": WIDE}, "steps": [WIDE, LONG]}
    looked_at = uploads.keep(actor=make.as_actor(manager), blocks=[jsonl(row).getvalue()], filename=LONG)
    for path in ("label/", f"segmentation/{solution.pk}", f"imports/{looked_at.key}/", *PAGES):
        page.goto(f"{page.url.split('/p/')[0]}/p/maths/{path}")
        if page.locator("[data-prose]").count():
            page.locator(".katex").first.wait_for(state="attached")
        if (by := page.evaluate("document.documentElement.scrollWidth - innerWidth")) > 0:
            over[path] = by
    assert over == {}
