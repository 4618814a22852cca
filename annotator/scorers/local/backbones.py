"""The model that training starts from, and the one that it leaves behind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from tokenizers import AddedToken
from transformers import AutoConfig, AutoModel

from annotator.scorers.local import loading
from annotator.scorers.local.families import FAMILIES
from annotator.scorers.local.folders import InvalidModel
from annotator.scorers.local.heads import Heads, drawn, kept
from annotator.scorers.local.readouts import Tensors
from annotator.scorers.local.tokens import Encoded, Tokens
from annotator.scorers.local.training import TrainingSettings

FAMILY = FAMILIES["actprm"]
#: For backbones whose folder holds no chat template: Qwen's.
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{{ message['content'] }}<|im_end|>\n{% endfor %}"
)
TURNS = ("<|im_start|>", "<|im_end|>")


@dataclass(frozen=True, slots=True)
class Backbone:
    """A causal model in training. ``plain`` is it without adapters; the same object where all weights learn."""

    tokens: Tokens
    tokenizer: Any
    model: Any
    plain: Any
    heads: Heads
    longest: int
    device: Any
    half: bool

    def learning(self) -> dict[str, Any]:
        """Weights of the backbone that learn, by name."""
        return {name: one for name, one in self.model.named_parameters() if one.requires_grad}

    def states(self, prompts: Sequence[Encoded]) -> Any:
        """States at all places: (places, width)."""

        def forward(ids: Any, mask: Any) -> Any:
            with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self.half):
                return self.model(
                    input_ids=ids, attention_mask=mask, **loading.quiet(self.plain)
                ).last_hidden_state

        return loading.hidden(self.tokens, forward, prompts, device=self.device, causal=True)


def opened(base: Path, settings: TrainingSettings) -> Backbone:
    """The backbone from its folder, with heads: its own where it has some, else drawn by lot. Raises InvalidModel."""
    device = loading.chosen_device(settings.device)
    half = device.type == "cuda" and settings.dtype != "float32"
    frozen = settings.lora_rank > 0
    try:
        tokenizer = _with_marker(loading.tokenizer(base))
        tokens = Tokens(tokenizer, FAMILY)
        config = AutoConfig.from_pretrained(base, trust_remote_code=False, local_files_only=True)
        dtype = torch.bfloat16 if (half and frozen) or settings.dtype == "bfloat16" else torch.float32
        torch.manual_seed(settings.seed)
        plain = loading.read_model(AutoModel, base, dtype)
        if len(tokenizer) > plain.get_input_embeddings().weight.shape[0]:
            plain.resize_token_embeddings(len(tokenizer), mean_resizing=False)
        plain.to(device)
    except InvalidModel:
        raise
    except loading.OutOfMemory as error:
        raise InvalidModel(f"The device's memory does not suffice for {base.name}.") from error
    except loading.BROKEN as error:
        raise InvalidModel(f"{base.name} can't be trained: {error!s:.300}") from error
    if not loading.is_causal(lambda ids, mask: plain(input_ids=ids).last_hidden_state, device):
        raise InvalidModel(f"{base.name} sees later tokens too; training takes a causal model.")
    model = _adapted(plain, settings) if frozen else plain
    if settings.save_memory:
        plain.gradient_checkpointing_enable({"use_reentrant": False})
    width = config.get_text_config().hidden_size
    heads = _heads(base, width, settings, device)
    return Backbone(tokens, tokenizer, model, plain, heads, loading.longest(config, tokens), device, half)


def _with_marker(tokenizer: Any) -> Any:
    """The tokenizer with the marker as one token, and a chat template."""
    wanted = [FAMILY.marker] if tokenizer.chat_template else [FAMILY.marker, *TURNS]
    added = [AddedToken(text, special=True, normalized=False) for text in wanted if text is not None]
    tokenizer.add_tokens(added, special_tokens=True)
    if not tokenizer.chat_template:
        tokenizer.chat_template = CHAT
    return tokenizer


def _adapted(plain: Any, settings: TrainingSettings) -> Any:
    """Low-rank adapters (Hu et al. 2021) beside all linear layers; they begin by changing nothing."""
    config = LoraConfig(
        r=settings.lora_rank, lora_alpha=2 * settings.lora_rank, lora_dropout=0.0, target_modules="all-linear"
    )
    return get_peft_model(plain, config)


def _heads(base: Path, width: int, settings: TrainingSettings, device: Any) -> Heads:
    generator = torch.Generator().manual_seed(settings.seed)
    found = kept(Tensors(base))
    if found is not None and found["score.model.nn1.weight"].shape[0] != settings.heads:
        raise InvalidModel(
            f"{base.name} has {found['score.model.nn1.weight'].shape[0]} heads, not {settings.heads}."
        )
    begin = found or drawn(settings.heads, width, settings.inner, generator)
    return Heads(begin, begin, device)


def export(backbone: Backbone, heads: Heads, folder: Path, settings: TrainingSettings) -> None:
    """The model as `actprm` reads it, adapters merged into their layers. Complete, or not there."""
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    plain = backbone.model.merge_and_unload() if settings.lora_rank else backbone.plain
    plain.eval()
    plain.config.save_pretrained(unfinished)
    backbone.tokenizer.save_pretrained(unfinished)
    prefix = f"{plain.base_model_prefix}." if plain.base_model_prefix else ""
    weights = {
        f"{prefix}{name}": value.detach().cpu().contiguous().clone()
        for name, value in plain.state_dict().items()
    }
    save_file({**weights, **heads.saved()}, unfinished / "model.safetensors", metadata={"format": "pt"})
    _name(unfinished / "config.json", settings)
    shutil.rmtree(folder, ignore_errors=True)
    unfinished.replace(folder)


def _name(path: Path, settings: TrainingSettings) -> None:
    """Say in config.json what stands on the backbone, in ActPRM's own words."""
    config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    more: Mapping[str, Any] = {
        "num_ensemble": settings.heads,
        "rr_token": FAMILY.marker,
        "regularization_lambda": settings.distance,
        "learning_probability": settings.share,
    }
    path.write_text(json.dumps({**config, **more}, indent=2), encoding="utf-8")
