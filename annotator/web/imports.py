"""Bringing solutions in by hand: upload, look at the first rows, import, follow, take rejected rows back."""

from __future__ import annotations

import uuid
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotator.actions import access, import_jobs, uploads
from annotator.actions.access import Actor, Verb
from annotator.actions.import_jobs import CannotChange, NoSuchImport
from annotator.actions.import_rows import LabelsAs
from annotator.actions.uploads import Choices, NoSuchUpload, TooLarge
from annotator.core.codecs import CODECS, UnknownFormat
from annotator.core.codecs.base import RowError
from annotator.core.codecs.detect import FormatNotDetected
from annotator.core.segmentation import Rule
from annotator.queries.imports import batch_in, history
from annotator.queries.projects import project_of
from annotator.web.doors import member

LABELS = {
    LabelsAs.REFERENCE: gettext_lazy("Reference: kept for evaluation, never shown"),
    LabelsAs.GOLD: gettext_lazy("Gold: hidden checks"),
    LabelsAs.PRACTICE: gettext_lazy("Practice: shown after a person's own answer"),
    LabelsAs.ANNOTATIONS: gettext_lazy("Annotations of people outside, not counted"),
}
RULES = {
    Rule.AUTO: gettext_lazy("As it fits"),
    Rule.PRE: gettext_lazy("Not at all: one step"),
    Rule.BLANK_LINE: gettext_lazy("At blank lines"),
    Rule.LINE: gettext_lazy("At every line"),
    Rule.STEP_K: gettext_lazy("At “Step 1:”, “Step 2:”, …"),
    Rule.NUMBERED: gettext_lazy("At “1.”, “2.”, …"),
    Rule.SENTENCE: gettext_lazy("At sentences"),
}


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """What was imported, and a place to drop the next file; a POST keeps the file and goes on to its first rows."""
    access.require(actor, Verb.IMPORT)
    if request.method != "POST":
        return _page(request, actor)
    sent = request.FILES.get("file")
    if not isinstance(sent, UploadedFile) or not sent.size:
        return _page(request, actor, _("Choose a file that isn't empty."), 422)
    try:
        kept = uploads.keep(actor=actor, blocks=sent.chunks(), filename=sent.name or "upload")
    except TooLarge as error:
        return _page(request, actor, str(error), 422)
    return redirect("import_preview", actor.slug, kept.key)


@require_safe
@never_cache
@member
def live(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The history alone, while a worker imports."""
    access.require(actor, Verb.IMPORT)
    return render(request, "imports/_history.html", _context(actor))


@require_http_methods(["GET", "HEAD", "POST"])
@never_cache
@member
def preview(request: HttpRequest, actor: Actor, key: uuid.UUID) -> HttpResponse:
    """The first rows as they would be imported; a POST has a worker import the file."""
    form = request.POST if request.method == "POST" else request.GET
    try:
        upload = uploads.find(actor=actor, key=key)
    except NoSuchUpload:
        raise Http404("There is no such upload; perhaps it was imported already.") from None
    chosen, shown, error = _choices(form), None, ""
    try:
        if request.method == "POST":
            import_jobs.start(actor=actor, key=key, choices=chosen)
            messages.success(request, _("A worker imports the file; this page follows it."))
            return redirect("imports", actor.slug)
        shown = uploads.preview(upload=upload, choices=chosen)
    except NoSuchUpload:
        raise Http404("It was imported or taken away at this moment.") from None
    except (FormatNotDetected, UnknownFormat) as refused:
        error = str(refused)[:1].upper() + str(refused)[1:] + "."
    context = {
        **_context(actor),
        "upload": upload,
        "chosen": chosen,
        "preview": shown,
        "rows": [(row, isinstance(row, RowError)) for row in shown.rows] if shown else [],
        "on_benchmarks": shown.on_benchmarks if shown else (),
        "formats": ["auto", *CODECS],
        "label_choices": [(each.value, said) for each, said in LABELS.items()],
        "rules": [(rule.value, said) for rule, said in RULES.items()],
        "error": error,
    }
    return render(request, "import_preview.html", context, status=422 if error else 200)


@require_POST
@member
def forget(request: HttpRequest, actor: Actor, key: uuid.UUID) -> HttpResponse:
    """Not this file after all."""
    try:
        uploads.forget(actor=actor, key=key)
    except NoSuchUpload:
        raise Http404("There is no such upload.") from None
    return redirect("imports", actor.slug)


#: What the buttons of an import do.
STEPS = {"pause": import_jobs.pause, "resume": import_jobs.resume, "cancel": import_jobs.cancel}


@require_POST
@member
def steer(request: HttpRequest, actor: Actor, batch_id: int, step: str) -> HttpResponse:
    """Pause an import, go on with it, or cancel it; the history as it is then."""
    error = ""
    try:
        STEPS[step](actor=actor, batch_id=batch_id)
    except NoSuchImport:
        raise Http404("There is no such import.") from None
    except CannotChange as refused:
        error = str(refused)
    if not getattr(request, "htmx", False):
        if error:
            messages.error(request, error)
        return redirect("imports", actor.slug)
    context = {**_context(actor), "refused": error}
    return render(request, "imports/_history.html", context, status=422 if error else 200)


@require_safe
@member
def rejected(request: HttpRequest, actor: Actor, batch_id: int) -> HttpResponseBase:
    """The rejected rows of a batch with their reasons, to be mended and imported again."""
    access.require(actor, Verb.IMPORT)
    batch = batch_in(actor.project_id, batch_id)
    path = uploads.rejected_path(batch_id)
    if batch is None or not path.exists():
        raise Http404("There are no rejected rows kept of this import.")
    name = f"{actor.slug}-import-{batch_id}-rejected.jsonl"
    return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="application/jsonl")


def _choices(form: QueryDict) -> Choices:
    """What the form says; whatever it doesn't offer is read as its first choice."""
    labels, rule, name = form.get("labels", ""), form.get("segment", ""), form.get("format", "")
    return Choices(
        format=name if name in CODECS else "auto",
        labels_as=LabelsAs(labels) if labels in set(LabelsAs) else LabelsAs.REFERENCE,
        segment_rule=Rule(rule).value if rule in set(Rule) else Rule.AUTO.value,
        overwrite=form.get("overwrite") == "on",
    )


def _page(request: HttpRequest, actor: Actor, error: str = "", status: int = 200) -> HttpResponse:
    return render(request, "imports.html", {**_context(actor), "error": error}, status=status)


def _context(actor: Actor) -> dict[str, Any]:
    past = history(actor.project_id)
    bad = [each.batch.pk for each in past.imports if each.batch.rejected]
    kept = {pk for pk in bad if uploads.rejected_path(pk).exists()}
    return {"project": project_of(actor.project_id), "role": actor.role, "history": past, "kept": kept}
