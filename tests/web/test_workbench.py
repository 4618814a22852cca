"""The workbench's requests: page, draft, submit, skip."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import escape

from annotator.models import Annotation, Assignment, Project, Role, Scorer
from annotator.queries import workbench
from tests import factories as make
from tests.web.conftest import People, browser, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/label/"


def claim(client: Client) -> Any:
    """Open the page; the assignment it shows."""
    return client.get(PAGE).context["bench"]


def form(*labels: int | None, **fields: Any) -> dict[str, Any]:
    reason = "found_error" if -1 in labels else "solution"
    return {
        "labels": json.dumps(labels),
        "finish_reason": reason,
        "active_seconds": "3.5",
        "details": "{}",
        "client_id": str(uuid.uuid4()),
        **fields,
    }


def submit(client: Client, assignment_id: str, data: dict[str, Any]) -> Any:
    return client.post(f"{PAGE}{assignment_id}/submit", data, headers={"HX-Request": "true"})


def save(client: Client, assignment_id: str, body: Any) -> Any:
    return client.post(f"{PAGE}{assignment_id}/draft", body, content_type="application/json")


def test_strangers_find_no_such_project_and_nobody_is_sent_to_sign_in(people: People) -> None:
    assert people.stranger.get(PAGE).status_code == 404
    assert people.nobody.get(PAGE).status_code == 302


def test_the_page_shows_problem_and_steps_as_text(people: People, project: Project) -> None:
    make.work(project, texts=["</script><script>alert(1)</script>", "$x^2$"])
    page = people.annotator.get(PAGE).content.decode()
    assert "<script>alert(1)" not in page
    assert escape("</script><script>alert(1)</script>") in page


def test_a_submit_stores_the_labels_and_brings_the_next_solution(people: People, project: Project) -> None:
    make.work(project), make.work(project)
    first = claim(people.annotator)

    reply = submit(people.annotator, first.assignment_id, form(1, 0, -1))

    assert reply.status_code == 200
    assert reply.context["bench"].assignment_id != first.assignment_id
    stored = Annotation.objects.get(assignment_id=first.assignment_id)
    assert (stored.labels, stored.stop, stored.active_seconds) == ([1, 0, -1], 2, 3.5)


def test_after_the_last_one_the_page_says_that_all_is_done(people: People, project: Project) -> None:
    make.work(project)
    reply = submit(people.annotator, claim(people.annotator).assignment_id, form(1, 1, 1))
    assert reply.context["nothing"].reason == "all_done"


def test_incomplete_labels_come_back_as_422_with_everything_that_was_marked(
    people: People, project: Project
) -> None:
    make.work(project)
    bench = claim(people.annotator)

    reply = submit(
        people.annotator, bench.assignment_id, form(1, None, None, details='{"comments": {"0": "why?"}}')
    )

    again = reply.context["bench"]
    assert reply.status_code == 422
    assert "step 2" in reply.context["error"].lower()
    assert ([step.label for step in again.steps], again.details) == (
        [1, None, None],
        {"comments": {"0": "why?"}},
    )


@pytest.mark.parametrize("labels", ["[7, 1, 1]", "[true, 1, 1]", "[1]", "{", "null", '["1"]', "[1e400]"])
def test_labels_that_no_page_would_send_are_refused_and_nothing_is_stored(
    people: People, project: Project, labels: str
) -> None:
    make.work(project)
    bench = claim(people.annotator)
    assert submit(people.annotator, bench.assignment_id, form(1) | {"labels": labels}).status_code == 422
    assert not Annotation.objects.exists()


def test_the_same_request_again_gets_the_same_success_and_stores_nothing_twice(
    people: People, project: Project
) -> None:
    make.work(project)
    bench, data = claim(people.annotator), form(1, 1, 1)
    replies = [submit(people.annotator, bench.assignment_id, data).status_code for _ in range(2)]
    assert (replies, Annotation.objects.count()) == ([200, 200], 1)


def test_another_submit_after_the_first_is_a_conflict(people: People, project: Project) -> None:
    make.work(project)
    bench = claim(people.annotator)
    submit(people.annotator, bench.assignment_id, form(1, 1, 1))
    reply = submit(people.annotator, bench.assignment_id, form(1, 1, -1))
    assert (reply.status_code, Annotation.objects.get().labels) == (409, [1, 1, 1])


def test_nobody_can_submit_for_somebody_else(people: People, project: Project) -> None:
    make.work(project)
    bench = claim(people.annotator)
    other = signed_in_to(project)
    assert submit(other, bench.assignment_id, form(1, 1, 1)).status_code == 409
    assert not Annotation.objects.exists()


def test_an_assignment_of_another_project_is_not_there(people: People, project: Project) -> None:
    member = make.member(project, Role.MANAGER)
    elsewhere = make.project(slug="elsewhere")
    make.member(elsewhere, user=member.user)
    make.work(project)
    client = browser(member.user)
    bench = claim(client)
    reply = client.post(f"/p/elsewhere/label/{bench.assignment_id}/submit", form(1, 1, 1))
    assert (reply.status_code, Annotation.objects.count()) == (409, 0)


def test_a_draft_is_kept_and_comes_back_with_the_page(people: People, project: Project) -> None:
    make.work(project)
    bench = claim(people.annotator)
    reply = save(
        people.annotator, bench.assignment_id, {"labels": [1, None, None], "details": {}, "version": 0}
    )
    assert reply.json() == {"version": 1}
    assert [step.label for step in claim(people.annotator).steps] == [1, None, None]


def test_a_stale_draft_gets_the_newer_one_and_overwrites_nothing(people: People, project: Project) -> None:
    make.work(project)
    bench = claim(people.annotator)
    save(people.annotator, bench.assignment_id, {"labels": [1, 1, None], "details": {}, "version": 0})
    reply = save(
        people.annotator, bench.assignment_id, {"labels": [0, None, None], "details": {}, "version": 0}
    )
    assert (reply.status_code, reply.json()["labels"], reply.json()["version"]) == (409, [1, 1, None], 1)


@pytest.mark.parametrize(
    "body", ["{", "[]", '{"labels": "x"}', '{"labels": [1, 1, 1], "version": "x"}', "null"]
)
def test_a_draft_that_no_page_would_send_is_refused_in_words(
    people: People, project: Project, body: str
) -> None:
    make.work(project)
    reply = save(people.annotator, claim(people.annotator).assignment_id, body)
    assert (reply.status_code, bool(reply.json()["error"])) == (422, True)


def test_a_draft_that_is_sent_as_a_form_is_refused_in_words(people: People, project: Project) -> None:
    make.work(project)
    reply = people.annotator.post(f"{PAGE}{claim(people.annotator).assignment_id}/draft", {"labels": "[]"})
    assert (reply.status_code, bool(reply.json()["error"])) == (422, True)


def test_a_skip_needs_a_reason_and_passes_the_solution_on(people: People, project: Project) -> None:
    make.work(project)
    bench = claim(people.annotator)
    assert people.annotator.post(f"{PAGE}{bench.assignment_id}/skip", {"reason": " "}).status_code == 422
    reply = people.annotator.post(f"{PAGE}{bench.assignment_id}/skip", {"reason": "not my field"})
    assert (reply.status_code, reply.context["nothing"].reason) == (200, "waiting")
    assert "bench" in signed_in_to(project).get(PAGE).context


def test_a_signed_out_script_gets_401_and_not_a_page(people: People, project: Project) -> None:
    make.work(project)
    bench = claim(people.annotator)
    assert submit(people.nobody, bench.assignment_id, form(1, 1, 1)).status_code == 401


def test_without_the_csrf_token_nothing_is_stored(project: Project) -> None:
    make.work(project)
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.member(project).user, backend="django.contrib.auth.backends.ModelBackend")  # type: ignore[arg-type]
    bench = claim(client)
    assert submit(client, bench.assignment_id, form(1, 1, 1)).status_code == 403
    assert not Annotation.objects.exists()


def shape(html: str, client_visible: dict[str, str]) -> str:
    """A page without what rightly differs between two solutions, and without its one-time tokens."""
    html = re.sub(r'(name="csrfmiddlewaretoken" value=)"[^"]*"', r"\1", html)
    for found, name in client_visible.items():
        html = html.replace(found, name)
    return html


def test_gold_and_work_look_the_same_and_neither_tells_a_score(project: Project) -> None:
    texts = ["work step 0", "work step 1", "work step 2"]
    make.work(project, texts=texts, priority=0.4321)
    gold = make.gold(project)
    Scorer.objects.filter(project=project).update(name="secret-scorer")
    member = make.member(project)
    pages = []
    for rate in (0.0, 1.0):
        Project.objects.filter(pk=project.pk).update(gold_rate=rate)
        reply = browser(member.user).get(PAGE)
        bench, html = reply.context["bench"], reply.content.decode()
        replaced = {bench.assignment_id: "ID", bench.problem_text: "PROBLEM"}
        replaced |= {step.text: f"STEP {step.index}" for step in bench.steps}
        pages.append(shape(html, replaced))
        Assignment.objects.filter(pk=bench.assignment_id).update(state="skipped", slot=None)
    work_page, gold_page = (page.split('id="bench"')[1] for page in pages)
    assert work_page == gold_page
    for secret in ("0.4321", "secret-scorer", "gold", str(gold.accept), "priority", "audit"):
        assert secret not in gold_page.lower()


def test_the_number_of_queries_does_not_grow_with_steps(people: People, project: Project) -> None:
    def queries_for(n_steps: int) -> int:
        make.work(project, texts=[f"step {n}" for n in range(n_steps)])
        client = signed_in_to(project)
        claim(client)
        with CaptureQueriesContext(connection) as seen:
            client.get(PAGE)
        return len(seen)

    few, many = queries_for(2), queries_for(200)
    assert few == many <= 20


def test_every_page_has_a_policy_that_allows_no_inline_script(people: People, project: Project) -> None:
    make.work(project)
    policy = people.annotator.get(PAGE)["Content-Security-Policy"]
    script = next(part for part in policy.split(";") if part.strip().startswith("script-src"))
    assert script.strip() == "script-src 'self'"


def test_what_is_left_is_counted_up_to_a_cap_and_then_said_to_be_more(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workbench, "LEFT_CAP", 2)
    for _ in range(4):
        make.work(project)
    page = signed_in_to(project, Role.ANNOTATOR).get("/p/maths/label/").content.decode()
    assert "0 today · 2+ left" in page
