"""Forms of the training page: when a scorer is trained by itself, and what its use costs."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotator.models import Project


class TriggersForm(forms.Form):
    """After how many labels or hours; whether judges teach first; the F1 that is worked towards."""

    every = forms.IntegerField(
        min_value=1,
        max_value=1_000_000,
        required=False,
        label=_("New labels before the next run"),
        help_text=_("counted ones, of people; empty: not by labels"),
    )
    hours = forms.FloatField(
        min_value=1,
        max_value=10_000,
        required=False,
        label=_("Hours between two runs"),
        help_text=_("only where anything is new; empty: not by time"),
    )
    target = forms.FloatField(
        min_value=0.01,
        max_value=0.99,
        required=False,
        label=_("F1 to work towards"),
        help_text=_("for the forecast; empty: 0.05 above the best so far"),
    )
    automatic = forms.BooleanField(
        required=False,
        label=_("Judges and Monte-Carlo teach first, with less weight"),
        help_text=_("on solutions that no person has labelled; people's labels have the last word"),
    )

    @staticmethod
    def of(project: Project) -> dict[str, Any]:
        """As the project has it."""
        rule = project.retraining
        return {
            "every": rule.get("every"),
            "hours": rule.get("hours"),
            "target": rule.get("target"),
            "automatic": rule.get("automatic", True),
        }


class PricesForm(forms.Form):
    """What a scorer costs, in the project's currency."""

    input_per_million = forms.FloatField(
        min_value=0, max_value=1e6, required=False, label=_("A million tokens in")
    )
    output_per_million = forms.FloatField(
        min_value=0, max_value=1e6, required=False, label=_("A million tokens out")
    )
    per_hour = forms.FloatField(min_value=0, max_value=1e6, required=False, label=_("An hour of work"))

    def prices(self) -> dict[str, float]:
        """Those that were filled in; 0 is a price."""
        return {name: value for name, value in self.cleaned_data.items() if value is not None}
