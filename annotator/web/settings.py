"""A project's rules and guidelines, for managers; and the questions people asked."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from annotator.actions import access, projects, questions
from annotator.actions.access import Actor, Verb
from annotator.actions.questions import EmptyText, NoSuchQuestion
from annotator.queries.projects import project_of
from annotator.queries.questions import questions as list_questions
from annotator.web.doors import member
from annotator.web.forms import GuidelinesForm, SettingsForm


@require_http_methods(["GET", "HEAD", "POST"])
@member
def page(request: HttpRequest, actor: Actor) -> HttpResponse:
    """Change the rules; a form that is refused keeps what was typed."""
    access.require(actor, Verb.MANAGE)
    project = project_of(actor.project_id)
    form = SettingsForm(request.POST if request.method == "POST" else None, initial=SettingsForm.of(project))
    guidelines = GuidelinesForm(
        request.POST if request.method == "POST" else None, initial=GuidelinesForm.of(project)
    )
    if request.method == "POST" and form.is_valid() and guidelines.is_valid():
        try:
            projects.change_settings(actor=actor, values=form.values())
        except ValidationError as error:
            form.take(error)
        else:
            projects.write_guidelines(actor=actor, text=guidelines.cleaned_data["guidelines"])
            messages.success(request, "Saved. People see the new rules with their next solution.")
            return HttpResponseRedirect(reverse("settings", args=[project.slug]))
    status = 422 if form.errors or guidelines.errors else 200
    context: dict[str, Any] = {"project": project, "role": actor.role, "form": form, "guidelines": guidelines}
    return render(request, "settings.html", context, status=status)


@require_safe
@member
def question_list(request: HttpRequest, actor: Actor) -> HttpResponse:
    """The questions of this project."""
    return _questions(request, actor)


@require_http_methods(["POST"])
@member
def answer(request: HttpRequest, actor: Actor, question_id: int) -> HttpResponse:
    """Answer a question: ``answer``, and ``publish`` to show it beside the guidelines."""
    text = request.POST.get("answer", "")
    try:
        questions.answer(
            actor=actor, question_id=question_id, text=text, publish=bool(request.POST.get("publish"))
        )
    except NoSuchQuestion:
        raise Http404("There is no such question.") from None
    except EmptyText as error:
        typed = {"error": str(error), "typed": text, "typed_for": question_id}
        return _questions(request, actor, typed, status=422)
    return HttpResponseRedirect(reverse("questions", args=[actor.slug]))


def _questions(
    request: HttpRequest, actor: Actor, more: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    access.require(actor, Verb.ANSWER)
    project = project_of(actor.project_id)
    asked = list_questions(actor.project_id)
    waiting = sum(not question.answer for question in asked)
    context = {"project": project, "role": actor.role, "questions": asked, "open": waiting}
    return render(request, "questions.html", context | (more or {}), status=status)
