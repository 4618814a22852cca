"""Pictures on pages: for members of their project alone, and never anything but a picture."""

from __future__ import annotations

import zipfile
from io import BytesIO

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from annotator.actions import pictures
from annotator.models import Attachment, AuditEvent, Problem, Project, Role
from tests import factories as make
from tests.api.conftest import script_in
from tests.core.test_pictures import drawn
from tests.web.conftest import People, signed_in_to

pytestmark = pytest.mark.django_db
PAGE = "/p/maths/pictures/"


@pytest.fixture
def kept(project: Project) -> Attachment:
    return pictures.keep(actor=make.actor(project, Role.MANAGER), data=drawn())


def test_managers_get_the_page_and_others_do_not(people: People, project: Project) -> None:
    reviewer = signed_in_to(project, Role.REVIEWER)
    everybody = (people.manager, reviewer, people.annotator, people.stranger, people.nobody)
    assert [who.get(PAGE).status_code for who in everybody] == [200, 403, 403, 404, 302]


def test_members_see_a_picture_and_strangers_do_not(people: People, kept: Attachment) -> None:
    path = f"/p/maths/files/{kept.sha256}"
    everybody = (people.manager, people.annotator, people.stranger, people.nobody)
    assert [who.get(path).status_code for who in everybody] == [200, 200, 404, 302]


def test_a_picture_can_do_nothing_but_be_seen(people: People, kept: Attachment) -> None:
    reply = people.annotator.get(f"/p/maths/files/{kept.sha256}")
    assert reply["Content-Type"] == "image/png"
    assert reply["X-Content-Type-Options"] == "nosniff"
    assert reply["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert "immutable" in reply["Cache-Control"]


@pytest.mark.parametrize("sha256", ["0" * 64, "nothing", "..%2f..%2fetc"])
def test_what_is_not_kept_is_not_there(people: People, project: Project, sha256: str) -> None:
    assert people.manager.get(f"/p/maths/files/{sha256}").status_code == 404


def test_a_picture_is_uploaded(people: People, project: Project) -> None:
    page = people.manager.post(PAGE, {"file": SimpleUploadedFile("a.png", drawn())}, follow=True)
    assert f"Rows name it images/{Attachment.objects.get().sha256}.png." in page.content.decode()


@pytest.mark.parametrize("data", [b"<svg/>", b""])
def test_what_is_no_picture_is_refused(people: People, project: Project, data: bytes) -> None:
    reply = people.manager.post(PAGE, {"file": SimpleUploadedFile("a.png", data)} if data else {})
    assert (reply.status_code, Attachment.objects.count()) == (422, 0)
    assert 'role="alert"' in reply.content.decode()


def test_a_picture_is_attached_and_a_refused_form_keeps_what_was_typed(
    people: People, project: Project, kept: Attachment
) -> None:
    path = f"{PAGE}{kept.sha256}/attach"
    refused = people.manager.post(path, {"problem": "p1", "alt": "A cat"})
    assert (refused.status_code, 'value="A cat"' in refused.content.decode()) == (422, True)
    Problem.objects.filter(pk=make.work(project).solution.problem_id).update(external_id="p1")
    people.manager.post(path, {"problem": "p1", "alt": "A cat"})
    bench = people.annotator.get("/p/maths/label/").content.decode()
    assert f'<img src="/p/maths/files/{kept.sha256}" alt="A cat"' in bench


def test_all_pictures_leave_as_a_zip(people: People, kept: Attachment) -> None:
    reply = people.manager.get("/p/maths/pictures.zip")
    with zipfile.ZipFile(BytesIO(b"".join(reply.streaming_content))) as archive:  # type: ignore[attr-defined]
        assert archive.namelist() == [f"images/{kept.sha256}.png"]
        assert archive.read(archive.namelist()[0]) == bytes(kept.data)
    assert people.annotator.get("/p/maths/pictures.zip").status_code == 403
    assert AuditEvent.objects.filter(name="picture:taken").values_list("data", flat=True).get() == {
        "pictures": 1
    }


def test_a_script_keeps_a_picture_and_one_who_judges_gets_it(project: Project) -> None:
    manager, annotator = script_in(project, Role.MANAGER), script_in(project)
    sent = {"file": SimpleUploadedFile("a.png", drawn())}
    told = manager.post("/api/v1/projects/maths/attachments", sent).json()
    assert (told["width"], told["height"], told["src"]) == (6, 4, f"images/{told['sha256']}.png")
    solution = make.work(project).solution
    Problem.objects.filter(pk=solution.problem_id).update(images=[{"sha256": told["sha256"], "alt": "A cat"}])
    handed = annotator.post("/api/v1/projects/maths/assignments/next").json()
    (image,) = handed["problem"]["images"]
    assert image["alt"] == "A cat"
    assert annotator.get(image["url"])["Content-Type"] == "image/png"


def test_a_script_is_told_what_is_no_picture(project: Project) -> None:
    sent = {"file": SimpleUploadedFile("a.png", b"<svg/>")}
    reply = script_in(project, Role.MANAGER).post("/api/v1/projects/maths/attachments", sent)
    assert (reply.status_code, reply.json()["code"]) == (422, "picture")


@pytest.mark.parametrize("sha256", ["%00", "images%2f", "A" * 64])
def test_the_api_has_no_picture_under_what_is_no_hash(people: People, project: Project, sha256: str) -> None:
    path = f"/api/v1/projects/maths/attachments/{sha256}"
    assert people.annotator.get(path).status_code == 404
