"""A project's settings: managers only; a refused form keeps what was typed."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.models import AuditEvent, Guidelines, Project, Role
from annotator.web.forms import GuidelinesForm, SettingsForm
from tests import factories as make
from tests.web.conftest import People, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/settings/"


def form(project: Project, **changes: Any) -> dict[str, Any]:
    """What a browser sends when only ``changes`` were made; an unchecked box is not sent."""
    shown = {**SettingsForm.of(project), **GuidelinesForm.of(project), **changes}
    return {name: value for name, value in shown.items() if value is not False and value is not None}


def test_a_manager_gets_in_and_others_do_not(people: People, project: Project) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    everybody = (people.manager, reviewer, people.annotator, people.stranger, people.nobody)
    assert [who.get(PAGE).status_code for who in everybody] == [200, 403, 403, 404, 302]


def test_an_annotator_changes_nothing(people: People, project: Project) -> None:
    assert people.annotator.post(PAGE, form(project, name="Mine now")).status_code == 403
    project.refresh_from_db()
    assert project.name == "Maths"


def test_every_field_of_the_form_stands_on_the_page_once(people: People) -> None:
    page = people.manager.get(PAGE).content.decode()
    names = [*SettingsForm.base_fields, *GuidelinesForm.base_fields]
    assert {name: page.count(f' name="{name}"') for name in names} == dict.fromkeys(names, 1)


def test_a_change_is_saved_and_kept_in_the_audit_log(people: People, project: Project) -> None:
    reply = people.manager.post(PAGE, form(project, gold_rate="0.2", require_error_type="on"))
    assert (reply.status_code, reply["Location"]) == (302, PAGE)
    project.refresh_from_db()
    assert (project.gold_rate, project.require_error_type) == (0.2, True)
    data = AuditEvent.objects.get(name="project:changed").data
    assert (data["before"]["gold_rate"], data["after"]["gold_rate"]) == (0.0, 0.2)


def test_after_saving_the_page_says_so(people: People, project: Project) -> None:
    page = people.manager.post(PAGE, form(project, siblings="2"), follow=True).content.decode()
    assert "Saved. People see the new rules with their next solution." in page


def test_a_refused_form_keeps_what_was_typed_and_says_it_beside_the_field(
    people: People, project: Project
) -> None:
    data = form(project, gold_rate="seven", name="Harder maths", guidelines="Be strict.")
    reply = people.manager.post(PAGE, data)
    page = reply.content.decode()
    assert reply.status_code == 422
    for typed in ("seven", "Harder maths", "Be strict."):
        assert typed in page
    assert list(reply.context["form"].errors) == ["gold_rate"]
    assert 'aria-describedby="id_gold_rate-says" aria-invalid="true"' in page
    assert 'href="#id_gold_rate"' in page
    project.refresh_from_db()
    assert project.name == "Maths"
    assert not Guidelines.objects.exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("gold_rate", "1.5"),
        ("audit_rate", "0.6"),
        ("siblings", "0"),
        ("lease_seconds", "5"),
        ("verify_minutes", ""),
        ("name", ""),
        ("macros", "no equals sign"),
        ("macros", r"\x"),
        ("error_types", "x" * 61),
        ("error_types", "\n".join(str(n) for n in range(41))),
    ],
)
def test_what_the_rules_do_not_allow_is_refused_beside_its_field(
    people: People, project: Project, field: str, value: str
) -> None:
    reply = people.manager.post(PAGE, form(project, **{field: value}))
    assert (reply.status_code, list(reply.context["form"].errors)) == (422, [field])


def test_audit_and_holdout_leave_something_for_the_priority_route(people: People, project: Project) -> None:
    reply = people.manager.post(PAGE, form(project, audit_rate="0.5", holdout_rate="0.5"))
    assert (reply.status_code, list(reply.context["form"].errors)) == (422, ["audit_rate"])


def test_error_types_and_macros_are_read_line_by_line(people: People, project: Project) -> None:
    data = form(project, error_types="calculation\n\n circular \ncalculation", macros="\\RR = \\mathbb{R}\n")
    people.manager.post(PAGE, data)
    project.refresh_from_db()
    assert (project.error_types, project.macros) == (["calculation", "circular"], {"\\RR": "\\mathbb{R}"})


def test_a_changed_guideline_is_a_new_version_and_the_same_text_is_none(
    people: People, project: Project
) -> None:
    for text in ("One.", "One.", "Two."):
        people.manager.post(PAGE, form(project, guidelines=text))
    assert list(Guidelines.objects.order_by("version").values_list("version", "text")) == [
        (1, "One."),
        (2, "Two."),
    ]


def test_markup_in_guidelines_stays_text(people: People, project: Project) -> None:
    evil = "</textarea><script>alert(1)</script>"
    page = people.manager.post(PAGE, form(project, guidelines=evil), follow=True).content.decode()
    assert "<script>alert(1)" not in page
    assert page.count("&lt;script&gt;alert(1)") == 2  # the field and its preview


def test_people_who_judge_every_step_read_how_a_step_on_an_error_counts(project: Project) -> None:
    Project.objects.filter(pk=project.pk).update(mode="all_steps")
    annotator, manager = signed_in_to(project, Role.ANNOTATOR), signed_in_to(project, Role.MANAGER)
    make.work(project)
    assert "judged on its own" in annotator.get("/p/maths/label/").content.decode()
    project.refresh_from_db()
    manager.post(PAGE, form(project, error_propagation="tainted_until_corrected"))
    assert "incorrect too, until the error is corrected" in annotator.get("/p/maths/label/").content.decode()


def test_up_to_the_first_error_nothing_is_said_of_steps_after_it(project: Project) -> None:
    make.work(project)
    page = signed_in_to(project, Role.ANNOTATOR).get("/p/maths/label/").content.decode()
    assert "builds on an earlier error" not in page


def test_what_an_hour_costs_is_saved_in_its_currency(people: People, project: Project) -> None:
    people.manager.post(PAGE, form(project, hourly_cost="42.5", currency="chf"))
    project.refresh_from_db()
    assert (project.hourly_cost, project.currency) == (42.5, "CHF")
    people.manager.post(PAGE, form(project, hourly_cost=""))
    project.refresh_from_db()
    assert project.hourly_cost is None


@pytest.mark.parametrize("wrong", [{"hourly_cost": "-1"}, {"currency": "E1"}, {"currency": "€€€"}])
def test_a_cost_that_is_none_is_refused(people: People, project: Project, wrong: dict[str, Any]) -> None:
    assert people.manager.post(PAGE, form(project, **wrong)).status_code == 422
    project.refresh_from_db()
    assert (project.hourly_cost, project.currency) == (None, "EUR")
