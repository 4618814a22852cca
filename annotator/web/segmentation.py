"""Steps that are too coarse or too fine: what people reported, one solution cut otherwise, many cut by a rule."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import orjson
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from annotator.actions import access, recutting, resegmenting
from annotator.actions.access import Actor, Verb
from annotator.actions.recutting import Recut
from annotator.actions.resegmenting import CannotResegment, NoSuchSolution
from annotator.actions.reserving import NothingChosen, Where
from annotator.core.segmentation import Rule, UnknownRule, changes
from annotator.core.segmentation.changes import CannotChange
from annotator.core.solutions import Step
from annotator.queries import segmentation
from annotator.queries.projects import project_of
from annotator.queries.segmentation import ForCutting
from annotator.web.doors import member

#: Changes that one visit may hold; a longer list is a rule.
MOST_CHANGES = 200
RULES = [rule for rule in Rule if rule is not Rule.PRE]


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """What people reported, what was changed, and the form for a batch with its preview."""
    access.require(actor, Verb.MANAGE)
    if request.method != "POST":
        return _page(request, actor)
    where, rule = _where(request), request.POST.get("rule", "")
    try:
        if recutting.count(actor=actor, where=where) > recutting.MOST:
            said = gettext("That is more than %(most)s solutions: choose a smaller part, or use the command.")
            return _page(request, actor, error=said % {"most": f"{recutting.MOST:,}"}, status=422)
        if request.POST.get("do") != "apply":
            return _previewed(request, actor, where, rule)
        if request.POST.get("seen") != _seen(where, rule):
            said = gettext("You have chosen otherwise since you looked. This is what would change now.")
            return _previewed(request, actor, where, rule, said)
        done = recutting.recut(actor=actor, where=where, rule=rule)
    except (NothingChosen, UnknownRule) as error:
        return _page(request, actor, error=str(error), status=422)
    messages.success(request, _told(done))
    return HttpResponseRedirect(reverse("segmentation", args=[actor.slug]))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@member
def cut(request: HttpRequest, actor: Actor, solution_id: int) -> HttpResponse:
    """One solution: each button is one change; the page shows what came of all of them, until they are applied."""
    access.require(actor, Verb.MANAGE)
    found = segmentation.for_cutting(actor.project_id, solution_id)
    if found is None:
        raise Http404("This solution isn't there, or was cut otherwise meanwhile.")
    plan = _plan(request.POST.get("plan", ""))
    do = request.POST.get("do", "")
    if do == "back":
        plan = plan[:-1]
    elif do and do != "apply":
        plan = [*plan, do]
    steps, plan, error = _changed(found.steps, plan)
    if do == "apply" and not error:
        try:
            return _apply(request, actor, found, steps)
        except (CannotResegment, NoSuchSolution) as refused:
            error = str(refused) or gettext("Somebody else has changed it meanwhile.")
    return _cut_page(request, actor, found, steps, plan, error)


@require_POST
@member
def undo(request: HttpRequest, actor: Actor, solution_id: int) -> HttpResponse:
    """Bring the earlier segmentation back, while nobody has judged the new one."""
    try:
        resegmenting.undo(actor=actor, solution_id=solution_id)
    except CannotResegment as error:
        messages.error(request, str(error))
    except NoSuchSolution:
        messages.error(request, gettext("This was changed meanwhile; nothing was done."))
    else:
        messages.success(request, gettext("The earlier steps are back."))
    return HttpResponseRedirect(reverse("segmentation", args=[actor.slug]))


def _apply(request: HttpRequest, actor: Actor, found: ForCutting, steps: Sequence[Step]) -> HttpResponse:
    done = resegmenting.resegment(actor=actor, solution_id=found.solution_id, steps=steps).carried
    messages.success(
        request,
        gettext("Cut anew: %(labels)s labels went over, %(drafts)s come back to their people as drafts.")
        % {"labels": done.labels, "drafts": done.drafts},
    )
    return HttpResponseRedirect(reverse("segmentation", args=[actor.slug]))


def _changed(steps: Sequence[Step], plan: Sequence[str]) -> tuple[tuple[Step, ...], list[str], str]:
    """The steps after a list of changes, those of them that could be done, and why the next one couldn't ("")."""
    done = tuple(steps)
    for number, change in enumerate(plan):
        try:
            if number == MOST_CHANGES:
                raise CannotChange(f"one visit makes at most {MOST_CHANGES} changes")
            done = _after(done, change)
        except CannotChange as refused:
            said = gettext("That can't be done: %(why)s.") % {"why": refused}
            return done, list(plan[:number]), said
    return done, list(plan), ""


