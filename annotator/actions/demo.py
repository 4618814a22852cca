"""The demo project: content of our own, brought in through the same door as any file."""

from __future__ import annotations

import io

import orjson
from django.contrib.auth.models import User

from annotator.actions import access, imports, projects, scorers, second_pass
from annotator.actions.import_rows import LabelsAs
from annotator.actions.imports import Source
from annotator.core.codecs import codec_named
from annotator.core.codecs.base import ExportRow
from annotator.core.codecs.policies import Policies
from annotator.core.demo import GUIDELINES, PRACTICE, DemoItem, demo_set, practice_note
from annotator.models import Assignment, Gold, ImportBatch, Membership, Project, Role

SLUG = "demo"
REFINED = "builtin_refined"
PASSWORD = "stepmark-demo"  # noqa: S105  known on purpose; seed_demo is refused in production
LOGINS = [
    ("annotator", PASSWORD, Role.ANNOTATOR.value),
    ("second-annotator", PASSWORD, Role.ANNOTATOR.value),
    ("manager", PASSWORD, Role.MANAGER.value),
]


def seed() -> Project:
    """The demo project with its people and content, made where it is missing."""
    project = Project.objects.filter(slug=SLUG).first() or projects.create(
        new=projects.NewProject(slug=SLUG, name="Demo: judge the steps", gold_rate=0.1, guidelines=GUIDELINES)
    )
    for name, password, role in LOGINS:
        _person(project, name, password, Role(role))
    if not ImportBatch.objects.filter(project=project, state=ImportBatch.State.DONE).count() >= 2:
        items = demo_set()
        _bring_in(project, [item for item in items if item.gold], LabelsAs.GOLD, "demo-gold.jsonl")
        _bring_in(project, [item for item in items if not item.gold], LabelsAs.REFERENCE, "demo.jsonl")
    _practice(project)
    _second_pass(project)
    return project


def _second_pass(project: Project) -> None:
    """The built-in scorer refined by a small language model, where that is installed."""
    if project.scorers.filter(kind=REFINED).exists():
        return
    actor = access.operator(project)
    try:
        made = scorers.add(actor=actor, name="refined", kind=REFINED, config={})
    except scorers.Refused:
        return
    second_pass.refine(
        actor=actor, scorer_id=made.pk, refines_id=project.scorers.get(name=projects.BUILTIN).pk
    )


def _practice(project: Project) -> None:
    """Some gold items become practice, each with a note; none that somebody has had as a hidden check."""
    had = Assignment.objects.filter(project=project).values("solution_id")
    items = Gold.objects.filter(
        project=project, use=Gold.Use.HIDDEN, solution__external_id__in=PRACTICE
    ).exclude(solution_id__in=had)
    for item in items.select_related("solution__reference"):
        item.use = Gold.Use.PRACTICE
        meta = item.solution.meta
        item.note = practice_note(
            item.solution.reference.labels,
            meta.get("error_kind"),
            taken_back=bool(meta.get("self_corrected")),
        )
        item.save(update_fields=["use", "note"])


def _person(project: Project, name: str, password: str, role: Role) -> None:
    user = User.objects.filter(username=name).first() or projects.create_user(
        username=name, password=password, check_strength=False
    )
    if not Membership.objects.filter(project=project, user=user).exists():
        projects.add_member(project=project, user=user, role=role)


def _bring_in(project: Project, items: list[DemoItem], labels_as: LabelsAs, filename: str) -> None:
    native = codec_named("native")
    lines = io.BytesIO()
    for item in items:
        for value in native.write(ExportRow(item.record), Policies()).objects:
            lines.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
    lines.seek(0)
    source = Source(file=lines, filename=filename, format="native", labels_as=labels_as)
    imports.run(actor=access.operator(project), source=source)
