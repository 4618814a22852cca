"""Pictures of problems: in with the rows of a zip, out as files, kept once."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from annotator.actions import access, exports, imports, pictures
from annotator.actions.access import Actor, NotAllowed
from annotator.actions.export_choices import Recipe
from annotator.actions.imports import Report, Source
from annotator.actions.pictures import CannotAttach
from annotator.models import Attachment, Problem, Project, Role, Solution
from annotator.queries.pictures import every
from tests import factories as make
from tests.actions.flow import label
from tests.core.test_pictures import drawn
from tests.files import native

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


@pytest.fixture
def manager(project: Project) -> Actor:
    return make.actor(project, Role.MANAGER)


def row(number: int, *images: Any) -> dict[str, Any]:
    made = native(number)
    return {**made, "problem": {**made["problem"], "images": list(images)}}


def bring(project: Project, folder: Path, files: dict[str, bytes], *rows: dict[str, Any]) -> Report:
    """Import a zip of rows and files."""
    path = folder / "rows.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("set/rows.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        for name, data in files.items():
            archive.writestr(name, data)
    with path.open("rb") as file:
        return imports.run(actor=access.operator(project), source=Source(file, "rows.zip"))


def test_a_row_brings_the_picture_that_lies_beside_it(project: Project, tmp_path: Path) -> None:
    named = {"src": "images/triangle.png", "alt": "A triangle"}
    report = bring(project, tmp_path, {"set/images/triangle.png": drawn()}, row(1, named))
    assert (report.read, report.imported, report.rejected) == (1, 1, 0)
    kept = Attachment.objects.get(project=project)
    assert Problem.objects.get().images == [{"sha256": kept.sha256, "alt": "A triangle"}]
    assert (kept.width, kept.height, kept.media_type) == (6, 4, "image/png")


@pytest.mark.parametrize("src", ["no.png", "../../etc/passwd", "/etc/passwd", "https://example.org/a.png"])
def test_a_picture_that_is_not_in_the_zip_costs_its_row_alone(
    project: Project, tmp_path: Path, src: str
) -> None:
    report = bring(project, tmp_path, {}, row(1, src), row(2))
    assert (report.imported, report.rejected) == (1, 1)
    error = report.errors[0]
    assert (error.line, error.field) == (1, "problem.images[0].src")
    assert "expected a picture in the same zip" in error.message


def test_a_picture_over_the_cap_costs_its_row_alone_and_is_not_unpacked(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("annotator.core.pictures.MAX_BYTES", 1024**2)
    report = bring(project, tmp_path, {"set/a.png": b"a" * (1024**2 + 1)}, row(1, "a.png"), row(2))
    assert (report.imported, report.errors[0].message) == (1, "A picture has at most 1 MB.")


def test_a_file_that_is_no_picture_costs_its_row_alone(project: Project, tmp_path: Path) -> None:
    report = bring(project, tmp_path, {"set/a.png": b"<svg onload='x'/>"}, row(1, "a.png"), row(2))
    assert (report.imported, report.errors[0].message) == (
        1,
        "This is no PNG, JPEG, WebP or GIF that can be read.",
    )


def test_the_same_words_with_another_picture_are_another_problem(project: Project, tmp_path: Path) -> None:
    files = {"set/a.png": drawn(), "set/b.png": drawn(size=(9, 9))}
    report = bring(project, tmp_path, files, row(1, "a.png"), row(1, "b.png"), row(1, "a.png"))
    assert (report.imported, report.duplicates, Problem.objects.count()) == (2, 1, 2)


def test_what_was_exported_comes_back_the_same(project: Project, manager: Actor, tmp_path: Path) -> None:
    bring(project, tmp_path, {"set/a.jpg": drawn("JPEG")}, row(1, {"src": "a.jpg", "alt": "A cat"}))
    label(make.actor(project), 1, 1, 1)
    (line,) = exports.start(actor=manager, recipe=Recipe(format="native"))
    files = {f"set/{name}": data for name, data in every(project.pk)}
    other = make.project()
    assert bring(other, tmp_path, files, json.loads(line)).imported == 1
    assert Problem.objects.get(project=other).images == Problem.objects.get(project=project).images
    before, after = Solution.objects.order_by("pk")
    assert bytes(before.content_hash) == bytes(after.content_hash)


def test_a_picture_is_kept_once(project: Project, manager: Actor) -> None:
    first = pictures.keep(actor=manager, data=drawn())
    assert pictures.keep(actor=manager, data=drawn()).pk == first.pk


def test_only_managers_keep_pictures(project: Project) -> None:
    with pytest.raises(NotAllowed):
        pictures.keep(actor=make.actor(project, Role.REVIEWER), data=drawn())


def test_a_kept_picture_is_attached_to_a_problem(project: Project, manager: Actor) -> None:
    solution = make.solution(project)
    Problem.objects.filter(pk=solution.problem_id).update(external_id="p1")
    kept = pictures.keep(actor=manager, data=drawn())
    done = pictures.attach(actor=manager, problem="p1", sha256=kept.sha256, alt=" A cat ")
    assert done.images == [{"sha256": kept.sha256, "alt": "A cat"}]


def test_what_somebody_has_judged_keeps_its_looks(project: Project, manager: Actor) -> None:
    work = make.work(project)
    Problem.objects.filter(pk=work.solution.problem_id).update(external_id="p1")
    label(make.actor(project), 1, 1, 1)
    kept = pictures.keep(actor=manager, data=drawn())
    with pytest.raises(CannotAttach, match="Somebody has judged 'p1'"):
        pictures.attach(actor=manager, problem="p1", sha256=kept.sha256, alt="")


def test_another_projects_picture_is_not_attached(project: Project, manager: Actor) -> None:
    solution = make.solution(project)
    Problem.objects.filter(pk=solution.problem_id).update(external_id="p1")
    theirs = pictures.keep(actor=make.actor(make.project(), Role.MANAGER), data=drawn())
    with pytest.raises(CannotAttach, match="no such picture"):
        pictures.attach(actor=manager, problem="p1", sha256=theirs.sha256, alt="")


def test_a_problem_has_twenty_pictures_at_most(project: Project, manager: Actor) -> None:
    kept = pictures.keep(actor=manager, data=drawn())
    shown = [{"sha256": f"{number:064x}", "alt": ""} for number in range(20)]
    problem_id = make.solution(project).problem_id
    Problem.objects.filter(pk=problem_id).update(external_id="p1", images=shown)
    with pytest.raises(CannotAttach, match="A problem has at most 20 pictures"):
        pictures.attach(actor=manager, problem="p1", sha256=kept.sha256, alt="")
