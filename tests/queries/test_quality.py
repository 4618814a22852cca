"""The quality report on small projects whose figures can be worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.models import Annotation, Membership, Project, QueueRow
from annotator.queries.quality import words
from annotator.queries.quality.report import build
from annotator.queries.quality.shapes import Report, from_json, to_json
from tests import factories as make
from tests.queries.labels import audited, checked, handed_in

pytestmark = pytest.mark.django_db

SOUND, AT_ONE, AT_TWO = (1, 1, 1), (1, -1, None), (1, 1, -1)


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def one(project: Project) -> Membership:
    return make.member(project)


@pytest.fixture
def other(project: Project) -> Membership:
    return make.member(project)


def person(report: Report, member: Membership) -> Any:
    return next(each for each in report.people if each.member_id == member.pk)


def test_agreement_on_the_stop_is_the_share_of_solutions_with_the_same_stop(
    project: Project, one: Membership, other: Membership
) -> None:
    audited(project, one, other, AT_ONE, AT_ONE)
    audited(project, one, other, SOUND, SOUND)
    audited(project, one, other, SOUND, SOUND)
    audited(project, one, other, AT_ONE, AT_TWO)

    stop = build(project).stop

    assert (stop.exact.value, stop.exact.n) == (0.75, 4)
    assert stop.within_one.value == 1.0
    # Of 8 annotations 4 stop nowhere, 3 at step 1, 1 at step 2: (4·3 + 3·2) / (8·7) of shuffled pairs agree.
    assert stop.chance.value == pytest.approx(18 / 56)
    assert stop.corrected.value == pytest.approx((0.75 - 18 / 56) / (1 - 18 / 56))


def test_only_steps_that_both_reached_are_compared_with_neutral_either_way(
    project: Project, one: Membership, other: Membership
) -> None:
    audited(project, one, other, (1, 0, 1), (1, 1, -1))
    audited(project, one, other, (-1, None, None), (-1, None, None))

    steps = build(project).steps

    assert steps.neutral_correct.value == pytest.approx(3 / 4)
    assert steps.neutral_incorrect.value == pytest.approx(2 / 4)
    assert [(each.name, each.neutral_correct.value, each.neutral_correct.n) for each in steps.by_depth] == [
        ("1", 1.0, 2),
        ("2", 1.0, 1),
        ("3", 0.0, 1),
    ]


def test_context_steps_are_no_place_to_stop(project: Project, one: Membership, other: Membership) -> None:
    kinds = ["reasoning", "observation", "reasoning"]
    row = make.work(project, wanted=2, kinds=kinds)
    handed_in(row.solution, one, 1, None, -1, route="audit")
    handed_in(row.solution, other, -1, None, None, slot=1)

    # Steps 0 and 2 are neighbours among the judged ones.
    assert build(project).stop.within_one.value == 1.0


def test_the_prefix_ends_before_the_first_solution_that_nobody_has_judged(
    project: Project, one: Membership, other: Membership
) -> None:
    audited(project, one, other, SOUND, SOUND, shuffle=0.2)
    make.work(project, shuffle=0.3)  # imported after the audit route had gone further
    audited(project, one, other, AT_ONE, SOUND, shuffle=0.4)

    assert build(project).sample.prefix == 1


def test_the_headline_leaves_out_what_is_above_the_watermark(
    project: Project, one: Membership, other: Membership
) -> None:
    audited(project, one, other, SOUND, SOUND, shuffle=0.2)
    above = make.work(project, wanted=2, shuffle=0.9)
    handed_in(above.solution, one, *SOUND)
    handed_in(above.solution, other, *AT_ONE, slot=1)

    report = build(project)

    assert (report.stop.exact.value, report.stop.exact.n) == (1.0, 1)
    assert (report.sample.prefix, report.sample.pool) == (1, 2)


def test_a_label_that_was_asked_for_because_two_differ_does_not_enter(
    project: Project, one: Membership, other: Membership
) -> None:
    solution = audited(project, one, other, SOUND, AT_ONE)
    handed_in(solution, make.member(project), *AT_ONE, slot=2)

    assert build(project).stop.exact.value == 0.0


def test_the_first_version_speaks_where_somebody_revised_it(
    project: Project, one: Membership, other: Membership
) -> None:
    solution = audited(project, one, other, SOUND, AT_ONE)
    first = Annotation.objects.get(solution=solution, member=one)
    Annotation.objects.filter(pk=first.pk).update(current=False)
    Annotation.objects.create(
        solution=solution,
        member=one,
        assignment=first.assignment,
        n_steps=3,
        version=2,
        labels=list(AT_ONE),
        stop=1,
        finish_reason="found_error",
    )

    assert build(project).stop.exact.value == 0.0


def test_what_does_not_count_does_not_enter(project: Project, one: Membership, other: Membership) -> None:
    solution = audited(project, one, other, SOUND, AT_ONE)
    Annotation.objects.filter(solution=solution, member=one).update(
        counted=False, uncounted_reason="quarantine"
    )

    stop = build(project).stop

    assert (stop.exact.value, stop.exact.reason) == (None, "no_pairable_units")


def test_who_gave_up_is_censored_but_has_a_finish_reason(
    project: Project, one: Membership, other: Membership
) -> None:
    row = make.work(project, wanted=2)
    handed_in(row.solution, one, 1, None, None, route="audit", finish_reason="give_up", stop=None)
    handed_in(row.solution, other, *SOUND, slot=1)

    report = build(project)

    assert report.stop.exact.value is None
    assert (report.finish.exact.value, report.finish.exact.n) == (0.0, 1)


def test_the_audit_prefix_says_how_many_errors_there_are_whatever_the_queue_put_first(
    project: Project, one: Membership, other: Membership
) -> None:
    audited(project, one, other, SOUND, SOUND, shuffle=0.1)
    audited(project, one, other, AT_ONE, AT_ONE, shuffle=0.2)
    for _ in range(2):
        risky = make.work(project, shuffle=0.9)
        handed_in(risky.solution, one, *AT_ONE)

    truth = build(project).truth

    assert (truth.audit_mean.value, truth.naive_mean.value) == (0.5, 0.75)


def test_groups_name_what_their_solutions_have_in_common(
    project: Project, one: Membership, other: Membership
) -> None:
    algebra, sets = (audited(project, one, other, SOUND, second) for second in (SOUND, AT_ONE))
    for solution, subject in ((algebra, "algebra"), (sets, "sets")):
        solution.problem.subject = subject
        solution.problem.save(update_fields=["subject"])

    groups = build(project).groups

    assert {row.name: row.figure.value for row in groups.subject} == {"algebra": 1.0, "sets": 0.0}
    assert [(row.name, row.figure.n) for row in groups.month] == [("2026-03", 2)]


def test_people_are_compared_with_gold_and_with_each_other_on_it(
    project: Project, one: Membership, other: Membership
) -> None:
    gold = make.gold(project, AT_ONE)
    checked(gold, one, *AT_ONE)
    checked(gold, other, *AT_TWO)

    report = build(project)

    assert (report.gold.gold.exact.value, report.gold.people.exact.value) == (0.5, 0.0)
    # Reached: steps 0 and 1 of each; one error caught, one passed.
    assert report.confusion == [[1, 0, 1], [0, 0, 0], [0, 0, 2]]


def test_a_person_has_both_error_rates_the_rolling_accuracy_and_the_cusum(
    project: Project, one: Membership
) -> None:
    for minutes, labels in enumerate([AT_ONE, SOUND, AT_ONE, (-1, None, None)]):
        checked(make.gold(project, AT_ONE), one, *labels, minutes=minutes)

    mine = person(build(project), one)

    assert (mine.items.value, mine.sensitivity.value, mine.false_alarms.value) == (0.5, 2 / 3, 1 / 4)
    assert mine.rolling == pytest.approx([1.0, 0.5, 0.667, 0.5])
    # Right takes 0.268 off, never below 0; wrong adds 0.847.
    assert mine.cusum == pytest.approx([0.0, 0.847, 0.579, 1.426], abs=0.002)


def test_gold_that_turned_out_wrong_says_nothing_of_anybody(project: Project, one: Membership) -> None:
    gold = make.gold(project, AT_ONE)
    checked(gold, one, *SOUND)
    gold.void = True
    gold.save(update_fields=["void"])

    report = build(project)

    assert (person(report, one).checks, report.gold.gold.exact.value) == (0, None)


def test_a_repeat_shows_whether_a_person_agrees_with_themselves(project: Project, one: Membership) -> None:
    for again in (SOUND, AT_ONE):
        row = make.work(project)
        handed_in(row.solution, one, *SOUND)
        handed_in(
            row.solution,
            one,
            *again,
            slot=None,
            round=2,
            purpose="repeat",
            counted=False,
            uncounted_reason="repeat",
        )

    assert person(build(project), one).consistency.value == 0.5


def test_pairs_of_people_are_counted_by_the_solutions_they_share(
    project: Project, one: Membership, other: Membership
) -> None:
    audited(project, one, other, SOUND, SOUND)
    audited(project, one, other, AT_ONE, AT_TWO)

    heat = build(project).heat

    assert (heat.n, heat.kappa[0][1]) == ([[0, 2], [2, 0]], 1.0)


def test_gold_health_counts_what_is_left_for_whoever_has_had_most(
    project: Project, one: Membership, other: Membership
) -> None:
    for labels in (AT_ONE, AT_ONE, SOUND, SOUND):
        make.gold(project, labels)
    for labels in (AT_ONE, SOUND):
        checked(make.gold(project, labels), one, *labels)

    health = build(project).gold_health

    assert (health.hidden, health.with_error.value, health.least_unseen) == (6, 0.5, 4)
    # Two in the last fortnight, four left.
    assert health.days_left == pytest.approx(28.0)


def test_an_empty_project_has_reasons_and_no_figures(project: Project) -> None:
    report = build(project)

    assert (report.stop.exact.value, report.stop.exact.reason) == (None, "no_data")
    assert "no labels yet" in words.headline(report)


def test_nobody_elses_project_shows(project: Project, one: Membership, other: Membership) -> None:
    elsewhere = make.project()
    audited(elsewhere, make.member(elsewhere), make.member(elsewhere), SOUND, SOUND)

    report = build(project)

    assert (report.sample.annotations, len(report.people)) == (0, 2)


def test_a_report_survives_being_kept(project: Project, one: Membership, other: Membership) -> None:
    audited(project, one, other, SOUND, AT_ONE)
    checked(make.gold(project, AT_ONE), one, *SOUND)
    report = build(project)

    assert from_json(to_json(report)) == report


def test_the_number_of_queries_does_not_grow_with_labels(
    project: Project,
    one: Membership,
    other: Membership,
    django_assert_num_queries: Any,
) -> None:
    audited(project, one, other, SOUND, AT_ONE)
    with django_assert_num_queries(15):
        build(project)
    for _ in range(5):
        audited(project, one, make.member(project), SOUND, AT_ONE)
        checked(make.gold(project, AT_ONE), one, *SOUND)
    with django_assert_num_queries(15):
        build(project)
    assert QueueRow.objects.filter(project=project).count() == 6
