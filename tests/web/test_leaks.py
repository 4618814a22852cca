"""Whatever an annotator can ask for: no gold mark, no score, nothing of what others said."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import URLPattern, URLResolver, get_resolver

from annotator.actions import labeling, queueing
from annotator.models import (
    Adjudication,
    Assignment,
    Gold,
    Membership,
    Project,
    Role,
    Score,
    Scorer,
    ScorerVersion,
)
from tests import factories as make
from tests.actions.flow import label, run_jobs
from tests.web.conftest import browser

pytestmark = pytest.mark.django_db
HEADERS = {"HX-Request": "true"}
#: Words that only the others, the scorer or the keepers of gold have used.
SECRETS = ("zebra comment", "xylophone reason", "quince note on gold", "0.123456", "wombat-scorer")
#: What no address, name or attribute of theirs may say.
MARKS = re.compile(
    r"gold|exam\b|calibrat|repeat|accept|priority|entropy|spread|predicted|posterior|consensus|solution_id|holdout",
    re.IGNORECASE,
)
#: The same for everybody and written before anybody worked: a word there tells nothing.
SAME_FOR_ALL = re.compile(r"<dialog.*?</dialog>|<header.*?</header>", re.DOTALL)
NOT_THEIRS = {"admin", "words", "healthz", "readyz", "metrics", "login", "logout", "design", "schema", "docs"}


@pytest.fixture
def project() -> Project:
    """Work that others have labelled, scored and half of it gold."""
    made = make.project(slug="maths", name="Maths", gold_rate=0.5)
    Project.objects.filter(pk=made.pk).update(gold_rate_start=0.5, labels_max=2, aid_equations=True)
    scorer = Scorer.objects.get(project=made)
    version = ScorerVersion.objects.create(
        scorer=scorer, version="wombat-scorer", measures="correctness", threshold=0.5
    )
    others = [make.actor(made), make.actor(made)]
    for _ in range(6):
        row = make.work(made, wanted=3)
        Score.objects.create(
            solution=row.solution,
            version=version,
            n_steps=3,
            values=[0.123456] * 3,
            spread=[0.123456] * 3,
            priority=0.123456,
            tiebreak=0.1,
            predicted_stop=1,
        )
    for _ in range(3):
        label(others[0], 1, -1, None, details={"comments": {"1": "zebra comment"}})
        label(others[1], 1, 1, 1)
    for _ in range(6):
        Gold.objects.filter(pk=make.gold(made, (1, -1, None)).pk).update(note="quince note on gold")
    run_jobs()
    return made


@pytest.fixture
def me(project: Project) -> Membership:
    return make.member(project)


def replies(client: Client) -> Iterator[tuple[str, str]]:
    """What the workbench answers over twelve solutions, work and checks mixed, and what stands on every page."""
    for number in range(12):
        page = client.get("/p/maths/label/")
        yield "label", page.content.decode()
        bench = page.context.get("bench")
        if bench is None:
            return
        address = f"/p/maths/label/{bench.assignment_id}/"
        draft = {"labels": [1, None, None], "version": bench.draft_version}
        yield "draft", client.post(address + "draft", draft, content_type="application/json").content.decode()
        yield "ahead", client.post(address + "ahead", headers=HEADERS).content.decode()
        yield "aid", client.post(address + "aid/equations").content.decode()
        yield "ask", client.post(address + "ask", {"text": "Is it?"}).content.decode()
        yield "refused", client.post(address + "submit", {"labels": "[1]"}, headers=HEADERS).content.decode()
        form = {
            "labels": json.dumps([1, -1, None]),
            "finish_reason": "found_error",
            "details": "{}",
            "client_id": str(uuid.uuid4()),
        }
        if number % 4 == 3:
            yield "skip", client.post(address + "skip", {"reason": "x"}, headers=HEADERS).content.decode()
        else:
            yield "submit", client.post(address + "submit", form, headers=HEADERS).content.decode()
        run_jobs()
        for path in ("/", "/p/maths/mine/", "/p/maths/progress/", "/p/maths/practice/"):
            yield path, client.get(path).content.decode()


def decide_some(project: Project, me: Membership) -> None:
    """A reviewer decides on one of mine, with a reason for reviewers and a note for all."""
    mine = Assignment.objects.filter(member=me, purpose="work", state="submitted").first()
    if mine is not None:
        Adjudication.objects.create(
            solution_id=mine.solution_id,
            member=make.member(project, Role.REVIEWER),
            n_steps=3,
            labels=[1, 1, 1],
            stop=-1,
            reason="xylophone reason",
            note="Read it twice.",
        )


def test_nothing_that_an_annotator_gets_says_gold_scores_or_what_others_said(
    project: Project, me: Membership
) -> None:
    client = browser(me.user)
    seen = 0
    for name, text in replies(client):
        seen += 1
        assert not [secret for secret in SECRETS if secret in text], name
        own = SAME_FOR_ALL.sub("", re.sub(r"gold step \d", "", text))
        assert not MARKS.findall(own), f"{name}: {MARKS.findall(own)}"
    decide_some(project, me)
    text = client.get("/p/maths/progress/").content.decode()
    assert "Read it twice." in text
    assert "xylophone reason" not in text
    assert seen > 60
    assert {"gold", "work"} <= set(Assignment.objects.filter(member=me).values_list("purpose", flat=True))


def api_replies(client: Client) -> Iterator[tuple[str, str]]:
    """The same over the API, and the person's own annotations at the end."""
    root = "/api/v1/"

    def post(path: str, body: object) -> str:
        return client.post(root + path, body, content_type="application/json").content.decode()

    for number in range(10):
        given = client.post(f"{root}projects/maths/assignments/next")
        yield "next", given.content.decode()
        if given.status_code == 204:
            yield "why nothing", str(dict(given.headers))
            return
        one = f"assignments/{given.json()['assignment']}/"
        draft = {"labels": [1, None, None], "details": {}, "version": 0}
        yield (
            "draft",
            client.put(root + one + "draft", draft, content_type="application/json").content.decode(),
        )
        yield "refused", post(one + "submit", {"labels": [1]})
        done = {
            "labels": [1, -1, None],
            "finish_reason": "found_error",
            "active_seconds": 3,
            "client_id": str(uuid.uuid4()),
        }
        yield "skip", post(one + "skip", {"reason": "x"}) if number % 4 == 3 else post(one + "submit", done)
        run_jobs()
    yield "annotations", client.get(f"{root}projects/maths/annotations").content.decode()
    yield "quality", client.get(f"{root}projects/maths/quality").content.decode()
    yield "export", client.get(f"{root}projects/maths/export?format=native").content.decode()


