"""Training a scorer by its kind: examples in, numbers out. Nothing here knows where the labels came from.

Always from where the kind itself starts (its own settings, else what is shipped), never from a champion that was
trained on the same labels: a label would count once for each generation, and what a fold leaves out would have been
seen before. The examples hold all that the champion learnt from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import orjson

from annotator.core.labels import NO_ERROR
from annotator.core.uncertainty import EVEN_ODDS, predicted_stop
from annotator.scorers import builtin
from annotator.scorers.builtin.fit import Example, Model, NothingToLearn, Weights, features, fit
from annotator.scorers.local.trainer import PARTS, Lessons, taught

#: Parts that the examples are cut into, by problem, to see what was learnt on what was not shown.
FOLDS = 5
#: Members of the ensembles that are only looked at; the one that is kept has as many as the kind wants.
FOLD_MEMBERS = 4
#: Solutions read between two signs of life.
READ = 50

#: (what is done, so many, of so many); may raise to stop.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of it. ``data`` are the numbers in the ``format`` they are kept in; ``base`` names the version that
    was started from. ``values`` and ``stops`` say what ensembles that had not seen its problem made of each of the
    people's examples: values over all steps (None for context), and the predicted stop."""

    data: bytes
    format: str
    base: str
    stages: Sequence[str]
    values: Sequence[Sequence[float | None]]
    stops: Sequence[int]


class Trainer(Protocol):
    """Learns from ``people``, and before that from ``automatic`` where there are any. Raises NothingToLearn, and what
    ``progress`` raises."""

    def __call__(
        self,
        people: Sequence[Example],
        automatic: Sequence[Example],
        config: Mapping[str, Any],
        *,
        seed: int,
        progress: Progress,
    ) -> Trained: ...


def train_builtin(
    people: Sequence[Example],
    automatic: Sequence[Example],
    config: Mapping[str, Any],
    *,
    seed: int,
    progress: Progress,
) -> Trained:
    """The built-in ensemble, warm from its settings' weights or the shipped ones."""
    base = builtin.make(config).weights
    people, automatic = _read([*people, *automatic], len(people), progress)
    fold = _folds(people, seed)
    values: list[list[float | None]] = [[] for _ in people]
    stops = [NO_ERROR] * len(people)
    parts = int(fold.max()) + 1
    for number in range(parts):
        progress("out of fold", number, parts + 1)
        shown = [one for one, at in zip(people, fold.tolist(), strict=True) if at != number]
        hidden = {one.group for one, at in zip(people, fold.tolist(), strict=True) if at == number}
        before = [one for one in automatic if one.group not in hidden]
        weights = _two_stages(shown, before, base, seed, FOLD_MEMBERS)
        for at in np.flatnonzero(fold == number).tolist():
            values[at] = _values(weights, people[at])
            stops[at] = predicted_stop(values[at], weights.threshold)
    progress("all of it", parts, parts + 1)
    weights = _two_stages(people, automatic, base, seed, None)
    progress("all of it", parts + 1, parts + 1)
    stages = ["automatic", "people"] if automatic else ["people"]
    data = orjson.dumps(weights.to_json(), option=orjson.OPT_SORT_KEYS)
    return Trained(data, "builtin-json", base.version, stages, values, stops)


def _read(
    examples: Sequence[Example], n_people: int, progress: Progress
) -> tuple[list[Example], list[Example]]:
    """The same examples with their features, each solution read once."""
    read = []
    for at, one in enumerate(examples):
        if at % READ == 0:
            progress("reading", at, len(examples))
        read.append(replace(one, rows=features(one.problem, one.steps)))
    return read[:n_people], read[n_people:]


def _folds(people: Sequence[Example], seed: int) -> np.typing.NDArray[np.int64]:
    """The fold of each example, (examples,), drawn by problem. Raises NothingToLearn for a single problem."""
    names, of = np.unique([one.group for one in people], return_inverse=True)
    if len(names) < 2:
        raise NothingToLearn("All labels are of one problem: what holds beyond it can't be seen.")
    order = np.random.default_rng(seed).permutation(len(names)) % min(FOLDS, len(names))
    return np.asarray(order[of], dtype=np.int64)


def _two_stages(
    people: Sequence[Example], automatic: Sequence[Example], base: Weights, seed: int, members: int | None
) -> Weights:
    """Fit on what no person said, then on what people said; where the first teaches nothing, on the second alone."""
    how_many = {} if members is None else {"members": members}
    start = base
    if automatic:
        try:
            start = fit(automatic, seed=seed, warm=base, **how_many)
        except NothingToLearn:
            start = base
    return fit(people, seed=seed, warm=start, **how_many)


def _values(weights: Weights, example: Example) -> list[float | None]:
    """Probabilities over all steps, None for context."""
    rows = features(example.problem, example.steps) if example.rows is None else example.rows
    said = iter(Model(weights).score_features(rows)[0].tolist())
    return [next(said) if step.judged else None for step in example.steps]


def train_local(
    people: Sequence[Example],
    automatic: Sequence[Example],
    config: Mapping[str, Any],
    *,
    seed: int,
    progress: Progress,
) -> Trained:
    """Heads on a transformer, from the folder ``config["base"]`` into ``config["out"]``; see local/trainer.py."""
    part = (_folds(people, seed) % PARTS).tolist()
    model, values = taught(Lessons(people, automatic, part), config, seed=seed, progress=progress)
    threshold = float(config.get("threshold", EVEN_ODDS))
    stops = [predicted_stop(one, threshold) for one in values]
    stages = ["automatic", "people"] if automatic else ["people"]
    return Trained(str(model).encode(), "folder", str(config["base"]), stages, values, stops)


#: Kinds that can be trained here.
TRAINERS: Mapping[str, Trainer] = {"builtin": train_builtin, "local": train_local}
