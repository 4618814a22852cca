"""The audit log, for managers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import urlencode

from django.core.exceptions import BadRequest
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.queries import audit as queries
from annotator.queries.audit import TOPICS, Cursor, Filter
from annotator.queries.projects import project_of
from annotator.web import params, tables
from annotator.web.doors import member

FILTERS = ("topic", "member", "since", "until")
HEAD = ("at", "actor", "event", "subject", "before", "after", "more")


@require_safe
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Events, newest first."""
    access.require(actor, Verb.MANAGE)
    given = params.known(request, {*FILTERS, "after"})
    chosen = _filter(given)
    found = queries.page(project_id=actor.project_id, chosen=chosen, after=_cursor(given.get("after")))
    kept = {name: given[name] for name in FILTERS if name in given}
    context = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "found": found,
        "topics": TOPICS,
        "actors": queries.actors(actor.project_id),
        "given": given,
        "filtered": bool(kept),
        "same": urlencode(kept),
        "later": urlencode({**kept, "after": str(found.next)}) if found.next else "",
    }
    return render(request, "audit.html", context)


@require_safe
@member
def export(request: HttpRequest, actor: Actor) -> HttpResponseBase:
    """The same choice as CSV, streamed."""
    access.require(actor, Verb.MANAGE)
    chosen = _filter(params.known(request, FILTERS))
    events = queries.everything(project_id=actor.project_id, chosen=chosen)
    return tables.download(f"{actor.slug}-audit-{timezone.now():%Y%m%d}.csv", HEAD, _rows(events))


def _rows(events: Iterator[queries.Event]) -> Iterator[list[str]]:
    for event in events:
        yield [
            event.at.isoformat(),
            event.actor,
            event.name,
            event.subject,
            "; ".join(f"{what}: {before}" for what, before, _ in event.changes),
            "; ".join(f"{what}: {after}" for what, _, after in event.changes),
            "; ".join(f"{what}: {value}" for what, value in event.rest),
        ]


def _filter(given: dict[str, str]) -> Filter:
    return Filter(
        topic=params.one_of(given.get("topic"), TOPICS, ""),
        member_id=params.number(given.get("member")),
        since=params.day(given.get("since")),
        until=params.day(given.get("until")),
    )


def _cursor(text: str | None) -> Cursor | None:
    if text is None:
        return None
    at, _, number = text.partition("~")
    pk = params.number(number)
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        raise BadRequest("The address of that page is damaged; begin at the first page.") from None
    if pk is None or moment.tzinfo is None:
        raise BadRequest("The address of that page is damaged; begin at the first page.")
    return Cursor(moment, pk)