def test_nothing_that_the_api_answers_says_gold_scores_or_what_others_said(
    project: Project, me: Membership
) -> None:
    names = set()
    for name, text in api_replies(browser(me.user)):
        names.add(name)
        assert not [secret for secret in SECRETS if secret in text], name
        own = re.sub(r"gold step \d", "", text)
        assert not MARKS.findall(own), f"{name}: {MARKS.findall(own)} in {text[:500]}"
    assert {"next", "draft", "refused", "skip", "annotations"} <= names
    assert {"gold", "work"} <= set(Assignment.objects.filter(member=me).values_list("purpose", flat=True))


def test_addresses_are_random_and_in_no_order(project: Project, me: Membership) -> None:
    client = browser(me.user)
    for name, text in replies(client):
        ids = re.findall(r"/p/maths/[\w/-]*?/(\d+)(?:/|\")", text)
        assert not ids, f"{name} holds a number of the database: {ids}"


def test_a_check_is_shown_with_the_same_parts_as_work(project: Project, me: Membership) -> None:
    """The same markup once texts, ids and counts are taken out, so that no attribute or class tells them apart."""
    client = browser(me.user)
    shapes: dict[str, set[str]] = {"work": set(), "gold": set()}
    for _ in range(8):
        page = client.get("/p/maths/label/")
        bench = page.context.get("bench")
        if bench is None:
            break
        assignment = Assignment.objects.get(pk=bench.assignment_id)
        main = re.search(r'<main id="bench".*?</main>', page.content.decode(), re.DOTALL)
        assert main is not None
        tags = re.sub(r">[^<]*<", "><", main.group())
        shapes[assignment.purpose].add(re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+", "#", tags))
        Assignment.objects.filter(pk=assignment.pk).update(state="submitted")
    assert shapes["work"] == shapes["gold"]
    assert len(shapes["work"]) == 1


def test_handing_in_a_check_asks_the_database_the_same_as_handing_in_work(project: Project) -> None:
    actor = make.actor(project)
    asked: dict[str, set[int]] = {}
    for _ in range(8):
        assignment = queueing.next_assignment(actor=actor)
        with CaptureQueriesContext(connection) as queries:
            labeling.submit(actor=actor, assignment_id=assignment.pk, work=make.marked(1, -1, None))
        asked.setdefault(assignment.purpose, set()).add(len(queries))
    assert asked["gold"] == asked["work"]
    assert len(asked["work"]) == 1


def test_every_address_of_a_project_is_accounted_for() -> None:
    """A new page has to be put either to those that annotators see, and be searched above, or to the others."""
    known = {
        *("home", "help", "label", "label_submit", "label_draft", "label_skip", "label_ahead", "label_aid"),
        *("label_ask", "reopen", "leave_reopened", "mine", "practice", "practice_submit", "preferences"),
        *("progress", "join"),
    }
    refused = {name for name in _names() if name not in known | NOT_THEIRS}
    project = make.project(slug="algebra")
    client = browser(make.member(project).user)
    for name in sorted(refused):
        for pattern in _patterns():
            if pattern.name == name and str(pattern.pattern).startswith("p/<slug:slug>/"):
                assert _status(client, str(pattern.pattern)) in (403, 404, 405), name


def _patterns() -> Iterator[URLPattern]:
    for each in get_resolver().url_patterns:
        if isinstance(each, URLPattern):
            yield each
        elif isinstance(each, URLResolver) and each.app_name != "admin":
            yield from (inner for inner in each.url_patterns if isinstance(inner, URLPattern))


def _names() -> set[str]:
    return {pattern.name for pattern in _patterns() if pattern.name}


def _status(client: Client, pattern: str) -> int:
    path = "/" + re.sub(r"<int:\w+>", "1", pattern.replace("<slug:slug>", "algebra"))
    path = re.sub(r"<uuid:\w+>", str(uuid.uuid4()), re.sub(r"<(?:slug|str):\w+>", "x", path))
    got = client.get(path).status_code
    return client.post(path).status_code if got == 405 else got
