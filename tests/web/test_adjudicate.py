"""The pages of reviewers."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotator.actions import cases
from annotator.models import Adjudication, AdjudicationCase, Annotation, Project, Role
from tests import factories as make
from tests.actions.flow import label
from tests.web.conftest import People, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/adjudicate/"


@pytest.fixture
def reviewer(project: Project) -> Client:
    Project.objects.filter(pk=project.pk).update(labels_max=2)
    return signed_in_to(project, Role.REVIEWER)


def tie(project: Project, **fields: Any) -> AdjudicationCase:
    row = make.work(project, wanted=2, **fields)
    label(make.actor(project), 1, -1, None, details={"comments": {"1": "<b>a slip</b>"}})
    label(make.actor(project), 1, 1, 1)
    return AdjudicationCase.objects.get(solution_id=row.pk)


def take(client: Client, case: AdjudicationCase) -> Any:
    return client.post(f"{PAGE}{case.pk}/take", follow=True)


def decide(client: Client, case: AdjudicationCase, *labels: int | None, **fields: Any) -> Any:
    form = {"labels": json.dumps(labels), "reason": "The sign is lost.", **fields}
    return client.post(f"{PAGE}{case.pk}/decide", form)


def test_managers_and_reviewers_get_in_and_others_do_not(people: People, reviewer: Client) -> None:
    who = (people.manager, reviewer, people.annotator, people.stranger, people.nobody)
    assert [each.get(PAGE).status_code for each in who] == [200, 200, 403, 404, 302]


@pytest.mark.parametrize("verb", ["take", "decide", "back"])
def test_each_verb_is_for_reviewers_of_this_project(people: People, project: Project, verb: str) -> None:
    Project.objects.filter(pk=project.pk).update(labels_max=2)
    address = f"{PAGE}{tie(project).pk}/{verb}"
    form = {"labels": "[1, -1, null]", "reason": "x"}
    codes = [
        each.post(address, form).status_code for each in (people.annotator, people.stranger, people.nobody)
    ]
    assert codes == [403, 404, 302]
    assert not Adjudication.objects.exists()


def test_a_case_of_another_project_is_not_found_by_any_verb(reviewer: Client) -> None:
    other = make.project()
    case = cases.open_case(solution=make.work(other).solution, reason=AdjudicationCase.Reason.TIE)
    assert case is not None
    codes = [
        reviewer.get(f"{PAGE}{case.pk}/").status_code,
        *(reviewer.post(f"{PAGE}{case.pk}/{verb}").status_code for verb in ("take", "decide", "back")),
    ]
    assert codes == [404] * 4


def test_a_case_shows_the_annotations_side_by_side_without_their_authors(
    reviewer: Client, project: Project
) -> None:
    case = tie(project)
    reply = take(reviewer, case)
    view = reply.context["case"]

    assert [[said.label for said in step.said] for step in view.steps if step.differs] in (
        [[-1, 1]],
        [[1, -1]],
    )
    assert {author.name for author in view.authors} == {""}
    names = set(Annotation.objects.values_list("member__pseudonym", flat=True))
    assert not any(
        f">{name}<" in reply.content.decode() or f"{name}:" in reply.content.decode() for name in names
    )


def test_what_people_wrote_is_text(reviewer: Client, project: Project) -> None:
    page = take(reviewer, tie(project)).content.decode()
    assert "&lt;b&gt;a slip" in page
    assert "<b>a slip" not in page


def test_a_blind_case_shows_neither_labels_nor_scores_nor_its_true_reason(
    reviewer: Client, project: Project
) -> None:
    agreed = make.work(project)
    label(make.actor(project), 1, 1, 1)
    _score(agreed.solution)
    tie(project)
    case = AdjudicationCase.objects.get(blind=True)

    reply = take(reviewer, case)
    view = reply.context["case"]

    assert (view.authors, view.scorer, view.reason) == ([], "", "blind")
    assert all(not step.said and step.value is None for step in view.steps)
    assert "random" not in reply.content.decode()


def test_the_holdout_is_decided_blind_to_the_scorer(reviewer: Client, project: Project) -> None:
    case = tie(project, holdout=True)
    _score(case.solution)
    view = take(reviewer, case).context["case"]
    assert (view.scorer, len(view.authors)) == ("", 2)


def test_elsewhere_the_scorer_is_shown(reviewer: Client, project: Project) -> None:
    case = tie(project)
    _score(case.solution)
    assert take(reviewer, case).context["case"].predicted_stop == -1


def test_after_the_decision_the_next_case_comes(reviewer: Client, project: Project) -> None:
    first, second = tie(project), tie(project)
    take(reviewer, first)
    reply = decide(reviewer, first, 1, -1, None, note="Mind the sign.")

    assert (reply.status_code, reply["Location"]) == (302, f"{PAGE}{second.pk}/")
    made = Adjudication.objects.get()
    assert (made.labels, made.reason, made.note) == ([1, -1, None], "The sign is lost.", "Mind the sign.")


def test_when_decided_the_authors_are_shown_to_who_looks_back(reviewer: Client, project: Project) -> None:
    case = tie(project)
    take(reviewer, case)
    decide(reviewer, case, 1, -1, None)
    view = reviewer.get(f"{PAGE}{case.pk}/").context["case"]

    assert view.decided
    assert all(author.name for author in view.authors)
    assert [step.decided for step in view.steps] == [1, -1, None]


def test_what_is_missing_comes_back_with_everything_typed(reviewer: Client, project: Project) -> None:
    case = tie(project)
    take(reviewer, case)
    reply = decide(reviewer, case, 1, None, None, note="Keep me.")

    assert reply.status_code == 422
    assert "step 2" in reply.context["error"].lower()
    page = reply.content.decode()
    assert "Keep me." in page
    assert "[1, null, null]" in page


@pytest.mark.parametrize("labels", ["{", '["1"]', "null", "[7, 7, 7]", "[1]"])
def test_labels_that_no_page_would_send_are_refused(reviewer: Client, project: Project, labels: str) -> None:
    case = tie(project)
    take(reviewer, case)
    assert reviewer.post(f"{PAGE}{case.pk}/decide", {"labels": labels, "reason": "x"}).status_code == 422
    assert not Adjudication.objects.exists()


def test_ones_own_case_cannot_be_taken(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(labels_max=2)
    member = make.member(project, Role.REVIEWER)
    make.work(project, wanted=2)
    label(make.as_actor(member), 1, -1, None)
    label(make.actor(project), 1, 1, 1)
    case = AdjudicationCase.objects.get()
    client = Client()
    client.force_login(member.user, backend="django.contrib.auth.backends.ModelBackend")  # type: ignore[arg-type]

    assert client.post(f"{PAGE}{case.pk}/take").status_code == 409
    assert client.get(f"{PAGE}{case.pk}/").status_code == 404
    case.closed_at = case.opened_at
    case.save(update_fields=["closed_at"])
    assert client.get(f"{PAGE}{case.pk}/").status_code == 404


def test_a_case_that_is_put_back_waits_again(reviewer: Client, project: Project) -> None:
    case = tie(project)
    take(reviewer, case)
    reviewer.post(f"{PAGE}{case.pk}/back")
    case.refresh_from_db()
    assert case.claimed_by is None


def test_only_the_pages_own_parameters_are_taken(reviewer: Client) -> None:
    assert reviewer.get(f"{PAGE}?solution__problem__answer=4").status_code == 400
    assert reviewer.get(f"{PAGE}?after=x").status_code == 400


def test_lists_and_cases_take_as_many_queries_for_many_as_for_few(
    reviewer: Client,
    project: Project,
    django_assert_max_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    for _ in range(12):
        tie(project)
    first = AdjudicationCase.objects.order_by("pk").first()
    assert first is not None
    with CaptureQueriesContext(connection) as one:
        reviewer.get(PAGE)
    assert len(one) <= 14
    take(reviewer, first)
    with django_assert_max_num_queries(18):
        reviewer.get(f"{PAGE}{first.pk}/")


def _score(solution: Any) -> None:
    from annotator.models import Score, Scorer, ScorerVersion

    scorer = Scorer.objects.get(project=solution.project)
    version = ScorerVersion.objects.create(scorer=scorer, version="v1", measures="correctness", threshold=0.5)
    Score.objects.create(
        solution=solution,
        version=version,
        n_steps=3,
        values=[0.9, 0.8, 0.7],
        spread=[0.1, 0.1, 0.1],
        priority=0.25,
        tiebreak=0.1,
        predicted_stop=-1,
    )
