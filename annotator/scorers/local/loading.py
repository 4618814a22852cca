"""Loading a model from a folder: safetensors only, nothing from a hub, no code from the folder.

One model a process: the next one takes the last one's place before it is read, so that both never need memory at
once.
"""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModel, AutoModelForTokenClassification, AutoTokenizer
from transformers.utils import logging as transformers_logging

from annotator.scorers.local import readouts
from annotator.scorers.local.families import Readout
from annotator.scorers.local.folders import InvalidModel, Stamp
from annotator.scorers.local.scorer import Running
from annotator.scorers.local.tokens import Encoded, Tokens

#: What a folder that holds something else makes transformers raise.
BROKEN = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    RuntimeError,
    ImportError,
    SafetensorError,
)
OutOfMemory = torch.OutOfMemoryError
#: Larger "longest sequences" in a tokenizer's settings mean that nobody set one.
UNSET_LENGTH = 10**7

#: Hidden states or logits, shape (rows, length, width), from token ids and a mask (both (rows, length)).
Backbone = Callable[[Any, Any], Any]


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready. ``longest``: tokens that it takes. ``causal``: no token sees a later one, so that what
    fills a row up needs no mask."""

    tokens: Tokens
    model: Any
    backbone: Backbone
    head: readouts.Head
    longest: int
    device: Any
    causal: bool

    def read(self, prompts: Sequence[Encoded]) -> list[list[tuple[float, float]]]:
        """For each prompt, and each of its places: mean and standard deviation over the members (one: zero)."""
        with torch.inference_mode():
            states = hidden(self.tokens, self.backbone, prompts, device=self.device, causal=self.causal)
            members = self.head(states).float()
            rows = torch.stack([members.mean(dim=1), members.std(dim=1, correction=0)], dim=1).tolist()
        flat = iter(rows)
        return [[(pair[0], pair[1]) for pair in (next(flat) for _ in one.places)] for one in prompts]


def hidden(
    tokens: Tokens, backbone: Backbone, prompts: Sequence[Encoded], *, device: Any, causal: bool
) -> Any:
    """The model's states at all places of all prompts, in order: (places, width)."""
    length = max(len(prompt.ids) for prompt in prompts)
    ids = torch.tensor([[*prompt.ids, *[tokens.pad] * (length - len(prompt.ids))] for prompt in prompts])
    mask = None
    if not causal:
        sizes = torch.tensor([len(prompt.ids) for prompt in prompts])
        mask = (torch.arange(length)[None, :] < sizes[:, None]).long().to(device)
    states = backbone(ids.to(device), mask)
    row = [index for index, prompt in enumerate(prompts) for _ in prompt.places]
    place = [place for prompt in prompts for place in prompt.places]
    return states[torch.tensor(row, device=device), torch.tensor(place, device=device)]


_lock = threading.Lock()
_held: dict[tuple[Running, tuple[Stamp, ...]], Loaded] = {}


def loaded(running: Running, stamp: tuple[Stamp, ...]) -> Loaded:
    """The model, read at first and again where a file changed (``stamp``). Raises InvalidModel."""
    key = (running, stamp)
    with _lock:
        if key not in _held:
            forget()
            _held[key] = load(running)
        return _held[key]


def forget() -> None:
    """Give up the memory of the model that is held."""
    models = [weakref.ref(one.model) for one in _held.values()]
    _held.clear()
    if any(one() is not None for one in models):
        gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def load(running: Running) -> Loaded:
    """The model in memory, on its device. Raises InvalidModel."""
    quietly()
    device = chosen_device(running.device)
    dtype = chosen_dtype(running.dtype, device)
    try:
        tokens = Tokens(tokenizer(running.folder), running.family)
        config = AutoConfig.from_pretrained(running.folder, trust_remote_code=False, local_files_only=True)
        model = _model(running, dtype).to(device).eval()
        backbone = _forward(model, running.family.readout)
        head = readouts.head(running.folder, config, tokens, device=device, dtype=dtype)
    except InvalidModel:
        raise
    except OutOfMemory as error:
        raise InvalidModel(f"The device's memory does not suffice for {running.folder.name}.") from error
    except BROKEN as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidModel(
            f"{running.folder.name} can't be loaded as {running.family.name}: {said:.300}"
        ) from error
    causal = is_causal(backbone, device)
    return Loaded(tokens, model, backbone, head, longest(config, tokens), device, causal)


def quietly() -> None:
    """No progress bars in a worker's log, and no report of tensors that a head of ours reads by itself."""
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()


def tokenizer(folder: Path) -> Any:
    """The folder's tokenizer."""
    return AutoTokenizer.from_pretrained(folder, trust_remote_code=False, local_files_only=True)


def chosen_device(wanted: str) -> Any:
    """``auto``: a graphics card where there is one. Raises InvalidModel where one is asked for in vain."""
    if wanted == "cuda" and not torch.cuda.is_available():
        raise InvalidModel(
            "This worker has no graphics card that PyTorch can use; set 'device' to cpu or auto."
        )
    return torch.device("cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu")


def chosen_dtype(wanted: str, device: Any) -> Any:
    """``auto``: as the weights are stored on a graphics card, float32 on processors, which have no fast halves."""
    if wanted != "auto":
        return getattr(torch, wanted)
    return "auto" if device.type == "cuda" else torch.float32


def _model(running: Running, dtype: Any) -> Any:
    classifier = running.family.readout is Readout.CLASSIFIER
    return read_model(AutoModelForTokenClassification if classifier else AutoModel, running.folder, dtype)


def _forward(model: Any, readout: Readout) -> Backbone:
    def forward(ids: Any, mask: Any) -> Any:
        if readout is Readout.CLASSIFIER:
            return model(input_ids=ids, attention_mask=mask).logits
        return model(input_ids=ids, attention_mask=mask, **quiet(model)).last_hidden_state

    return forward


def quiet(model: Any) -> dict[str, Any]:
    """No cache of keys and values: each prompt goes through once."""
    return {"use_cache": False} if hasattr(model.config.get_text_config(), "use_cache") else {}


def read_model(kind: Any, folder: Path, dtype: Any) -> Any:
    """A model by one of transformers' own classes. Raises InvalidModel where a weight is missing from the folder: it
    would be drawn by lot, and so would the scores."""
    model, told = kind.from_pretrained(
        folder,
        dtype=dtype,
        trust_remote_code=False,
        local_files_only=True,
        use_safetensors=True,
        output_loading_info=True,
    )
    bad = sorted({*told["missing_keys"], *map(str, told["mismatched_keys"])})
    if bad:
        raise InvalidModel(
            f"{folder.name} lacks weights that its own config.json calls for: {', '.join(bad[:3])} …"
        )
    return model


def is_causal(forward: Backbone, device: Any) -> bool:
    """Whether a token's state is the same whatever follows it, tried on two short rows."""
    ids = torch.tensor([[1, 2, 3, 4], [1, 2, 5, 6]], device=device)
    with torch.inference_mode():
        states = forward(ids, None)[:, 1]
    return bool(torch.equal(states[0], states[1]))


def longest(config: Any, tokens: Tokens) -> int:
    """Tokens that the model takes, by its own settings and its tokenizer's."""
    text = config.get_text_config()
    limits = [getattr(text, "max_position_embeddings", None), tokens.longest]
    return min(
        (limit for limit in limits if isinstance(limit, int) and 0 < limit < UNSET_LENGTH),
        default=UNSET_LENGTH,
    )
