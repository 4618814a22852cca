"""The refined pass on unseen problems, and the fit of what ships of it.

Reading with the language model takes long, so what it says of each solution is kept in a file that a later run goes on
with: a line for each solution, up to its human first error, since what follows decides nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from annotator.core.intervals import Figure
from annotator.core.labels import NO_ERROR
from annotator.core.uncertainty import predicted_stop
from annotator.scorers.builtin.fit import Ensemble, Settings, by_solution, fit_chosen, folds
from annotator.scorers.builtin.language_model import LanguageModel, Words
from annotator.scorers.builtin.model import Weights
from annotator.scorers.builtin.refined import fit_refined, refined_rows
from annotator.scorers.builtin.study import (
    SHIPPED,
    Report,
    Study,
    difference,
    held_out_threshold,
    report,
    rounded,
)
from annotator.scorers.builtin.surprise import SURPRISES, surprises
from annotator.scorers.builtin.training_data import Labelled, Table, problem_hash

#: The correction has the fast pass's penalty on all that it reads. From 30 to 480 held-out steps show no preference.
REFINED = replace(SHIPPED, l2_words=SHIPPED.l2)

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class NothingRead(ValueError):
    """The language model has read no solution of these files yet."""


def key(solution: Labelled) -> str:
    """Names a solution's text: 16 hex digits."""
    text = "\0".join((solution.problem, *(step.text for step in solution.steps)))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def line(solution: Labelled, rows: Floats) -> bytes:
    """One solution's line of the file."""
    kept = [[float(f"{value:.5g}") for value in row] for row in rows.tolist()]
    return orjson.dumps({"key": key(solution), "rows": kept}) + b"\n"


def at_risk(solution: Labelled) -> int:
    """Steps up to and including the human first error."""
    return len(solution.steps) if solution.stop == NO_ERROR else solution.stop + 1


def read_on(
    path: Path,
    solutions: Sequence[Labelled],
    model: LanguageModel,
    words: Words,
    progress: Callable[[int, int], None],
) -> None:
    """Reads what the file does not hold yet, in an order drawn by lot, so that a part of it is a fair sample."""
    known = known_lines(path)
    order = np.random.default_rng(SHIPPED.seed).permutation(len(solutions))
    missing = [solutions[i] for i in order if key(solutions[i]) not in known]
    with path.open("ab") as file:
        for number, solution in enumerate(missing):
            steps = solution.steps[: at_risk(solution)]
            file.write(line(solution, surprises(model, words, solution.problem, steps)))
            file.flush()
            progress(number + 1, len(missing))


def known_lines(path: Path) -> dict[str, list[list[float]]]:
    """What the file holds, by key; empty where there is none. A line cut short by an interruption is left out."""
    if not path.exists():
        return {}
    found = {}
    for text in path.read_bytes().splitlines():
        try:
            value = orjson.loads(text)
            found[value["key"]] = value["rows"]
        except (orjson.JSONDecodeError, KeyError):
            continue
    return found


def with_language(study: Study, path: Path) -> tuple[Floats, Bools]:
    """SURPRISES of every step, (steps, features), zeros where unknown, and the solutions that were read.

    Raises NothingRead.
    """
    known = known_lines(path)
    rows, read = (
        np.zeros((len(study.table.rows), len(SURPRISES))),
        np.zeros(len(study.solutions), dtype=np.bool_),
    )
    begins = np.searchsorted(study.table.owner, np.arange(len(study.solutions)))
    for number, solution in enumerate(study.solutions):
        block = known.get(key(solution), [])
        if len(block) < at_risk(solution):
            continue
        read[number] = True
        rows[begins[number] : begins[number] + len(block)] = block
    if not read.any():
        raise NothingRead(f"{path.name} holds none of these solutions; read them with --read first")
    return rows, read


