"""PRMs of the field on this machine: published weights from a folder, read as their authors read them.

PyTorch and transformers are imported only when a model is loaded, so everything else works without them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from importlib.util import find_spec
from typing import Any

from annotator.scorers.local.families import FAMILIES, generic
from annotator.scorers.local.folders import model_folder
from annotator.scorers.local.scorer import LocalScorer, Running
from annotator.scorers.remote import InvalidSettings, Settings, threshold

DEVICES = ("auto", "cpu", "cuda")
DTYPES = ("auto", "float32", "bfloat16", "float16")
#: Work for a graphics card waits where a worker with one takes it.
GPU_QUEUE, CPU_QUEUE = "gpu", "scoring"
#: Tokens of one pass through the model, padding included; a longer solution is not scored.
MAX_TOKENS = 8192


def queue(config: Mapping[str, Any]) -> str:
    """The queue for a scorer of these settings: ``gpu`` where a graphics card is asked for."""
    return GPU_QUEUE if config.get("device") == "cuda" else CPU_QUEUE


def make(config: Mapping[str, Any], *, model_folders: Collection[str] = ()) -> LocalScorer:
    """A scorer from its settings; see docs/prms.md. Loads nothing yet. Raises InvalidSettings.

    ``model_folders`` are the folders that the installation opens to scorers.
    """
    settings = Settings(config)
    family = FAMILIES[settings.choice("family", FAMILIES.keys(), "qwen_prm")]
    separator = settings.text("separator")
    if separator is not None and not family.generic:
        raise InvalidSettings(f"'separator' is for token_classifier; {family.name} has its own.")
    running = Running(
        family=generic(separator) if family.generic else family,
        folder=model_folder(settings.text("path"), model_folders),
        device=settings.choice("device", DEVICES, "auto"),
        dtype=settings.choice("dtype", DTYPES, "auto"),
        max_tokens=settings.whole("max_tokens", MAX_TOKENS, 64, 1_000_000),
    )
    scorer = LocalScorer(running, threshold=threshold(settings))
    settings.done()
    if not installed():
        raise InvalidSettings(
            "Local models need PyTorch, which is not installed here. Install it with: STEPMARK_EXTRAS=torch make setup"
        )
    return scorer


def installed() -> bool:
    """Whether PyTorch and transformers are there; looks without importing them."""
    return all(find_spec(name) is not None for name in ("torch", "transformers", "safetensors"))


__all__ = ["LocalScorer", "installed", "make", "queue"]
