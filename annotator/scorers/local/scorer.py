"""A model of this machine behind the scorers' door."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from annotator.scorers.base import (
    CORRECTNESS,
    InvalidScores,
    Scored,
    ScoreFailure,
    ScoringCancelled,
    ScoringInput,
    checked,
)
from annotator.scorers.local import folders
from annotator.scorers.local.batches import batches
from annotator.scorers.local.families import Family, Readout
from annotator.scorers.local.folders import InvalidModel
from annotator.scorers.local.prompts import Unscorable
from annotator.scorers.local.tokens import Encoded
from annotator.scorers.remote import VERSION_LENGTH, over_steps

if TYPE_CHECKING:
    from annotator.scorers.local.loading import Loaded

#: Counts changes of prompts or readouts: other numbers from the same weights are another version.
READOUT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Running:
    """Which model runs how. ``max_tokens``: of one pass, padding included, and of the longest solution."""

    family: Family
    folder: Path
    device: str
    dtype: str
    max_tokens: int


class LocalScorer:
    """Solutions in batches of similar length. The model is loaded at the first score and stays in the process."""

    name = "local"
    measures = CORRECTNESS

    def __init__(self, running: Running, *, threshold: float) -> None:
        self.running = running
        self.threshold = threshold

    @property
    def version(self) -> str:
        """Family, and a digest of the files that decide a score and of how they are read. Reads the weights once."""
        told = {
            "readout": READOUT_VERSION,
            "separator": self.running.family.separator,
            "files": folders.digest(self.running.folder),
            "dtype": self.running.dtype,
            "threshold": self.threshold,
        }
        digest = hashlib.sha256(orjson.dumps(told, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
        family, folder = self.running.family.name, self.running.folder.name
        return f"{self.name}:{family}/{READOUT_VERSION}:{digest}:{folder}"[:VERSION_LENGTH]

    def score(
        self, batch: Sequence[ScoringInput], *, cancelled: Callable[[], bool]
    ) -> list[Scored | ScoreFailure]:
        """One result per input, in order. Raises ScoringCancelled once ``cancelled()`` is true: asked before the model
        is loaded and between two passes through it.

        A solution that is longer than the model or the budget of tokens takes fails and says so: a cut one would get
        scores of another text.
        """
        if cancelled():
            raise ScoringCancelled
        if not batch:
            return []
        try:
            model = self._loaded()
        except InvalidModel as error:
            return [ScoreFailure(str(error), temporary=True) for _ in batch]
        prompts = [self._prompt(model, item) for item in batch]
        return self._scores(model, batch, prompts, cancelled)

    def _loaded(self) -> Loaded:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        from annotator.scorers.local import loading

        return loading.loaded(self.running, folders.stamp(self.running.folder))

    def _prompt(self, model: Loaded, item: ScoringInput) -> Encoded | ScoreFailure:
        if not any(step.judged for step in item.steps):
            return ScoreFailure("The solution has no steps that take a label.")
        try:
            prompt = model.tokens.encode(item)
        except Unscorable as error:
            return ScoreFailure(str(error))
        longest = min(model.longest, self.running.max_tokens)
        if len(prompt.ids) > longest:
            why = "the model takes" if longest == model.longest else "'max_tokens' of this scorer allows"
            return ScoreFailure(
                f"The solution has {len(prompt.ids):,} tokens; {why} {longest:,}. A shortened one is never scored."
            )
        return prompt

    def _scores(
        self,
        model: Loaded,
        batch: Sequence[ScoringInput],
        prompts: Sequence[Encoded | ScoreFailure],
        cancelled: Callable[[], bool],
    ) -> list[Scored | ScoreFailure]:
        results: dict[int, Scored | ScoreFailure] = {}
        due: list[tuple[int, Encoded]] = []
        for index, prompt in enumerate(prompts):
            if isinstance(prompt, Encoded):
                due.append((index, prompt))
            else:
                results[index] = prompt
        for group in batches([len(prompt.ids) for _, prompt in due], self.running.max_tokens):
            if cancelled():
                raise ScoringCancelled
            rows = [due[one] for one in group]
            said = self._pass(model, [(batch[index], prompt) for index, prompt in rows])
            results.update((index, result) for (index, _), result in zip(rows, said, strict=True))
        return [results[index] for index in range(len(batch))]

    def _pass(
        self, model: Loaded, rows: Sequence[tuple[ScoringInput, Encoded]]
    ) -> list[Scored | ScoreFailure]:
        """Results of one pass. Where it fails, for each half of the rows, so that one solution fails alone."""
        from annotator.scorers.local.loading import OutOfMemory

        began = time.monotonic()
        try:
            read = model.read([prompt for _, prompt in rows])
        except (RuntimeError, IndexError) as error:  # the first covers memory that does not suffice
            if len(rows) == 1:
                if isinstance(error, OutOfMemory):
                    said = "The device's memory does not suffice for this solution."
                    return [ScoreFailure(said, temporary=True)]
                return [ScoreFailure(f"The model could not read this solution: {error!s:.200}")]
            half = len(rows) // 2
            return self._pass(model, rows[:half]) + self._pass(model, rows[half:])
        seconds = (time.monotonic() - began) / len(rows)
        return [
            self._result(item, prompt, members, seconds)
            for (item, prompt), members in zip(rows, read, strict=True)
        ]

    def _result(
        self, item: ScoringInput, prompt: Encoded, read: Sequence[tuple[float, float]], seconds: float
    ) -> Scored | ScoreFailure:
        spread: tuple[float | None, ...] = (None,) * len(item.steps)
        if self.running.family.readout is Readout.HEADS:
            spread = over_steps(item, [width for _, width in read])
        scored = Scored(
            values=over_steps(item, [value for value, _ in read]),
            spread=spread,
            usage={"prompt_tokens": float(len(prompt.ids)), "seconds": seconds},
        )
        try:
            return checked(scored, item.steps)
        except InvalidScores as error:
            return ScoreFailure(f"The model's scores do not fit: {error}.")