def fit_correction(
    table: Table, language: Floats, chosen: Bools, fast: Floats, settings: Settings
) -> Ensemble:
    """The correction on the chosen solutions' steps at risk; ``fast``: (steps,) by who had not seen them."""
    at_risk_of_chosen = table.risk & chosen[table.owner]
    use = at_risk_of_chosen & ~np.isnan(fast)
    _, group = np.unique(table.group[table.owner[use]], return_inverse=True)
    rows = refined_rows(fast[use], table.rows[use], language[use])
    found = fit_refined(rows, table.correct[use], group, settings)
    held_out = np.full(len(table.rows), np.nan)
    held_out[use] = found.held_out
    return Ensemble(found.weights, held_out[at_risk_of_chosen])


def passes_out_of_fold(
    study: Study, language: Floats, read: Bools, settings: Settings = REFINED, fast: Settings = SHIPPED
) -> dict[str, tuple[Floats, list[int]]]:
    """As `study.out_of_fold`, for the fast pass and for both: none saw the problem, nor did their thresholds."""
    table = study.table
    values = {name: np.ones(len(table.rows)) for name in ("fast", "refined")}
    stops = {name: np.full(len(table.stops), NO_ERROR) for name in values}
    fold = folds(table, fast)
    for number in range(fast.folds):
        others = fold != number
        first = fit_chosen(table, others, fast)
        seen = np.full(len(table.rows), np.nan)
        seen[table.risk & others[table.owner]] = first.held_out
        second = fit_correction(table, language, read & others, seen, settings)
        test = (fold == number)[table.owner]
        before = first.weights.predict(table.rows[test]).mean(axis=0)
        values["fast"][test] = before
        rows = refined_rows(before, table.rows[test], language[test])
        values["refined"][test] = second.weights.predict(rows).mean(axis=0)
        thresholds = {
            "fast": held_out_threshold(table, others, study.part, first),
            "refined": held_out_threshold(table, read & others, study.part, second),
        }
        for name, threshold in thresholds.items():
            scored = by_solution(table, values[name])
            for index in np.flatnonzero(~others):
                stops[name][index] = predicted_stop(scored[index], threshold)
    return {name: (values[name], stops[name].tolist()) for name in values}


def compared_refined(study: Study, path: Path, seed: int = SHIPPED.seed) -> tuple[list[Report], Figure]:
    """The fast and the refined pass on the solutions that the language model has read, and by how much the mean F1 of
    the refined one is higher. ``seed`` draws folds and members."""
    language, read = with_language(study, path)
    found = passes_out_of_fold(
        study, language, read, replace(REFINED, seed=seed), replace(SHIPPED, seed=seed)
    )
    reports = [
        report(study, f"{name} pass, on {int(read.sum())} read", values, predicted, read)
        for name, (values, predicted) in found.items()
    ]
    return reports, difference(study, found["fast"][1], found["refined"][1], read)


def fit_refined_files(study: Study, path: Path, *, command: str, licence: str, model_sha256: str) -> Weights:
    """The correction fitted on all solutions that were read, with its provenance."""
    language, read = with_language(study, path)
    everything = np.ones(len(read), dtype=np.bool_)
    seen = np.full(len(study.table.rows), np.nan)
    seen[study.table.risk] = fit_chosen(study.table, everything, SHIPPED).held_out
    fitted = fit_correction(study.table, language, read, seen, REFINED)
    metrics, gain = compared_refined(study, path)
    weights = fitted.weights
    provenance: dict[str, Any] = {
        "data": [file.name for file in study.paths],
        "data_sha256": [hashlib.sha256(file.read_bytes()).hexdigest() for file in study.paths],
        "licence": licence,
        "model_sha256": model_sha256,
        "solutions": int(read.sum()),
        "problem_hashes": sorted(
            {problem_hash(one.problem) for one, was in zip(study.solutions, read, strict=True) if was}
        ),
        "command": command,
        "settings": asdict(REFINED),
        "out_of_fold": [one.to_json() for one in metrics],
        "gain_over_fast": asdict(gain),
        "threshold_from": "out-of-bag values of the training files",
    }
    return replace(
        weights,
        mean=rounded(weights.mean),
        scale=rounded(weights.scale),
        coefficients=rounded(weights.coefficients),
        intercepts=rounded(weights.intercepts),
        threshold=held_out_threshold(study.table, read, study.part, fitted),
        provenance=provenance,
    )
