"""The state of a training run in one file: weights that learn, the optimiser's memory, and how far it came.

safetensors, never a pickle; written beside the last one and put in its place at once, so that a kill at any moment
leaves a whole one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from annotator.scorers.local.training import CHECKPOINT, CURVES

#: What AdamW remembers of each weight.
MEMORY = ("exp_avg", "exp_avg_sq")


def save(folder: Path, *, key: str, step: int, weights: Mapping[str, Any], optimizer: Any) -> None:
    """Keep the state after so many steps."""
    tensors = {f"weight:{name}": value.detach().cpu().contiguous() for name, value in weights.items()}
    for name, value in weights.items():
        remembered = optimizer.state.get(value, {})
        for part in MEMORY:
            if part in remembered:
                tensors[f"{part}:{name}"] = remembered[part].cpu().contiguous()
    unfinished = folder / f"{CHECKPOINT}.unfinished"
    save_file(tensors, unfinished, metadata={"key": key, "step": str(step)})
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(folder / CHECKPOINT)


def restore(folder: Path, *, key: str, weights: Mapping[str, Any], optimizer: Any) -> int:
    """Put the kept state back in place. Returns the steps that are done: 0 where there is no state of this run."""
    path = folder / CHECKPOINT
    if not path.exists():
        return 0
    try:
        with safe_open(path, framework="pt") as file:
            told = file.metadata()
            if told.get("key") != key:
                return 0
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  not a mapping
    except (OSError, SafetensorError):
        return 0  # of a disk that was full: the run begins anew
    step = int(told["step"])
    with torch.no_grad():
        for name, value in weights.items():
            value.copy_(tensors[f"weight:{name}"])
            if f"{MEMORY[0]}:{name}" in tensors:
                remembered = {part: tensors[f"{part}:{name}"].to(value.device) for part in MEMORY}
                optimizer.state[value] = {"step": torch.tensor(float(step)), **remembered}
    return step


def cut_curves(folder: Path, step: int) -> None:
    """Forget what the curves say of steps after the kept state: they are done again."""
    path = folder / CURVES
    if not path.exists():
        return
    lines = path.read_bytes().splitlines(keepends=True)
    kept = [line for line in lines if line.endswith(b"\n") and orjson.loads(line)["step"] <= step]
    path.write_bytes(b"".join(kept))


def note(folder: Path, line: Mapping[str, Any]) -> None:
    """One more line of the curves."""
    with (folder / CURVES).open("ab") as file:
        file.write(orjson.dumps(dict(line)) + b"\n")
