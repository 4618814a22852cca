"""K small networks that read one state: where they begin, what keeps them apart, and their tensors by name.

EnsembleModel of sail-sg/ActivePRM: two hidden layers with ReLU, one value. Names are those of its published weights.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from annotator.scorers.local.readouts import MEMBER_LAYERS, member_logits


class Heads:
    """Weights that learn, and a copy of where they began. All in single precision, as the authors keep them."""

    def __init__(self, tensors: Mapping[str, Any], began: Mapping[str, Any], device: Any) -> None:
        self.tensors = {
            name: value.to(device=device, dtype=torch.float32).clone().requires_grad_()
            for name, value in tensors.items()
        }
        self.began = {
            name: value.to(device=device, dtype=torch.float32).clone() for name, value in began.items()
        }

    def logits(self, states: Any) -> Any:
        """(places, width) → (places, K)."""
        layers = [(self.tensors[f"{name}.weight"], self.tensors[f"{name}.bias"]) for name in MEMBER_LAYERS]
        return member_logits(layers, states)

    def distance(self) -> Any:
        """Mean over all numbers of the squared distance to where they began."""
        told = [(value - self.began[name]).square().sum() for name, value in self.tensors.items()]
        return torch.stack(told).sum() / sum(value.numel() for value in self.tensors.values())

    def saved(self) -> dict[str, Any]:
        """All tensors by their published names, those of the beginning included."""
        now = {name: value.detach().cpu().contiguous() for name, value in self.tensors.items()}
        begun = {_began(name): value.cpu().contiguous() for name, value in self.began.items()}
        return {**now, **begun}


def _began(name: str) -> str:
    return name.replace("score.model", "score.reg_model")


def drawn(heads: int, width: int, inner: int, generator: Any) -> dict[str, Any]:
    """Random weights: normal of deviation 1 / (2 sqrt(inputs)), cut at two deviations; biases of zero."""
    sizes = [(width, inner), (inner, inner), (inner, 1)]
    made: dict[str, Any] = {}
    for name, (inputs, outputs) in zip(MEMBER_LAYERS, sizes, strict=True):
        deviation = 1 / (2 * math.sqrt(inputs))
        weight = torch.empty(heads, inputs, outputs)
        torch.nn.init.trunc_normal_(
            weight, std=deviation, a=-2 * deviation, b=2 * deviation, generator=generator
        )
        made |= {f"{name}.weight": weight, f"{name}.bias": torch.zeros(heads, outputs)}
    return made


def kept(tensors: Any) -> dict[str, Any] | None:
    """The heads that a folder's tensors hold; None where it holds none."""
    names = [f"{name}.{part}" for name in MEMBER_LAYERS for part in ("weight", "bias")]
    return {name: tensors.get(name) for name in names} if all(name in tensors for name in names) else None
