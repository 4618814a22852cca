"""Training a PRM of K heads on a causal backbone from a folder: settings, what comes of it, and the door to it.

ActPRM (Duan et al. 2025, sail-sg/ActivePRM): K small networks read the backbone's state at each step's marker; each
learns by binary cross-entropy, and a penalty on the distance to where each began keeps them apart, so that their
spread says where the labels taught nothing. What comes out is scored by the family `actprm`.

PyTorch is imported when training begins, not with this module.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import orjson

from annotator.scorers.builtin.fit import Example
from annotator.scorers.remote import InvalidSettings, Settings

#: Counts changes of the algorithm: a checkpoint of another one is not gone on with.
ALGORITHM = 1
CHECKPOINT, CURVES, MODEL = "checkpoint.safetensors", "curves.jsonl", "model"

#: (what is done, so many, of so many); may raise to stop.
Progress = Callable[[str, int, int], None]


class TrainingCancelled(Exception):
    """The caller asked to stop. What was learnt is in the checkpoint; the same call goes on from there."""


@dataclass(frozen=True, slots=True)
class TrainingSettings:
    """How to learn.

    ``heads`` networks of ``inner`` units; ``distance`` weighs the penalty on their distance to where they began (0.5
    in the authors' script, with 32 heads). ``lora_rank`` 0 trains all weights. ``solutions`` a step of the optimiser,
    in passes of ``max_tokens`` tokens. ``share``: of the solutions of a step that each head learns from. ``warmup``:
    share of the steps in which the rate rises; it falls to 0 afterwards. ``validation``: share of the problems that
    are looked at after each epoch and not learnt from. ``checkpoint_steps``: steps between two checkpoints.
    """

    heads: int = 8
    inner: int = 128
    distance: float = 0.5
    share: float = 1.0
    epochs: int = 3
    rate: float = 1e-4
    warmup: float = 0.1
    weight_decay: float = 0.0
    solutions: int = 32
    max_tokens: int = 8192
    lora_rank: int = 16
    validation: float = 0.1
    checkpoint_steps: int = 20
    save_memory: bool = False
    device: str = "auto"
    dtype: str = "auto"
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of it. ``folder`` holds the model as `actprm` reads it; ``curves`` is a file with a JSON object a
    line: loss and rate of each step, validation after each epoch. ``left_out`` counts examples by reason.
    ``validation`` is the last epoch's: {"loss", "brier", "steps"}; empty where nothing was held back."""

    folder: Path
    curves: Path
    steps: int
    examples: int
    left_out: Mapping[str, int]
    loss: float
    validation: Mapping[str, float]

    def to_json(self) -> dict[str, Any]:
        """Plain values, for a column or a reply."""
        return {**asdict(self), "folder": str(self.folder), "curves": str(self.curves)}


def settings_of(config: Mapping[str, Any]) -> TrainingSettings:
    """Settings from plain values; absent ones take their defaults. Raises InvalidSettings."""
    read, base = Settings(config), TrainingSettings()
    found = TrainingSettings(
        heads=read.whole("heads", base.heads, 1, 256),
        inner=read.whole("inner", base.inner, 1, 4096),
        distance=read.number("distance", base.distance, 0.0, 1000.0),
        share=read.number("share", base.share, 0.05, 1.0),
        epochs=read.whole("epochs", base.epochs, 1, 1000),
        rate=read.number("rate", base.rate, 1e-8, 1.0),
        warmup=read.number("warmup", base.warmup, 0.0, 1.0),
        weight_decay=read.number("weight_decay", base.weight_decay, 0.0, 1.0),
        solutions=read.whole("solutions", base.solutions, 1, 100_000),
        max_tokens=read.whole("max_tokens", base.max_tokens, 64, 1_000_000),
        lora_rank=read.whole("lora_rank", base.lora_rank, 0, 1024),
        validation=read.number("validation", base.validation, 0.0, 0.5),
        checkpoint_steps=read.whole("checkpoint_steps", base.checkpoint_steps, 1, 100_000),
        save_memory=read.yes("save_memory", base.save_memory),
        device=read.choice("device", ("auto", "cpu", "cuda"), base.device),
        dtype=read.choice("dtype", ("auto", "float32", "bfloat16"), base.dtype),
        seed=read.whole("seed", base.seed, 0, 2**31 - 1),
    )
    read.done()
    return found


def train(
    examples: Sequence[Example],
    config: Mapping[str, Any],
    folder: Path,
    *,
    cancelled: Callable[[], bool],
    progress: Progress,
) -> Trained:
    """Learn from the examples, and leave the model in ``folder``/model.

    ``config`` holds ``base``, the backbone's folder (checked by the caller; a folder that this function made is gone
    on from, heads included), and what `settings_of` reads. A run that was killed or cancelled is gone on with by the
    same call, and comes to the same numbers; one that was finished returns at once. Raises TrainingCancelled,
    NothingToLearn, InvalidSettings, InvalidModel, and what ``progress`` raises.
    """
    left = dict(config)
    base = left.pop("base", None)
    if not base or not Path(base).is_dir():
        raise InvalidSettings("'base' is missing: the folder of the model that training starts from.")
    settings = settings_of(left)
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from annotator.scorers.local import learning

    run = learning.Run(
        base=Path(base), folder=folder, settings=settings, key=_key(examples, Path(base), settings)
    )
    return run.through(examples, cancelled=cancelled, progress=progress)


def _key(examples: Sequence[Example], base: Path, settings: TrainingSettings) -> str:
    """What makes two runs the same: examples, the backbone's files, settings, algorithm. Not the device's name."""
    from annotator.scorers.local import folders

    told = [
        ALGORITHM,
        folders.digest(base),
        {**asdict(settings), "device": "", "max_tokens": 0, "checkpoint_steps": 0},
        [
            [one.problem, [s.to_json() for s in one.steps], one.targets, one.weight, one.group]
            for one in examples
        ],
    ]
    return hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()
