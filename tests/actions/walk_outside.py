"""How to come to do the verbs by which something leaves: recipes, files, pictures, webhooks."""

from __future__ import annotations

from collections.abc import Callable

from django.test import override_settings

from annotator.actions import export_files, export_recipes, exports, hooks, pictures
from annotator.models import Webhook
from tests.actions.walk import Room

URL = "https://ci.example.org/"


def _file_asked(room: Room) -> Callable[[], object]:
    return lambda: export_files.ask(actor=room.manager, recipe=exports.Recipe())


def _recipe_saved(room: Room) -> Callable[[], object]:
    return lambda: export_recipes.save(actor=room.manager, name="x", recipe=exports.Recipe())


def _recipe_deleted(room: Room) -> Callable[[], object]:
    kept = export_recipes.save(actor=room.manager, name="x", recipe=exports.Recipe())
    return lambda: export_recipes.delete(actor=room.manager, recipe_id=kept.pk)


def _pictures_taken(room: Room) -> Callable[[], object]:
    return lambda: pictures.take(actor=room.manager)


def _hook_added(room: Room) -> Callable[[], object]:
    @override_settings(WEBHOOK_HOSTS=["ci.example.org"])
    def add() -> object:
        return hooks.add(actor=room.manager, url=URL, events=[hooks.Event.PAUSED])

    return add


def _on_hook(do: Callable[..., object], *, active: bool = True) -> Callable[[Room], Callable[[], object]]:
    def prepared(room: Room) -> Callable[[], object]:
        hook = Webhook.objects.create(project=room.project, url=URL, active=active)
        return lambda: do(actor=room.manager, hook_id=hook.pk)

    return prepared


#: As WALK.
OUTSIDE: dict[str, tuple[str, bool, Callable[[Room], Callable[[], object]]]] = {
    "export_files.ask": ("export:started", False, _file_asked),
    "export_recipes.delete": ("export:recipe_deleted", True, _recipe_deleted),
    "export_recipes.save": ("export:recipe_saved", True, _recipe_saved),
    "hooks.add": ("webhook:added", True, _hook_added),
    "hooks.delete": ("webhook:deleted", True, _on_hook(hooks.delete)),
    "hooks.pause": ("webhook:paused", True, _on_hook(hooks.pause)),
    "hooks.ping": ("webhook:pinged", False, _on_hook(hooks.ping)),
    "hooks.resume": ("webhook:resumed", True, _on_hook(hooks.resume, active=False)),
    "pictures.take": ("picture:taken", False, _pictures_taken),
}