def _after(steps: tuple[Step, ...], change: str) -> tuple[Step, ...]:
    """The steps after one change: "merge:2", "split:2:14". Raises CannotChange."""
    what, *numbers = change.split(":")
    if not all(each.isascii() and each.isdecimal() and len(each) < 8 for each in numbers):
        raise CannotChange("this is no change that the page offers")
    match what, [int(each) for each in numbers]:
        case "merge", [index]:
            return changes.merged(steps, index)
        case "split", [index, at]:
            return changes.split(steps, index, at)
    raise CannotChange("this is no change that the page offers")


def _plan(text: str) -> list[str]:
    try:
        plan = orjson.loads(text or "[]")
    except orjson.JSONDecodeError:
        return []
    known = isinstance(plan, list) and all(isinstance(each, str) for each in plan)
    return plan[:MOST_CHANGES] if known else []


def _cut_page(
    request: HttpRequest,
    actor: Actor,
    found: ForCutting,
    steps: Sequence[Step],
    plan: Sequence[str],
    error: str,
) -> HttpResponse:
    context: dict[str, Any] = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "found": found,
        "steps": [_shown(index, step, found, plan) for index, step in enumerate(steps)],
        "plan": orjson.dumps(list(plan)).decode(),
        "changed": bool(plan),
        "effect": segmentation.effect(found.solution_id, found.steps, steps) if plan else None,
        "error": error,
    }
    return render(request, "segmentation/cut.html", context, status=422 if error else 200)


def _shown(index: int, step: Step, found: ForCutting, plan: Sequence[str]) -> dict[str, Any]:
    """A step in the pieces that it could be split into; reports are offered until the first change moves them."""
    places = [0, *changes.places_to_split(step.text), len(step.text)] if step.judged else [0, len(step.text)]
    pieces = [{"text": step.text[low:high], "at": low} for low, high in pairwise(places)]
    suggestions = found.suggestions.get(index, []) if not plan else []
    return {"index": index, "number": index + 1, "step": step, "pieces": pieces, "suggestions": suggestions}


def _previewed(request: HttpRequest, actor: Actor, where: Where, rule: str, error: str = "") -> HttpResponse:
    shown = recutting.preview(actor=actor, where=where, rule=rule)
    seen = _seen(where, rule)
    return _page(request, actor, preview=shown, seen=seen, error=error, status=422 if error else 200)


def _seen(where: Where, rule: str) -> str:
    """What a preview was of, so that nothing else is cut by the button under it."""
    return orjson.dumps([rule, where.in_words()]).decode()


def _where(request: HttpRequest) -> Where:
    batch = request.POST.get("batch", "")
    return Where(
        subject=request.POST.get("subject", ""),
        domain=request.POST.get("domain", ""),
        batch_id=int(batch) if batch.isascii() and batch.isdecimal() and len(batch) < 16 else None,
    )


def _told(done: Recut) -> str:
    said = ngettext("%(n)s solution was cut anew.", "%(n)s solutions were cut anew.", done.changed)
    said %= {"n": f"{done.changed:,}"}
    if done.refused:
        more = gettext("%(n)s stay as they are; the first because: %(why)s")
        said += " " + more % {"n": len(done.refused), "why": done.refused[0][1]}
    return said


def _page(
    request: HttpRequest,
    actor: Actor,
    *,
    preview: Recut | None = None,
    seen: str = "",
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "reported": segmentation.reported(actor.project_id),
        "derived": segmentation.derived(actor.project_id),
        "choices": segmentation.choices(actor.project_id),
        "rules": RULES,
        "preview": preview,
        "seen": seen,
        "typed": request.POST.dict(),
        "error": error,
    }
    return render(request, "segmentation.html", context, status=status)
