"""From a model's states at the places to probabilities: what stands on top of the backbone in each family.

A head takes states of shape (places, width) and returns probabilities of shape (places, members): that the step is
correct, by each member (one, but for ensembles). Heads are read from the folder's own tensors by name.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from torch.nn import functional

from annotator.scorers.local.families import Readout
from annotator.scorers.local.folders import WEIGHTS, InvalidModel
from annotator.scorers.local.tokens import Tokens

Head = Callable[[Any], Any]

INDEX = "model.safetensors.index.json"
#: Settings of models that scale or cap their logits after the output layer, which is not done here.
SCALED = ("final_logit_softcapping", "logit_scale", "logits_scaling")


class Tensors:
    """The tensors of a folder, read by name."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._where: dict[str, Path] = {}
        index = folder / INDEX
        if index.exists():
            weight_map = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
            # the index may not lead out of the folder
            self._where = {name: folder / Path(file).name for name, file in weight_map.items()}
            return
        for path in sorted(folder.glob(WEIGHTS)):
            with safe_open(path, framework="pt") as file:
                self._where |= dict.fromkeys(file.keys(), path)

    def __contains__(self, name: str) -> bool:
        return name in self._where

    def get(self, name: str, rows: list[int] | None = None) -> Any:
        """A tensor, or some of its rows. Raises InvalidModel where there is none of the name."""
        if name not in self._where:
            raise InvalidModel(f"{self.folder.name} holds no tensor '{name}'. Is it a model of this family?")
        with safe_open(self._where[name], framework="pt") as file:
            if rows is None:
                return file.get_tensor(name)
            part = file.get_slice(name)
            return torch.cat([part[row : row + 1] for row in rows])

    def names(self) -> list[str]:
        """All of them."""
        return list(self._where)

    def ending(self, end: str) -> str:
        """The one name that ends so. Raises InvalidModel where there is none or more."""
        names = [name for name in self._where if name == end or name.endswith(f".{end}")]
        if len(names) != 1:
            raise InvalidModel(f"{self.folder.name} holds {len(names)} tensors named '{end}', not one.")
        return names[0]


def head(folder: Path, config: Any, tokens: Tokens, *, device: Any, dtype: Any) -> Head:
    """The family's head from the folder. Raises InvalidModel."""
    readout = tokens.family.readout
    if readout is Readout.CLASSIFIER:
        return _classifier(config)
    tensors = Tensors(folder)

    def ready(tensor: Any) -> Any:
        return tensor.to(device=device, dtype=tensor.dtype if dtype == "auto" else dtype)

    if readout is Readout.CLASSES:
        return class_head([(ready(weight), ready(bias)) for weight, bias in _layers(tensors)])
    if readout is Readout.TOKENS:
        weight, bias = _label_rows(tensors, config, list(tokens.labels))
        return token_head(ready(weight), ready(bias) if bias is not None else None)
    if readout is Readout.VALUE:
        summary = tensors.ending("v_head.summary.weight")
        return value_head(ready(tensors.get(summary)), ready(tensors.get(summary.replace("weight", "bias"))))
    return member_heads([(ready(weight), ready(bias)) for weight, bias in _member_layers(tensors)])


def _classifier(config: Any) -> Head:
    """Of two classes the second is "correct", as in TRL; one class is a logit of it."""
    if config.num_labels not in {1, 2}:
        raise InvalidModel(
            f"A token classifier of {config.num_labels} classes does not say which is 'correct'."
        )
    return _as_sigmoid if config.num_labels == 1 else _second_class


def _as_sigmoid(logits: Any) -> Any:
    return torch.sigmoid(logits.float())


def _second_class(logits: Any) -> Any:
    return functional.softmax(logits.float(), dim=-1)[:, 1:2]


def class_head(layers: list[tuple[Any, Any]]) -> Head:
    """Linear layers with ReLU between them; class 1 of the last one's two is "correct"."""

    def probabilities(states: Any) -> Any:
        for index, (weight, bias) in enumerate(layers):
            states = functional.linear(
                functional.relu(states) if index else states.to(weight.dtype), weight, bias
            )
        return _second_class(states)

    return probabilities


def token_head(weight: Any, bias: Any) -> Head:
    """Softmax over the rows of two label tokens in the output layer, the first of which is "correct"."""

    def probabilities(states: Any) -> Any:
        return functional.softmax(functional.linear(states.to(weight.dtype), weight, bias).float(), dim=-1)[
            :, :1
        ]

    return probabilities


def value_head(weight: Any, bias: Any) -> Head:
    """Sigmoid of one linear value."""

    def probabilities(states: Any) -> Any:
        return torch.sigmoid(functional.linear(states.to(weight.dtype), weight, bias).float())

    return probabilities


def member_logits(layers: list[tuple[Any, Any]], states: Any) -> Any:
    """Logits of K small networks: weights (K, in, out), biases (K, out), states (places, width) → (places, K)."""
    weight, _ = layers[0]
    flow = states.to(weight.dtype)[None].expand(weight.shape[0], -1, -1)
    for index, (weight, bias) in enumerate(layers):
        flow = torch.baddbmm(bias[:, None, :], functional.relu(flow) if index else flow, weight)
    return flow[..., 0].T


def member_heads(layers: list[tuple[Any, Any]]) -> Head:
    """Sigmoid of K small networks."""

    def probabilities(states: Any) -> Any:
        return torch.sigmoid(member_logits(layers, states).float())

    return probabilities


def _layers(tensors: Tensors) -> list[tuple[Any, Any]]:
    """`score.0`, `score.2`: as Qwen2ForProcessRewardModel names them."""
    names = ("score.0", "score.2")
    layers = [(tensors.get(f"{name}.weight"), tensors.get(f"{name}.bias")) for name in names]
    if layers[-1][0].shape[0] != 2:
        raise InvalidModel("The model's class head does not have two classes.")
    return layers


#: As Qwen2ForEnsemblePRM names them; its `reg_model` is where training began, and takes no part.
MEMBER_LAYERS = ("score.model.nn1", "score.model.nn2", "score.model.nn_out")


def _member_layers(tensors: Tensors) -> list[tuple[Any, Any]]:
    return [(tensors.get(f"{name}.weight"), tensors.get(f"{name}.bias")) for name in MEMBER_LAYERS]


def _label_rows(tensors: Tensors, config: Any, labels: list[int]) -> tuple[Any, Any]:
    """The output layer's rows of the label tokens, and its bias where it has one."""
    text = config.get_text_config()
    for name in SCALED:
        if getattr(text, name, None) not in (None, 1, 1.0):
            raise InvalidModel(f"Models with '{name}' are not read by their tokens here.")
    tied = getattr(config, "tie_word_embeddings", False) or getattr(text, "tie_word_embeddings", False)
    stored = any(name == "lm_head.weight" or name.endswith(".lm_head.weight") for name in tensors.names())
    if stored and not tied:
        name = tensors.ending("lm_head.weight")
    elif tied:
        name = tensors.ending("embed_tokens.weight")
    else:
        raise InvalidModel(f"{tensors.folder.name} holds no output layer (lm_head.weight).")
    bias = name.replace("weight", "bias")
    return tensors.get(name, labels), tensors.get(bias)[labels] if stored and bias in tensors else None
