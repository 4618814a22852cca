"""Every verb that somebody can ask for leaves its event, with what was before and after where something changed."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest
from django.db import DatabaseError, transaction

import annotator.actions
from annotator.actions import (
    projects,
    queueing,
)
from annotator.models import (
    Assignment,
    AuditEvent,
    Project,
    Role,
)
from annotator.queries.audit import TOPICS
from tests import factories as make
from tests.actions.walk import WALK as INSIDE
from tests.actions.walk import Room
from tests.actions.walk_outside import OUTSIDE

pytestmark = pytest.mark.django_db

WALK = INSIDE | OUTSIDE
#: Verbs whose own rows are the record, with the reason.
WITHOUT_EVENT = {
    "access.may": "asks only",
    "access.require": "asks only",
    "labeling.own_assignment": "asks only",
    "labeling.save_draft": "a draft is nobody's label yet; it ends with a submit, which is told",
    "labeling.close_again": "leaves all as it was",
    "recutting.count": "asks only",
    "recutting.preview": "asks only",
    "queueing.next_assignment": "the assignment is the record: who, what, when, by which route",
    "queueing.next_practice": "as next_assignment",
    "imports.run": "held in test_audit.py, with files",
    "exports.manifest_of": "asks only; the export it describes is told",
    "export_files.file_of": "asks only; the export that made the file is told",
    "export_recipes.find": "asks only",
    "uploads.find": "asks only",
    "uploads.forget": "nothing of it was imported",
    "uploads.keep": "only looked at until it is imported, which is told",
    "import_jobs.start": "held in test_import_jobs.py, with files",
    "import_jobs.start_once": "as import_jobs.start",
    "imports.open_batch": "a part of imports.run and import_jobs.start",
    "imports.record": "writes the events of the others",
    "imports.resume": "held in test_import_jobs.py, with files",
    "scorers.kind_of": "asks only",
    "scorers.own_scorer": "asks only",
    "scorers.try_on": "keeps nothing",
}

#: Modules whose verbs are walked by their own tests; here it is enough that each names its event.
BY_READING = {"scorers"}


@pytest.fixture
def room() -> Room:
    project = make.project()
    Project.objects.filter(pk=project.pk).update(aid_answer=True)
    return Room(
        project=Project.objects.get(pk=project.pk),
        manager=make.actor(project, Role.MANAGER),
        reviewer=make.actor(project, Role.REVIEWER),
        annotator=make.actor(project),
        other=make.member(project),
    )


def verbs() -> set[str]:
    """Every public function of the actions that somebody asks for: it takes an actor."""
    found = set()
    for info in pkgutil.iter_modules(annotator.actions.__path__):
        module = importlib.import_module(f"annotator.actions.{info.name}")
        for name, each in inspect.getmembers(module, inspect.isfunction):
            own = inspect.unwrap(each).__module__ == module.__name__ and not name.startswith("_")
            if own and "actor" in inspect.signature(each).parameters:
                found.add(f"{info.name}.{name}")
    return found


def test_every_verb_is_either_walked_or_has_a_reason_to_leave_no_event() -> None:
    left = {verb for verb in verbs() if verb not in WALK and verb not in WITHOUT_EVENT}
    assert not {verb for verb in left if verb.split(".")[0] not in BY_READING}
    assert not set(WALK) & set(WITHOUT_EVENT)


def test_verbs_that_are_not_walked_write_an_event_in_their_own_body() -> None:
    left = {verb for verb in verbs() if verb not in WALK and verb not in WITHOUT_EVENT}
    for verb in left:
        module, name = verb.split(".")
        function = getattr(importlib.import_module(f"annotator.actions.{module}"), name)
        assert re.search(
            r"_record\(|AuditEvent\.objects\.record\(", inspect.getsource(inspect.unwrap(function))
        ), verb


@pytest.mark.parametrize("verb", sorted(WALK))
def test_the_verb_leaves_its_event_with_its_actor(room: Room, verb: str) -> None:
    name, says_both, prepare = WALK[verb]
    do = prepare(room)
    known = set(AuditEvent.objects.values_list("pk", flat=True))
    do()

    event = AuditEvent.objects.exclude(pk__in=known).filter(name=name).get()

    actors = {room.manager.member_id, room.reviewer.member_id, room.annotator.member_id}
    assert (event.project_id, event.member_id in actors) == (room.project.pk, True)
    if says_both:
        assert event.data["before"] != event.data["after"]


@pytest.mark.parametrize("verb", ["members.change", "gold.retire", "adjudication.decide"])
def test_what_is_rolled_back_leaves_no_event(room: Room, verb: str) -> None:
    do = WALK[verb][2](room)
    before = AuditEvent.objects.count()

    class Broken(Exception):
        pass

    def broken_off() -> None:
        with transaction.atomic():
            do()
            raise Broken

    with pytest.raises(Broken):
        broken_off()
    assert AuditEvent.objects.count() == before


def test_events_can_neither_be_changed_nor_deleted(room: Room) -> None:
    projects.write_guidelines(actor=room.manager, text="x")
    for attempt in (lambda: AuditEvent.objects.update(name="x"), lambda: AuditEvent.objects.all().delete()):
        with pytest.raises(DatabaseError), transaction.atomic():
            attempt()


def test_a_lapsed_lease_is_told_too(room: Room) -> None:
    held = room.held()
    Assignment.objects.filter(pk=held.pk).update(lease_expires_at=held.claimed_at)
    queueing.reclaim()
    assert AuditEvent.objects.filter(name="assignment:expired", subject=f"assignment {held.pk}").exists()


def test_the_log_can_be_filtered_by_every_topic_that_the_code_writes() -> None:
    sources = [path.read_text() for path in Path(annotator.actions.__path__[0]).glob("*.py")]
    named = re.findall(r'f?"([a-z]+):[a-z_{]', "\n".join(sources))
    assert set(named) <= set(TOPICS)
