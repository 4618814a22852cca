"""Whatever somebody calls a thing, pages show it as text."""

from __future__ import annotations

import pytest

from annotator.actions import pictures, questions, queueing
from annotator.models import (
    ExportRecipe,
    ExportRun,
    ImportBatch,
    Problem,
    Project,
    Role,
    ScoreFailure,
    Scorer,
    ScorerVersion,
    Solution,
    Webhook,
    WebhookDelivery,
)
from tests import factories as make
from tests.core.test_pictures import drawn
from tests.web.conftest import browser

pytestmark = pytest.mark.django_db
EVIL = "</script><img src=x onerror=alert(1)>"
PAGES = (
    "", "p/maths/label/", "p/maths/queue/", "p/maths/imports/", "p/maths/exports/", "p/maths/scorers/",
    "p/maths/scorers/sources/", "p/maths/scorers/training/", "p/maths/scorers/evaluation/?against=reference",
    "p/maths/segmentation/", "p/maths/webhooks/", "p/maths/pictures/", "p/maths/questions/", "p/maths/quality/",
    "p/maths/members/", "p/maths/progress/", "p/maths/gold/", "p/maths/audit/", "p/maths/settings/",
    "p/maths/mine/", "p/maths/adjudicate/",
)  # fmt: skip


def test_no_name_text_or_error_becomes_a_part_of_a_page() -> None:
    project = make.project(slug="maths", name=EVIL)
    manager = make.member(project, Role.MANAGER, user=make.user(f"m{EVIL}"), pseudonym=EVIL, skills=[EVIL])
    actor = make.as_actor(manager)
    for _ in range(2):
        make.work(project, texts=[EVIL, "Then."])
    make.gold(project)
    kept = pictures.keep(actor=actor, data=drawn())
    Problem.objects.update(
        text=EVIL, domain=EVIL, subject=EVIL, external_id=EVIL, images=[{"sha256": kept.sha256, "alt": EVIL}]
    )
    Solution.objects.update(external_id=EVIL, generator={"model": EVIL})
    ImportBatch.objects.update(filename=EVIL, imported=1, member=manager)
    work = queueing.next_assignment(actor=actor)
    questions.ask(actor=actor, assignment_id=work.pk, text=EVIL, step=0)
    _by_machines(project)

    client = browser(manager.user)
    pages = {page: client.get(f"/{page}").content.decode() for page in PAGES}
    assert [page for page, text in pages.items() if "<img src=x" in text or EVIL in text] == []
    assert sum("alert(1)" in text for text in pages.values()) > 15


def _by_machines(project: Project) -> None:
    """What scorers, servers and workers said."""
    Scorer.objects.update(name=EVIL, circuit={"state": "refused", "error": EVIL})
    version = ScorerVersion.objects.create(
        scorer=project.scorers.get(), version=EVIL, threshold=0.5, status="live"
    )
    solution = Solution.objects.order_by("pk")[0]
    ScoreFailure.objects.create(solution=solution, version=version, message=EVIL)
    ExportRecipe.objects.create(project=project, name=EVIL, options={})
    ExportRun.objects.create(project=project, format="trl", state="failed", error=EVIL)
    hook = Webhook.objects.create(project=project, url=f"https://x/{EVIL}", events=["member:paused"])
    WebhookDelivery.objects.create(webhook=hook, event="ping", state="failed", status=500, error=EVIL)
