"""Choices of exports under a name, to be made again."""

from __future__ import annotations

from django.db import transaction

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.actions.export_choices import Recipe
from annotator.core.codecs.writing import format_named
from annotator.core.details import is_text
from annotator.models import AuditEvent, ExportRecipe, Project

MOST = 100


class NoSuchRecipe(LookupError):
    """This project keeps no choices under that name."""


class CannotKeep(ValueError):
    """A name that a recipe can't have, or one recipe too many; the message says which."""


@transaction.atomic
def save(*, actor: Actor, name: str, recipe: Recipe) -> ExportRecipe:
    """Keep the choices under a name, in place of what was kept under it. Raises CannotKeep, UnknownFormat."""
    access.require(actor, Verb.EXPORT)
    named = " ".join(name.split())
    if not named or len(named) > 100 or not is_text(named):
        raise CannotKeep("A recipe needs a name of at most 100 characters.")
    format_named(recipe.format)
    Project.objects.select_for_update(no_key=True).get(pk=actor.project_id)
    mine = ExportRecipe.objects.filter(project_id=actor.project_id)
    kept = mine.filter(name=named).first()
    if kept is None and mine.count() >= MOST:
        raise CannotKeep(f"A project keeps at most {MOST} recipes; delete one that is no longer used.")
    before = kept.options if kept else None
    kept = kept or ExportRecipe(project_id=actor.project_id, name=named)
    kept.options, kept.member_id = recipe.to_json(), actor.member_id
    kept.save()
    _record(actor, "export:recipe_saved", named, {"before": before, "after": kept.options})
    return kept


@transaction.atomic
def delete(*, actor: Actor, recipe_id: int) -> None:
    """Forget a recipe; what was exported with it stays in the history. Raises NoSuchRecipe."""
    access.require(actor, Verb.EXPORT)
    kept = ExportRecipe.objects.filter(project_id=actor.project_id, pk=recipe_id).first()
    if kept is None:
        raise NoSuchRecipe("There is no such recipe; perhaps somebody deleted it.")
    _record(actor, "export:recipe_deleted", kept.name, {"before": kept.options, "after": None})
    kept.delete()


def find(*, actor: Actor, name: str) -> tuple[ExportRecipe, Recipe]:
    """What is kept under a name. Raises NotAllowed, NoSuchRecipe, and ValueError where it can't be read any more."""
    access.require(actor, Verb.EXPORT)
    kept = ExportRecipe.objects.filter(project_id=actor.project_id, name=name).first()
    if kept is None:
        raise NoSuchRecipe(f"There is no recipe '{name[:100]}' in this project.")
    return kept, Recipe.from_json(kept.options)


def _record(actor: Actor, event: str, name: str, data: dict[str, object]) -> None:
    AuditEvent.objects.record(
        event, f"recipe {name}"[:100], project_id=actor.project_id, member_id=actor.member_id, data=data
    )
