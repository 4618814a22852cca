"""The numbers of versions that were trained here: kept in the database, where every worker finds the same ones."""

from __future__ import annotations

import hashlib
from typing import Any

from annotator.models import Scorer, ScorerVersion, ScorerWeights
from annotator.scorers.remote import InvalidSettings

#: The numbers themselves, as JSON; or the path of a folder of safetensors, which the workers share.
JSON, FOLDER = "builtin-json", "folder"


def keep(version: ScorerVersion, data: bytes, format_name: str = JSON) -> None:
    """Keep a version's numbers, in the caller's transaction. What is kept never changes."""
    ScorerWeights.objects.create(version=version, format=format_name, data=data, sha256=digest(data))


def digest(data: bytes) -> str:
    """The SHA-256 of the kept bytes, in hex."""
    return hashlib.sha256(data).hexdigest()


def config_of(scorer: Scorer) -> dict[str, Any]:
    """What the scorer is made of: its settings, with its champion's numbers where it has one.

    Raises InvalidSettings where the numbers are missing or are not those that were kept.
    """
    config = dict(scorer.config)
    return config if scorer.champion is None else config_with(config, scorer.champion)


def config_with(config: dict[str, Any], version: ScorerVersion) -> dict[str, Any]:
    """The same settings with one version's numbers. Raises InvalidSettings as `config_of`."""
    kept = ScorerWeights.objects.filter(version=version).first()
    if kept is None:
        raise InvalidSettings(f"The numbers of version {version.version} are not kept here.")
    data = bytes(kept.data)
    if digest(data) != kept.sha256:
        raise InvalidSettings(
            f"The numbers of version {version.version} are damaged: go back to another one."
        )
    if kept.format == FOLDER:
        return {**config, "path": data.decode()}
    return {**config, "weights": data.decode()}
