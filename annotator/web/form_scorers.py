"""Forms of the scorers' page: a scorer's settings by kind, and what fills the queue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotator.core.selection import Strategy
from annotator.core.uncertainty import ACTPRM_PRED, ACTPRM_STD
from annotator.models import Project

KINDS = [
    ("builtin_refined", _("Built-in, refined by a small language model")),
    ("vllm", _("PRM behind vLLM (/pooling)")),
    ("sglang", _("PRM behind SGLang (/v1/score)")),
    ("critic", _("Chat model as critic (OpenAI-compatible)")),
    ("generative", _("Generative PRM: a verdict on each step (OpenAI-compatible)")),
    ("judge", _("Chat model as judge with the project's kinds of error")),
    ("monte_carlo", _("Monte-Carlo continuations (utility, not correctness)")),
    ("local", _("PRM on this machine (PyTorch)")),
]
SERVER = ("url", "model", "key_env", "timeout", "concurrency")
#: Settings that each kind has; the threshold is everybody's.
OWN: Mapping[str, tuple[str, ...]] = {
    "builtin_refined": (),
    "vllm": (*SERVER, "family", "pooling"),
    "sglang": (*SERVER, "family"),
    "critic": (*SERVER, "votes", "max_tokens"),
    "generative": (*SERVER, "style", "votes", "max_tokens"),
    "judge": (*SERVER, "votes", "max_tokens"),
    "monte_carlo": (*SERVER, "rollouts", "mode", "estimate", "prompt", "max_tokens"),
    "local": ("path", "family", "device", "dtype", "max_tokens", "separator"),
}
WEIGHTS = [
    (Strategy.UNCERTAINTY, _("What the scorer is least sure of")),
    (Strategy.MISTAKES, _("Steps that the scorer probably misjudges, by step judged")),
    (Strategy.GAIN, _("First errors that it probably gets wrong, by step judged")),
    (Strategy.LEARNING, _("What teaches the scorer most, by step judged")),
    (Strategy.CONVINCING_WRONG, _("Convincing, with a wrong answer")),
    (Strategy.DISAGREEMENT, _("Where scorers differ")),
    (Strategy.COVERAGE, _("Each domain, subject and generator in turn")),
    (Strategy.RANDOM, _("By lot")),
]


class ConfigForm(forms.Form):
    """A scorer's settings. The key itself is never typed here: only the name of the variable that holds it."""

    url = forms.CharField(
        max_length=300,
        required=False,
        label=_("Server"),
        help_text=_("such as http://gpu1:8000; the operator lists the hosts"),
    )
    model = forms.CharField(
        max_length=200, required=False, label=_("Model"), help_text=_("empty: the only one that it serves")
    )
    key_env = forms.CharField(
        max_length=100,
        required=False,
        label=_("Variable with the key"),
        help_text=_("a name such as STEPMARK_KEY_GPU; never the key"),
    )
    threshold = forms.FloatField(
        required=False,
        min_value=0,
        max_value=1,
        label=_("Threshold"),
        help_text=_("a step below it is an error; empty: 0.5"),
    )
    timeout = forms.FloatField(
        required=False, min_value=0.1, max_value=1800, label=_("Seconds for an answer")
    )
    concurrency = forms.IntegerField(required=False, min_value=1, max_value=64, label=_("Requests at once"))
    family = forms.CharField(
        max_length=60,
        required=False,
        label=_("Family"),
        help_text=_("vLLM, SGLang, this machine: how the model is prompted and read, such as qwen_prm"),
    )
    path = forms.CharField(
        max_length=300,
        required=False,
        label=_("Model folder"),
        help_text=_("this machine: its name in a folder that the operator opens"),
    )
    device = forms.ChoiceField(
        choices=[("", _("auto")), ("cpu", "cpu"), ("cuda", "cuda")],
        required=False,
        label=_("Device"),
        help_text=_("this machine: cuda waits for a worker with a graphics card"),
    )
    dtype = forms.ChoiceField(
        choices=[("", _("auto")), *((one, one) for one in ("float32", "bfloat16", "float16"))],
        required=False,
        label=_("Precision"),
        help_text=_("this machine"),
    )
    separator = forms.CharField(
        max_length=40,
        required=False,
        label=_("Separator"),
        help_text=_("this machine, token_classifier: what ends a step; \\n is a line break"),
    )
    pooling = forms.CharField(
        max_length=10, required=False, label=_("Pooling"), help_text=_("vLLM: step or all")
    )
    votes = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=64,
        label=_("Votes"),
        help_text=_("critic, generative PRM, judge: answers to each question"),
    )
    style = forms.ChoiceField(
        choices=[
            ("", _("step by step, with reasons")),
            ("direct", _("step by step, Yes or No alone")),
            ("whole", _("all steps at once")),
        ],
        required=False,
        label=_("Asked"),
        help_text=_("generative PRM"),
    )
    rollouts = forms.IntegerField(
        required=False,
        min_value=1,
        max_value=256,
        label=_("Continuations"),
        help_text=_("Monte-Carlo: of each prefix; empty: 8"),
    )
    mode = forms.ChoiceField(
        choices=[("", _("every step")), ("search", _("search for the first error"))],
        required=False,
        label=_("Prefixes"),
        help_text=_("Monte-Carlo: a search asks about few of them"),
    )
    estimate = forms.ChoiceField(
        choices=[("", _("share that ends well")), ("hard", _("whether any ends well"))],
        required=False,
        label=_("Value"),
        help_text=_("Monte-Carlo"),
    )
    prompt = forms.ChoiceField(
        choices=[("", _("plain text")), ("chatml", "ChatML"), ("llama3", "Llama 3")],
        required=False,
        label=_("Prompt"),
        help_text=_("Monte-Carlo: the model's chat template"),
    )
    max_tokens = forms.IntegerField(
        required=False,
        min_value=16,
        max_value=200_000,
        label=_("Tokens at most"),
        help_text=_(
            "critic, Monte-Carlo: of an answer; this machine: of a pass, and of the longest solution"
        ),
    )

    def __init__(self, *args: Any, kind: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.of_kind = kind
        for name in ConfigForm.base_fields:  # the style sheet hides those of other kinds than the chosen one
            having = [each for each, names in OWN.items() if name in (*names, "threshold")]
            setattr(self.fields[name], "kinds", " ".join(having))  # noqa: B010  a field of ours alone has it

    def shown(self) -> list[tuple[forms.BoundField, bool]]:
        """The fields that the kind has, all where it is still to be chosen; and whether each takes a number."""
        names = ("threshold", *OWN[self.of_kind]) if self.of_kind in OWN else tuple(ConfigForm.base_fields)
        numbers = (forms.FloatField, forms.IntegerField)
        return [(self[name], isinstance(self.fields[name], numbers)) for name in names]

    def config(self) -> dict[str, Any]:
        """What is stored: only what was filled in, a 0 included."""
        filled = {name: self.cleaned_data[name] for name in ConfigForm.base_fields}
        return {name: value for name, value in filled.items() if value is not None and value != ""}


class NewScorerForm(ConfigForm):
    """A scorer's name and kind beside its settings."""

    name = forms.SlugField(max_length=60, label=_("Name"), help_text=_("letters, digits, hyphens"))
    kind = forms.ChoiceField(choices=KINDS, label=_("Kind"))


class FillingForm(forms.Form):
    """Weights of the strategies, the floor, and ActPRM's thresholds."""

    error_free_floor = forms.FloatField(
        min_value=0,
        max_value=0.99,
        label=_("Least share expected to be free of errors"),
        help_text=_(
            "0.4 keeps people from learning that everything is wrong; 0 leaves the order to the strategies"
        ),
    )
    certain_pred = forms.FloatField(
        required=False,
        min_value=0.5,
        max_value=1,
        label=_("Certain from"),
        help_text=_("ActPRM: %(pred)s; empty: nobody is spared") % {"pred": ACTPRM_PRED},
    )
    certain_std = forms.FloatField(
        required=False,
        min_value=0,
        max_value=0.5,
        label=_("… with a spread of at most"),
        help_text=_("ActPRM: %(std)s") % {"std": ACTPRM_STD},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for strategy, label in WEIGHTS:
            self.fields[strategy.value] = forms.FloatField(
                required=False, min_value=0, max_value=1000, label=label
            )

    @staticmethod
    def of(project: Project) -> dict[str, Any]:
        """As the project has it."""
        rule = {"certain_pred": project.certain.get("pred"), "certain_std": project.certain.get("std")}
        weights = {strategy.value: project.strategies.get(strategy.value, 0) for strategy, _label in WEIGHTS}
        return {"error_free_floor": project.error_free_floor, **rule, **weights}

    def weights(self) -> list[forms.BoundField]:
        """The strategies' fields, for the template."""
        return [self[strategy.value] for strategy, _label in WEIGHTS]

    def clean(self) -> dict[str, Any]:
        """Both of ActPRM's thresholds or none."""
        cleaned = super().clean() or self.cleaned_data
        if (cleaned.get("certain_pred") is None) != (cleaned.get("certain_std") is None):
            self.add_error("certain_std", _("Both thresholds are needed, or neither."))
        return cleaned

    def values(self) -> dict[str, Any]:
        """What the action takes."""
        data = self.cleaned_data
        rule = {"pred": data["certain_pred"], "std": data["certain_std"]}
        return {
            "strategies": {strategy.value: data[strategy.value] or 0.0 for strategy, _label in WEIGHTS},
            "error_free_floor": data["error_free_floor"],
            "certain": rule if data["certain_pred"] is not None else {},
        }
