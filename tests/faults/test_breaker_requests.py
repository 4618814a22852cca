"""Requests that no page would send are refused in words; none ends in an error of the server."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotator.actions import queueing
from annotator.models import Assignment, Project, Question
from tests import factories as make
from tests.web.conftest import browser

pytestmark = pytest.mark.django_db
MANY_DIGITS = "1" * 5_000  # more than Python turns into a number


@pytest.fixture
def project() -> Project:
    return make.project(slug="maths")


@pytest.fixture
def annotator(project: Project) -> Client:
    make.work(project)
    return browser(make.member(project).user)


@pytest.fixture
def assignment(annotator: Client, project: Project) -> Assignment:
    annotator.get(reverse("label", args=[project.slug]))
    return Assignment.objects.get()


@pytest.mark.parametrize(
    "details",
    [
        {"segmentation": {"0": {"is": "fine", "merge": []}}},
        {"segmentation": {"0": {"is": [], "merge": {}}}},
        {"comments": {MANY_DIGITS: "far away"}},
        {"comments": {"٣": "a digit, but not one of ours"}},
    ],
)
@pytest.mark.parametrize("door", ["label_submit", "label_draft"])
def test_details_of_a_strange_shape_are_refused(
    annotator: Client, assignment: Assignment, door: str, details: dict[str, Any]
) -> None:
    address = reverse(door, args=["maths", assignment.pk])
    work: dict[str, Any] = {"labels": [1, 1, 1], "details": details, "finish_reason": "solution"}

    if door == "label_draft":
        reply = annotator.post(address, work, content_type="application/json")
    else:
        reply = annotator.post(
            address, {key: v if key == "finish_reason" else json.dumps(v) for key, v in work.items()}
        )

    assert reply.status_code == 422
    assert queueing.next_assignment(actor=make.as_actor(assignment.member)).pk == assignment.pk


@pytest.mark.parametrize(
    ("step", "status", "kept"), [(MANY_DIGITS, 422, []), ("3", 422, []), ("٣", 200, [None]), ("2", 200, [2])]
)
def test_a_question_names_a_step_of_the_solution_or_none(
    annotator: Client, assignment: Assignment, step: str, status: int, kept: list[int | None]
) -> None:
    reply = annotator.post(
        reverse("label_ask", args=["maths", assignment.pk]), {"text": "Why?", "step": step}
    )

    assert reply.status_code == status
    assert list(Question.objects.values_list("step", flat=True)) == kept


def test_a_name_longer_than_any_account_has_is_a_wrong_name(annotator: Client) -> None:
    reply = browser().post(reverse("login"), {"username": "x" * 100_000, "password": "whatever it is"})

    assert reply.status_code == 200
    assert "Please enter a correct username and password" in reply.content.decode()


@pytest.mark.parametrize(
    "onward", ["/sign-in/", "/sign-in/?next=/sign-in/", "//elsewhere.example", "javascript:1"]
)
def test_who_is_signed_in_is_never_sent_back_to_the_sign_in_page_or_away(
    annotator: Client, onward: str
) -> None:
    reply = annotator.get(reverse("login"), {"next": onward})

    assert (reply.status_code, reply.headers["Location"]) == (302, reverse("home"))
