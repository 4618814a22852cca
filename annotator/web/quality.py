"""How far the labels can be trusted, and whose can't: for managers."""

from __future__ import annotations

from datetime import timedelta

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotator.actions import access, alerts, quality, standing
from annotator.actions.access import Actor, Verb
from annotator.actions.members import NotYourself
from annotator.core.screening import Override
from annotator.queries.projects import project_of
from annotator.queries.quality import blocks, words
from annotator.queries.quality.alerts import open_alerts
from annotator.web.doors import member
from annotator.web.spreadsheet import download

#: A report that labels have outdated is shown for so long while a worker computes the next.
PATIENCE = timedelta(seconds=60)


@require_safe
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The report: agreement, people, gold, alerts."""
    access.require(actor, Verb.MANAGE)
    project = project_of(actor.project_id)
    kept = quality.report(project=project, patience=PATIENCE)
    report = kept.report
    context = {
        "project": project,
        "role": actor.role,
        "kept": kept,
        "headline": words.headline(report),
        "people_sentence": words.people(report.people),
        "people": report.people,
        "threshold": report.threshold,
        "effects": blocks.effects(report),
        "blocks": blocks.blocks(report),
        "alerts": open_alerts(project),
    }
    return render(request, "quality.html", context)


@require_safe
@member
def table(request: HttpRequest, actor: Actor, name: str) -> HttpResponse:
    """One table of the page as CSV."""
    access.require(actor, Verb.MANAGE)
    project = project_of(actor.project_id)
    found = blocks.table(quality.report(project=project, patience=PATIENCE).report, name)
    if found is None:
        raise Http404("There is no such table.")
    return download(f"{project.slug}-{name}-{timezone.now():%Y%m%d}", found.columns, found.rows)


@require_POST
@member
def override(request: HttpRequest, actor: Actor, member_id: int) -> HttpResponse:
    """A manager's word about a person: clear, or pause with a reason."""
    access.require(actor, Verb.MANAGE)
    word, reason = request.POST.get("word", ""), request.POST.get("reason", "").strip()
    if word not in set(Override) or not reason:
        messages.warning(request, _("Nothing was changed: say why, so that it can be looked up later."))
        return redirect("quality", actor.slug)
    try:
        changed = standing.override(
            actor=actor,
            member_id=member_id,
            word=Override(word),
            reason=reason,
            restore=bool(request.POST.get("restore")),
        )
    except NotYourself:
        messages.warning(request, _("Nobody decides about their own standing; ask another manager."))
        return redirect("quality", actor.slug)
    except standing.NoSuchMember:
        raise Http404("There is no such member.") from None
    said = (
        _("%(who)s may work again.")
        if word == Override.CLEAR
        else _("%(who)s is paused and gets no more work.")
    )
    messages.success(request, said % {"who": changed.pseudonym})
    return redirect("quality", actor.slug)


@require_POST
@member
def close_alert(request: HttpRequest, actor: Actor, alert_id: int) -> HttpResponse:
    """A manager has seen to it."""
    alerts.close(actor=actor, alert_id=alert_id)
    return redirect("quality", actor.slug)
