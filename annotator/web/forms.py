"""Reading what a browser sends. Nothing here decides; it only turns text into typed values or says what is wrong."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import orjson
from django import forms
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from annotator.actions.labeling import Work
from annotator.models import Project
from annotator.web.form_quality import QualityFields

_MACRO = re.compile(r"(?P<name>\\[A-Za-z]{1,30})\s*=\s*(?P<body>\S.{0,300})")


class Malformed(ValueError):
    """The request is not what the page would have sent; the message says which part."""


def work_from_form(form: Mapping[str, Any]) -> Work:
    """Work from form fields, of which ``labels`` and ``details`` hold JSON. Raises Malformed."""
    try:
        labels = orjson.loads(form.get("labels") or "[]")
        details = orjson.loads(form.get("details") or "{}")
    except orjson.JSONDecodeError:
        raise Malformed("the labels could not be read; reload the page, your draft is kept") from None
    return read_work(
        {
            "labels": labels,
            "details": details,
            "finish_reason": form.get("finish_reason", ""),
            "active_seconds": form.get("active_seconds", 0),
        }
    )


def read_work(value: object) -> Work:
    """Work from parsed JSON. Raises Malformed; what the labels mean is checked by the action."""
    if not isinstance(value, dict):
        raise Malformed("expected an object")
    labels, details = value.get("labels"), value.get("details") or {}
    if not isinstance(labels, list) or not all(label is None or type(label) is int for label in labels):
        raise Malformed("labels are a list of -1, 0, 1 or null")
    if not isinstance(details, dict):
        raise Malformed("details are an object")
    reason = value.get("finish_reason") or ""
    if not isinstance(reason, str):
        raise Malformed("the finish reason is text")
    try:
        seconds = float(value.get("active_seconds") or 0)
    except (TypeError, ValueError):
        seconds = 0.0
    return Work(labels, details, reason, seconds if math.isfinite(seconds) else 0.0)


def step_number(text: str) -> int | None:
    """A step's index from a form field; None where it names none. More than any solution has reads as -1."""
    if not (text.isascii() and text.isdecimal()):
        return None
    return int(text) if len(text) <= 6 else -1


class SignInForm(AuthenticationForm):
    """Django's, with names that no account can have refused before anybody looks them up or counts the attempt."""

    def clean(self) -> dict[str, Any]:
        """A name of at most as many characters as an account's, then as Django does."""
        if len(self.cleaned_data.get("username", "")) > int(User._meta.get_field("username").max_length or 0):
            raise self.get_invalid_login_error()
        cleaned: dict[str, Any] = super().clean()
        return cleaned


class JoinForm(forms.Form):
    """A new account's name and password; whether the password is strong enough the action says."""

    username = forms.CharField(max_length=150, label=_("Name"))
    password = forms.CharField(max_length=1_000, strip=False, label=_("Password"))


class SettingsForm(QualityFields):
    """The rules a manager may change, with the words they are explained in."""

    name = forms.CharField(max_length=200, label=_("Name"))
    gold_rate = forms.FloatField(
        min_value=0, max_value=1, label=_("Share of hidden gold"), help_text=_("0.05: one claim in twenty")
    )
    audit_rate = forms.FloatField(
        min_value=0, max_value=0.5, label=_("Share of the audit route"), help_text=_("0.1: one claim in ten")
    )
    holdout_rate = forms.FloatField(min_value=0, max_value=0.5, label=_("Share of the holdout route"))
    lease_seconds = forms.IntegerField(
        min_value=60,
        max_value=24 * 3600,
        label=_("Lease in seconds"),
        help_text=_("without a change for this long, a solution goes to somebody else; the draft stays"),
    )
    siblings = forms.IntegerField(
        min_value=1, max_value=20, label=_("Solutions of one problem in a row"), help_text=_("1: no grouping")
    )
    reopen_hours = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        label=_("Hours in which work can be opened again"),
        help_text=_("0: never"),
    )
    verify_minutes = forms.IntegerField(
        min_value=1,
        max_value=240,
        label=_("Minutes to verify a step"),
        help_text=_("what an expert can't verify in this time is incorrect"),
    )
    error_types = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 8}),
        required=False,
        label=_("Error types"),
        help_text=_("one a line"),
    )
    error_propagation = forms.ChoiceField(
        choices=[
            ("conditional", _("on its own, given what stands before it")),
            ("tainted_until_corrected", _("incorrect too, until the error is corrected")),
        ],
        label=_("How a step that builds on an error is judged"),
        help_text=_("where every step is judged; people read it beside the labels' meanings"),
    )
    require_error_type = forms.BooleanField(required=False, label=_("An incorrect step needs an error type"))
    require_comment = forms.BooleanField(required=False, label=_("An incorrect step needs a comment"))
    correct_through = forms.BooleanField(
        required=False, label=_("Shift+1 marks correct up to the active step")
    )
    aid_equations = forms.BooleanField(required=False, label=_("Offer equation checks"))
    aid_reference = forms.BooleanField(required=False, label=_("Offer the reference solution"))
    aid_answer = forms.BooleanField(required=False, label=_("Offer whether the final answer is right"))
    macros = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 4}),
        required=False,
        label=_("LaTeX macros"),
        help_text=_(r"one a line, such as \RR = \mathbb{R}"),
    )

    @staticmethod
    def of(project: Project) -> dict[str, Any]:
        """A project's settings as the form shows them."""
        shown = {name: getattr(project, name) for name in SettingsForm.base_fields}
        shown["error_types"] = "\n".join(project.error_types)
        shown["macros"] = "\n".join(f"{name} = {body}" for name, body in project.macros.items())
        return shown

    def clean_error_types(self) -> list[str]:
        """Distinct names, in the order given."""
        names = [line.strip() for line in self.cleaned_data["error_types"].splitlines() if line.strip()]
        if len(names) > 40 or any(len(name) > 60 for name in names):
            raise ValidationError(_("At most 40 types of at most 60 characters each."))
        return list(dict.fromkeys(names))

    def clean_macros(self) -> dict[str, str]:
        """Macros by name. KaTeX expands them within its own limits."""
        macros = {}
        for number, line in enumerate(self.cleaned_data["macros"].splitlines(), start=1):
            if not line.strip():
                continue
            match = _MACRO.fullmatch(line.strip())
            if match is None:
                raise ValidationError(_("Line %(n)s is not of the form \\name = body."), params={"n": number})
            macros[match["name"]] = match["body"]
        if len(macros) > 100:
            raise ValidationError(_("At most 100 macros."))
        return macros

    def clean(self) -> dict[str, Any]:
        """Audit and holdout leave something for the priority route."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("audit_rate", 0) + cleaned.get("holdout_rate", 0) > 0.9:
            self.add_error(
                "audit_rate", _("Audit and holdout together leave nothing for the priority route.")
            )
        return cleaned

    def values(self) -> dict[str, Any]:
        """What the action takes."""
        return dict(self.cleaned_data)

    def take(self, error: ValidationError) -> None:
        """Show what the action refused beside its field."""
        for field, said in error.message_dict.items():
            self.add_error(field if field in self.fields else None, ValidationError(said))


class GuidelinesForm(forms.Form):
    """The guidelines' text; saving a changed text makes a new version."""

    guidelines = forms.CharField(
        widget=forms.Textarea(attrs={"rows": 18}), required=False, max_length=100_000, label=_("Guidelines")
    )

    @staticmethod
    def of(project: Project) -> dict[str, str]:
        """The newest version."""
        newest = project.guidelines.order_by("-version").first()
        return {"guidelines": newest.text if newest else ""}
