"""Pictures of problems: served to members, kept and attached by managers, packed for those who export."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, Any, cast

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST, require_safe

from annotator.actions import access
from annotator.actions import pictures as actions
from annotator.actions.access import Actor, Verb
from annotator.actions.pictures import CannotAttach
from annotator.core.pictures import MAX_BYTES, BadPicture
from annotator.queries import pictures
from annotator.queries.projects import project_of
from annotator.web.doors import member

#: A picture runs nothing, loads nothing, and is never taken for a page.
ALONE = "default-src 'none'; sandbox"


@require_safe
@member
def picture(request: HttpRequest, actor: Actor, sha256: str) -> HttpResponse:
    """One picture, for members of its project. Its address names its content, so it may be kept for good."""
    found = pictures.picture(actor.project_id, sha256)
    if found is None:
        raise Http404("There is no such picture.")
    response = HttpResponse(found.data, content_type=found.media_type)
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    response["Content-Security-Policy"] = ALONE
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Disposition"] = f'inline; filename="{sha256[:12]}.png"'
    return response


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The project's pictures, and the form that brings one."""
    access.require(actor, Verb.IMPORT)
    if request.method != "POST":
        return _page(request, actor)
    sent = request.FILES.get("file")
    if sent is None:
        return _page(request, actor, error=gettext("Choose a picture first."), status=422)
    try:
        kept = actions.keep(actor=actor, data=sent.read(MAX_BYTES + 1))
    except BadPicture as error:
        return _page(request, actor, error=str(error), status=422)
    messages.success(request, gettext("Kept. Rows name it images/%(name)s.png.") % {"name": kept.sha256})
    return HttpResponseRedirect(reverse("pictures", args=[actor.slug]))


@require_POST
@member
def attach(request: HttpRequest, actor: Actor, sha256: str) -> HttpResponse:
    """Put a picture under a problem."""
    sent = request.POST
    try:
        done = actions.attach(
            actor=actor, problem=sent.get("problem", ""), sha256=sha256, alt=sent.get("alt", "")
        )
    except CannotAttach as error:
        return _page(request, actor, error=str(error), typed={**sent.dict(), "sha256": sha256}, status=422)
    messages.success(request, gettext("%(problem)s shows it now.") % {"problem": done.external_id})
    return HttpResponseRedirect(reverse("pictures", args=[actor.slug]))


@require_GET
@never_cache
@member
def packed(request: HttpRequest, actor: Actor) -> StreamingHttpResponse:
    """All pictures as a zip: unpacked beside an export, or zipped together with it, its names are right."""
    response = StreamingHttpResponse(_zipped(actions.take(actor=actor)), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{actor.slug}-images.zip"'
    return response


def _zipped(kept: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """A zip, written as it is sent: one picture in memory at a time."""
    sink = _Sink()
    with zipfile.ZipFile(cast("IO[bytes]", sink), "w", zipfile.ZIP_STORED) as archive:
        for name, data in kept:
            archive.writestr(zipfile.ZipInfo(name), data)
            yield sink.taken()
    yield sink.taken()


class _Sink:
    """What a zip is written to, and taken from; it can't go back, and zipfile knows how to write such."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits."""

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _page(
    request: HttpRequest,
    actor: Actor,
    *,
    error: str = "",
    typed: dict[str, Any] | None = None,
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "project": project_of(actor.project_id),
        "role": actor.role,
        "kept": pictures.kept(actor.project_id),
        "error": error,
        "typed": typed or {},
    }
    return render(request, "pictures.html", context, status=status)
