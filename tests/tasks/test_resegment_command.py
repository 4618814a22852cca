"""Cutting a part of a project anew from the shell."""

from __future__ import annotations

import pytest

from annotator.models import Project, Solution
from tests import factories as make
from tests.tasks.commands import DONE, UNUSABLE, Ended

pytestmark = pytest.mark.django_db


@pytest.fixture
def old() -> Solution:
    project = make.project(slug="algebra")
    return make.work(project, texts=("One. Two.", "three")).solution


def test_a_dry_run_counts_and_changes_nothing(old: Solution) -> None:
    words = ("--project", "algebra", "--rule", "sentence", "--import", old.batch_id)
    ended = Ended("resegment", *words, "--dry-run", "--json")
    assert (ended.status, ended.json) == (DONE, {"changed": 1, "same": 0, "refused": []})
    assert Solution.objects.count() == 1


def test_a_part_is_cut_anew(old: Solution) -> None:
    ended = Ended("resegment", "--project", "algebra", "--rule", "sentence", "--import", old.batch_id)
    assert ended.status == DONE
    assert [step["text"] for step in Solution.objects.get(derived_from=old).steps] == [
        "One.",
        "Two.",
        "three",
    ]


@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=["in earnest", "dry"])
def test_a_part_that_is_none_of_the_projects_is_refused(old: Solution, more: tuple[str, ...]) -> None:
    theirs = make.work(make.project()).solution.batch_id
    ended = Ended("resegment", "--project", "algebra", "--rule", "sentence", "--import", theirs, *more)
    assert (ended.status, "No solution in this project is of" in ended.err) == (UNUSABLE, True)


def test_without_a_part_nothing_is_cut(old: Solution) -> None:
    ended = Ended("resegment", "--project", "algebra", "--rule", "sentence")
    assert (ended.status, Project.objects.get().solutions.count()) == (UNUSABLE, 1)
