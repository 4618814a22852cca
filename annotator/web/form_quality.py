"""The rules of quality control, with the words they are explained in."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _


class QualityFields(forms.Form):
    """The part of the settings that says how many labels there are, and how people are checked."""

    labels_max = forms.IntegerField(
        min_value=1,
        max_value=50,
        label=_("Labels at most, where people differ"),
        help_text=_("beyond it a reviewer decides"),
    )
    cap_per_day = forms.IntegerField(
        min_value=1,
        max_value=10_000,
        required=False,
        label=_("Solutions per person and day"),
        help_text=_("empty: no cap; a member may have their own"),
    )
    low_posterior = forms.FloatField(
        min_value=0,
        max_value=1,
        label=_("A reviewer decides below this certainty"),
        help_text=_("0.7: where the consensus is right in fewer than 7 of 10 such cases"),
    )
    gold_rate_start = forms.FloatField(
        min_value=0,
        max_value=1,
        label=_("Share of hidden gold at the start"),
        help_text=_("0.2: one claim in five"),
    )
    gold_start = forms.IntegerField(
        min_value=0, max_value=10_000, label=_("Claims that are a person's start")
    )
    exam_size = forms.IntegerField(
        min_value=0,
        max_value=200,
        label=_("Solutions in the exam"),
        help_text=_("0: no exam; they are chosen on the gold page"),
    )
    exam_pass = forms.FloatField(
        min_value=0,
        max_value=1,
        label=_("Share right to pass"),
        help_text=_("0.75: three in four"),
    )
    calibration_size = forms.IntegerField(
        min_value=1,
        max_value=200,
        label=_("Solutions in a calibration round"),
        help_text=_("the same for everybody"),
    )
    repeat_rate = forms.FloatField(
        min_value=0,
        max_value=0.5,
        label=_("Share of repeats"),
        help_text=_("an own solution once more, to see whether people agree with themselves"),
    )
    repeat_days = forms.IntegerField(min_value=1, max_value=1_000, label=_("Days before a repeat"))
    cusum_p0 = forms.FloatField(
        min_value=0.5,
        max_value=0.99,
        required=False,
        label=_("Share right of a person in order"),
        help_text=_(
            "empty: from calibration rounds, else 0.85; 0.20 below it people are warned, then paused"
        ),
    )
    auto_pause = forms.BooleanField(
        required=False,
        label=_("Pause people after the second alarm without a manager"),
        help_text=_("otherwise a manager does"),
    )
    standing_shown = forms.ChoiceField(
        choices=[
            ("nothing", _("nothing")),
            ("counts", _("how they stand, over how many checks")),
            ("accuracy", _("how they stand, and the share that was right")),
        ],
        label=_("People see of their own standing"),
        help_text=_("in tens and a day late, so that nobody learns which solution was a check"),
    )
    hourly_cost = forms.FloatField(
        min_value=0,
        max_value=100_000,
        required=False,
        label=_("What an hour of a person's time costs"),
        help_text=_("empty: not known; labels then cost seconds alone"),
    )
    currency = forms.CharField(
        max_length=3, required=False, label=_("Currency"), help_text=_("three letters, such as EUR")
    )

    #: The questions under which the page groups these fields.
    GROUPS: tuple[tuple[Any, Any, tuple[str, ...]], ...] = (
        (
            _("How many labels, and who decides?"),
            _("Each solution has its own number; more are asked for where people differ."),
            ("labels_max", "low_posterior", "cap_per_day"),
        ),
        (
            _("How are people checked?"),
            _(
                "Hidden gold looks like work. What it costs in time it saves in labels that must be thrown away."
            ),
            ("gold_rate_start", "gold_start", "calibration_size", "repeat_rate", "repeat_days"),
        ),
        (
            _("What follows from it?"),
            _("A first alarm warns and brings more checks; the second pauses. A manager has the last word."),
            ("exam_size", "exam_pass", "cusum_p0", "auto_pause", "standing_shown"),
        ),
        (
            _("What does a label cost?"),
            _("Seconds are measured. With a price they become money, on the page about training."),
            ("hourly_cost", "currency"),
        ),
    )

    def quality_groups(self) -> list[dict[str, Any]]:
        """For the page: a question, what to know about it, and its fields."""
        return [
            {"question": question, "says": says, "fields": [self[name] for name in names]}
            for question, says, names in self.GROUPS
        ]

    def clean_currency(self) -> str:
        """Three letters, as banks write them."""
        currency: str = self.cleaned_data["currency"].strip().upper()
        if currency and not (len(currency) == 3 and currency.isascii() and currency.isalpha()):
            raise forms.ValidationError(_("Three letters, such as EUR."))
        return currency
