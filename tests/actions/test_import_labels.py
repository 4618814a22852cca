"""What an import does with the labels that a file brings."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from annotator.actions import queueing
from annotator.actions.import_rows import LabelsAs
from annotator.core.labels import Mode
from annotator.models import Annotation, Gold, Membership, Project, QueueRow, ReferenceLabels
from tests import factories as make
from tests.files import bring, native, processbench

pytestmark = pytest.mark.django_db

GOLD, ANNOTATIONS = LabelsAs.GOLD, LabelsAs.ANNOTATIONS


@pytest.fixture
def project() -> Project:
    return make.project()


def by(annotator: str, *labels: int | None, **fields: Any) -> dict[str, Any]:
    return {"annotator": annotator, "labels": list(labels), **fields}


def test_gold_accepts_what_its_labels_say_and_is_not_in_the_queue(project: Project) -> None:
    bring(project, processbench(label=1), labels=GOLD)

    assert (Gold.objects.get().accept, Gold.objects.get().source) == ([6, 1, 0], "import")
    assert not QueueRow.objects.exists()


def test_golds_own_masks_stand_above_its_labels(project: Project) -> None:
    bring(project, native(0, 1, 1, -1, gold={"accept": [6, 7, 1]}), labels=GOLD)

    assert Gold.objects.get().accept == [6, 7, 1]


def test_golds_labels_are_kept_as_reference_too(project: Project) -> None:
    bring(project, native(0, 1, 0, -1), labels=GOLD)

    assert ReferenceLabels.objects.get().labels == [1, 0, -1]


@pytest.mark.parametrize(
    "fields", [{}, {"labels": [None, None, None]}, {"gold": {"accept": [0, 0, 0]}}], ids=str
)
def test_gold_without_anything_to_check_is_rejected(project: Project, fields: dict[str, Any]) -> None:
    report = bring(project, native(0, 1, 1, 1), native(1) | fields, labels=GOLD)

    assert [(error.line, error.field) for error in report.errors] == [(2, "labels")]
    assert Gold.objects.count() == 1


def test_gold_is_never_handed_out_as_work(project: Project) -> None:
    bring(project, processbench(), labels=GOLD)

    with pytest.raises(queueing.NothingForYou):
        queueing.next_assignment(actor=make.actor(project))


def test_annotators_of_a_file_are_members_without_users(project: Project) -> None:
    row = native(0, annotations=[by("ann", 1, 1, 1), by("bob", 1, -1, None)])
    bring(project, row, labels=ANNOTATIONS)

    members = Membership.objects.filter(project=project)
    assert set(members.values_list("pseudonym", "user")) == {("imported:ann", None), ("imported:bob", None)}


def test_imported_annotations_are_people_s_but_do_not_count(project: Project) -> None:
    bring(project, native(0, annotations=[by("ann", 1, -1, None)]), labels=ANNOTATIONS)

    annotation = Annotation.objects.get()
    assert (annotation.labels, annotation.stop, annotation.source) == ([1, -1, None], 1, "imported")
    assert (annotation.counted, annotation.uncounted_reason) == (False, "imported")
    assert QueueRow.objects.get().taken == 0


def test_all_that_an_annotation_says_is_kept(project: Project) -> None:
    said = by(
        "ann", 1, None, None, finish_reason="give_up", active_seconds=9.5, details={"reason": "too long"}
    )
    said["submitted_at"] = "2025-01-31T12:00:00+02:00"
    bring(project, native(0, annotations=[said]), labels=ANNOTATIONS)

    annotation = Annotation.objects.get()
    assert (annotation.finish_reason, annotation.active_seconds) == ("give_up", 9.5)
    assert annotation.details == {"reason": "too long"}
    assert annotation.submitted_at == datetime(2025, 1, 31, 10, tzinfo=UTC)


def test_labels_without_a_name_belong_to_nobody_in_particular(project: Project) -> None:
    bring(project, processbench(label=1), labels=ANNOTATIONS)

    annotation = Annotation.objects.get()
    assert (annotation.member.pseudonym, annotation.finish_reason) == ("imported", "found_error")


def test_a_person_who_stands_twice_in_a_row_changed_their_mind(project: Project) -> None:
    row = native(0, annotations=[by("ann", 1, 1, 1), by("ann", 1, -1, None)])
    bring(project, row, labels=ANNOTATIONS)

    versions = Annotation.objects.order_by("version").values_list("version", "current", "labels")
    assert list(versions) == [(1, False, [1, 1, 1]), (2, True, [1, -1, None])]


def test_an_imported_person_is_one_person_in_all_files(project: Project) -> None:
    for number in range(2):
        bring(project, native(number, annotations=[by("ann", 1, 1, 1)]), labels=ANNOTATIONS)

    assert (Membership.objects.count(), Annotation.objects.count()) == (1, 2)


def test_an_imported_person_is_never_taken_for_one_of_ours(project: Project) -> None:
    ours = make.member(project)
    bring(project, native(0, annotations=[by(ours.pseudonym, 1, 1, 1)]), labels=ANNOTATIONS)

    assert Annotation.objects.get().member != ours


def test_long_names_that_begin_alike_are_two_people(project: Project) -> None:
    names = ["x" * 200 + end for end in ("1", "2")]
    bring(project, native(0, annotations=[by(name, 1, 1, 1) for name in names]), labels=ANNOTATIONS)

    assert Membership.objects.count() == 2


@pytest.mark.parametrize(
    ("mode", "said", "message"),
    [
        pytest.param(Mode.FIRST_ERROR, by("ann", -1, 1, 1), "after the first incorrect", id="goes on"),
        pytest.param(Mode.FIRST_ERROR, by("ann", 1, 1, None), "step 3 has no label", id="a gap"),
        pytest.param(Mode.ALL_STEPS, by("ann", 1, -1, None), "", id="stops"),
        pytest.param(
            Mode.ALL_STEPS, by("ann", 1, 1, 1, finish_reason="found_error"), "'solution'", id="reason"
        ),
    ],
)
def test_labels_that_do_not_fit_the_projects_mode_are_rejected(
    mode: Mode, said: dict[str, Any], message: str
) -> None:
    project = make.project(mode=mode)
    fits = by("bob", 1, 1, 1)
    report = bring(project, native(0), native(1, annotations=[fits, said]), labels=ANNOTATIONS)

    assert [(error.line, error.field) for error in report.errors] == [
        (1, "annotations"),
        (2, "annotations[1].labels"),
    ]
    assert message in report.errors[1].message
    assert f"project mode: {mode.value}" in report.errors[1].message


def test_in_all_steps_labels_after_an_error_are_taken_as_a_persons() -> None:
    project = make.project(mode=Mode.ALL_STEPS)
    said = by("ann", 1, -1, 1)
    report = bring(project, native(0, mode="all_steps", annotations=[said]), labels=ANNOTATIONS)

    assert (report.imported, Annotation.objects.get().finish_reason) == (1, "solution")


def test_the_finish_reason_follows_from_the_projects_mode_where_the_file_names_none() -> None:
    project = make.project(mode=Mode.ALL_STEPS)
    report = bring(project, native(0, annotations=[by("ann", 1, -1, 1)]), labels=ANNOTATIONS)

    assert report.rejected == 0
