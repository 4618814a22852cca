"""The form that says which scorer is a second pass over which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotator.queries.scorers import Standing


class SecondPassForm(forms.Form):
    """One scorer, and the one that it refines."""

    scorer = forms.TypedChoiceField(coerce=int, label=_("Scorer"), help_text=_("slow and better"))
    refines = forms.TypedChoiceField(
        coerce=int,
        required=False,
        empty_value=None,
        label=_("is a second pass over"),
        help_text=_("quick: it orders the queue until the second pass has come"),
    )

    def __init__(self, data: Any = None, *, scorers: Sequence[Standing]) -> None:
        super().__init__(data, auto_id="id_pass_%s")
        named = [(each.id, each.name) for each in scorers]
        for name, choices in (("scorer", named), ("refines", [("", _("no other")), *named])):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices
        now = next((each for each in scorers if each.refines_id is not None), None)
        if now is not None:
            self.initial = {"scorer": now.id, "refines": now.refines_id}
