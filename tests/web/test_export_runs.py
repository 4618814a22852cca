"""The history of exports: files, manifests, recipes, and what changed between two."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.test import Client
from django.utils import timezone

from annotator import jobs, tasks
from annotator.models import AuditEvent, ExportRecipe, ExportRun, Project
from annotator.queries.export_filters import LabelsFrom
from tests import factories as make
from tests.actions.leaving import brought, decided, export, said
from tests.web.conftest import People

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/exports/"


@pytest.fixture(autouse=True)
def _folder(settings: Any, tmp_path: Path) -> None:
    settings.STEPMARK_UPLOADS = tmp_path


def body(client: Client, path: str) -> bytes:
    return b"".join(client.get(path).streaming_content)  # type: ignore[attr-defined]


def work() -> None:
    while (job := jobs.claim("default")) is not None:
        tasks.run(job)


def exported(people: People, **choices: str) -> ExportRun:
    people.manager.post(PAGE, {"do": "file", "format": "native", **choices})
    work()
    return ExportRun.objects.latest("pk")


def test_a_download_is_in_the_history_with_what_it_held(people: People, project: Project) -> None:
    said(make.solution(project), 1, -1, None), make.solution(project)
    reply = people.manager.post(PAGE, {"do": "download", "format": "native", "min_people": "1"})
    content = body(people.manager, reply["Location"])
    run = ExportRun.objects.get()
    assert (run.state, run.written, run.size) == ("done", 1, len(content))
    assert run.options == {"format": "native", "labels": "consensus", "include_gold": False, "min_people": 1}
    assert (run.manifest["sha256"], run.member is None) == (run.sha256, False)
    assert people.manager.get(PAGE).context["history"].runs[0].id == run.pk


def test_a_head_leaves_no_export_that_never_ends(people: People, project: Project) -> None:
    assert people.manager.head(f"{PAGE}download?format=native").status_code == 200
    assert not ExportRun.objects.exists()


def test_an_export_that_is_broken_off_says_so(project: Project) -> None:
    for _ in range(3):
        brought(make.solution(project), 1, 1, 1)
    lines: Any = iter(export(project, labels=LabelsFrom.REFERENCE))
    next(lines)
    lines.close()
    run = ExportRun.objects.get()
    assert (run.state, run.error) == ("failed", "It was broken off.")


def test_a_file_that_needs_a_choice_by_now_says_which(people: People, project: Project) -> None:
    people.manager.post(PAGE, {"do": "file", "format": "trl"})
    said(make.solution(project), 1, 0, 1)
    work()
    run = ExportRun.objects.get()
    assert run.state == "failed"
    assert run.error.startswith("trl has no neutral label and there are neutral steps; choose how")


def test_a_worker_makes_the_same_file_as_the_download(people: People, project: Project) -> None:
    said(make.solution(project), 1, -1, None)
    run = exported(people, format="trl")
    assert body(people.manager, f"{PAGE}runs/{run.pk}/file") == body(
        people.manager, f"{PAGE}download?format=trl"
    )
    assert run.state == "done"


def test_a_file_is_for_those_who_may_export_and_for_nobody_elsewhere(
    people: People, project: Project
) -> None:
    path = f"{PAGE}runs/{exported(people).pk}/file"
    assert body(people.manager, path) == b""
    asked = [people.annotator, people.stranger, people.nobody]
    assert [each.get(path).status_code for each in asked] == [403, 404, 302]
    other = path.replace("maths", make.project(slug="other").slug)
    assert people.manager.get(other).status_code == 404


def test_a_file_expires_and_its_row_stays(people: People) -> None:
    run = exported(people)
    ExportRun.objects.update(finished_at=timezone.now() - timedelta(days=8))
    assert people.manager.get(f"{PAGE}runs/{run.pk}/file").status_code == 404
    assert people.manager.get(f"{PAGE}runs/{run.pk}/manifest").json()["sha256"] == run.sha256
    assert people.manager.get(PAGE).context["files"] == set()


def test_the_card_of_a_run_is_as_it_was_made(people: People, project: Project) -> None:
    run = exported(people, licence="CC-BY-4.0")
    card = people.manager.get(f"{PAGE}runs/{run.pk}/card").content.decode()
    assert "Licence: CC-BY-4.0" in card
    assert "## Known limits" in card


def test_a_choice_that_can_not_be_comes_back_with_what_was_typed(people: People) -> None:
    reply = people.manager.post(PAGE, {"do": "file", "format": "native", "min_agreement": "80"})
    assert (reply.status_code, reply.context["chosen"]["min_agreement"]) == (422, "80")
    assert "“Agreement at least” is a number from 0 to 1" in reply.content.decode()
    assert not ExportRun.objects.exists()


def test_choices_are_kept_under_a_name_run_again_and_deleted(people: People, project: Project) -> None:
    said(make.solution(project), 1, 1, 1)
    chosen = {"format": "trl", "sources": ["human", "consensus"], "include_gold": "1"}
    people.manager.post(PAGE, {"do": "save", "recipe_name": "weekly", **chosen})
    page = people.manager.get(PAGE)
    ((kept, query),) = page.context["recipes"]
    assert (kept.name, kept.options["sources"]) == ("weekly", ["human", "consensus"])
    body(people.manager, f"{PAGE}download?{query}")
    assert ExportRun.objects.get().recipe_id == kept.id
    people.manager.post(f"{PAGE}recipes/{kept.id}/delete")
    assert (ExportRecipe.objects.count(), ExportRun.objects.get().recipe_id) == (0, None)
    events = AuditEvent.objects.filter(name__startswith="export:recipe").order_by("pk")
    assert [each.name for each in events] == ["export:recipe_saved", "export:recipe_deleted"]


@pytest.mark.parametrize("name", ["", " ", "x" * 101])
def test_a_recipe_needs_a_name(people: People, name: str) -> None:
    reply = people.manager.post(PAGE, {"do": "save", "recipe_name": name, "format": "trl"})
    assert (reply.status_code, ExportRecipe.objects.count()) == (422, 0)


def test_what_changed_between_two_exports_is_counted_and_shown(people: People, project: Project) -> None:
    flipped, same = make.solution(project), make.solution(project)
    said(flipped, 1, -1, None), said(same, 1, 1, 1)
    first = exported(people)
    decided(flipped, 1, 1, 1)
    came = make.solution(project)
    said(came, 1, 1, 1)
    second = exported(people)
    query = f"changes?a={first.pk}&b={second.pk}"

    reply = people.manager.get(PAGE + query)
    counts = reply.context["diff"].counts
    assert (counts.same, counts.changed, counts.rows) == (1, 1, {"added": 1, "retracted": 0})
    assert counts.steps == {"flipped": 1, "added": 1, "retracted": 0}
    lines = [orjson.loads(line) for line in body(people.manager, f"{PAGE}{query}&as=jsonl").splitlines()]
    assert [(each["change"], each["id"], each["step"]) for each in lines] == [
        ("flipped", flipped.external_id, 1),
        ("added", flipped.external_id, 2),
        ("added", came.external_id, None),
    ]
    table = csv.DictReader(io.StringIO(body(people.manager, f"{PAGE}{query}&as=csv").decode()))
    assert [(row["before"], row["after"]) for row in table] == [("-1", "1"), ("", "1"), ("", "'+++")]


def test_two_exports_of_the_same_labels_differ_in_nothing(people: People, project: Project) -> None:
    said(make.solution(project), 1, -1, None)
    first, second = exported(people), exported(people, format="trl")
    reply = people.manager.get(f"{PAGE}changes?a={first.pk}&b={second.pk}")
    assert "hold the same labels in all 1 rows" in reply.content.decode()


@pytest.mark.parametrize("query", ["a=1", "a=1&b=2", "a=x&b=1", ""])
def test_what_is_no_pair_of_exports_is_told(people: People, query: str) -> None:
    assert people.manager.get(f"{PAGE}changes?{query}").status_code in {400, 404}


@pytest.mark.parametrize("path", ["changes?a=1&b=1", "live", "runs/1/manifest"])
def test_the_pages_beside_it_are_for_managers(people: People, path: str) -> None:
    assert people.annotator.get(PAGE + path).status_code == 403
    assert people.stranger.get(PAGE + path).status_code == 404


def test_a_long_history_takes_as_many_queries_as_a_short_one(
    people: People,
    project: Project,
    django_assert_max_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    done = [ExportRun(project=project, format="trl", state="done", snapshot=b"x") for _ in range(40)]
    ExportRun.objects.bulk_create(done)
    with django_assert_max_num_queries(16):
        page = people.manager.get(PAGE)
    assert len(page.context["history"].runs) == 30
    assert (
        len(people.manager.get(f"{PAGE}?before={page.context['history'].next}").context["history"].runs) == 10
    )
