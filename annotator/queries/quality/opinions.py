"""What models of people make of a project's labels: the stop of each solution, or the class of each step.

A posterior weighs nothing before it was compared with adjudicated audit items. Until then the plurality decides, and
the posterior only says what the model makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from annotator.core.agreement import NOT_JUDGED, STEP_LABELS, Stops, step_ratings
from annotator.core.consensus import (
    Recalibration,
    StopPosteriors,
    StopRates,
    dawid_skene,
    fit_stop_rates,
    recalibrate,
    stop_posteriors,
)
from annotator.core.intervals import Floats, Ints
from annotator.core.labels import NO_ERROR
from annotator.models import Adjudication, Project
from annotator.queries.quality.choosing import Chosen, choose, telling
from annotator.queries.quality.gold import GoldItem, gold_items
from annotator.queries.quality.tables import GOLD, OTHER, UNKNOWN, Bools, Tables, load

LATENT_STOP, DAWID_SKENE, PLURALITY = "latent_stop", "dawid_skene", "plurality"
#: Fewer annotations say nothing of whose fault a disagreement is.
ENOUGH = 3


@dataclass(frozen=True, slots=True, eq=False)
class Opinions:
    """Arrays (solutions,): each solution's id, how many annotations speak (``n``) and what is to be written.

    ``stop`` over all steps, UNKNOWN where tied or nobody stopped there (then ``place``, in judged steps, says it);
    ``posterior`` NaN where there is none; ``modelled`` where the model chose; ``tied``. In `all_steps` ``stop`` is
    UNKNOWN and ``codes`` holds a label for each step, from ``start`` on, NOT_JUDGED where nothing is known.
    """

    solution: Ints
    n: Ints
    place: Ints
    stop: Ints
    posterior: Floats
    modelled: Bools
    tied: Bools
    codes: Ints
    start: Ints


@dataclass(frozen=True, slots=True)
class Rates:
    """Fitted habits, kept for the next submit: ``members`` id → [false alarm, miss, after miss, gold seen]."""

    members: Mapping[int, Sequence[float]]
    hazard: Sequence[float]
    recalibration: Recalibration

    def to_json(self) -> dict[str, Any]:
        return {
            "members": {str(pk): list(row) for pk, row in self.members.items()},
            "hazard": list(self.hazard),
            "recalibration": asdict(self.recalibration),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> Rates:
        members = {int(pk): row for pk, row in data["members"].items()}
        return Rates(members, data["hazard"], Recalibration(**data["recalibration"]))

    def of(self, members: Sequence[int]) -> tuple[StopRates, Ints]:
        """Rates of these people (n,) and how much gold each has judged; a newcomer is taken for an average person."""
        rows = np.array(list(self.members.values()), dtype=np.float64).reshape(-1, 4)
        average = [*rows[:, :3].mean(axis=0).tolist(), 0.0] if len(rows) else [0.02, 0.2, 0.1, 0.0]
        mine = np.array([self.members.get(pk, average) for pk in members], dtype=np.float64).reshape(-1, 4)
        rates = StopRates(mine[:, 0], mine[:, 1], mine[:, 2], np.array(self.hazard, dtype=np.float64))
        return rates, mine[:, 3].astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts:
    """What is decided of each unit (units,): a place in judged steps, UNKNOWN where tied, and its posterior."""

    place: Ints
    posterior: Floats
    modelled: Bools
    tied: Bools


def fit_stops(project: Project) -> tuple[Opinions, Rates]:
    """`first_error`: everybody's rates by EM with gold clamped, then each solution's stop."""
    tables, items = load(project), gold_items(project)
    chosen = _speaking(tables, items)
    these = chosen.stops(tables)
    ids = tables.solutions.id[chosen.home]
    acceptable = [items[pk].stops if pk in items else None for pk in ids.tolist()]
    size = len(chosen.members)
    gold_seen = np.bincount(chosen.rater[chosen.annotations.purpose == GOLD], minlength=size)
    rates = fit_stop_rates(these, size, acceptable)
    claimed = stop_posteriors(these, rates, acceptable, gold_seen)
    recalibration = _checked(tables, project, ids, claimed.stop, claimed.confidence, claimed.trusted)
    verdicts = decide(these, claimed, recalibration, project.low_posterior)
    work = np.array([each is None for each in acceptable], dtype=np.bool_)
    opinions = _opinions(chosen, these, ids, verdicts, work)
    rows = np.stack([rates.false_alarm, rates.miss, rates.after_miss, gold_seen], axis=1)
    members = dict(zip(chosen.members.tolist(), rows.tolist(), strict=True))
    return opinions, Rates(members, rates.hazard.tolist(), recalibration)


def decide(these: Stops, claims: StopPosteriors, recalibration: Recalibration, low: float) -> Verdicts:
    """The stop of each unit: the model's once its claims were checked and it may be trusted, else the plurality's.

    A tie that the model can settle only with a posterior below ``low`` stays a tie.
    """
    most = pluralities(these)
    tied = most == UNKNOWN
    if recalibration.fitted:
        posterior = recalibration.apply(claims.confidence)
        unsettled = tied & (~claims.trusted | (posterior < low))
        place = np.where(unsettled, UNKNOWN, np.where(claims.trusted, claims.stop, most))
        return Verdicts(place, np.where(claims.trusted, posterior, np.nan), claims.trusted, unsettled)
    state = claims.start[:-1] + np.where(most == NO_ERROR, these.n_steps, np.maximum(most, 0))
    posterior = np.where(claims.trusted & ~tied, claims.posterior[state], np.nan)
    return Verdicts(most, posterior, np.zeros(len(most), dtype=np.bool_), tied)


def pluralities(these: Stops) -> Ints:
    """The stop that most gave, of shape (units,); UNKNOWN where the top is tied."""
    width = int(these.n_steps.max(initial=0)) + 1
    keys, votes = np.unique(these.unit * width + these.stop + 1, return_counts=True)
    unit, stop = keys // width, keys % width - 1
    size = len(these.n_steps)
    top = np.zeros(size, dtype=np.int64)
    np.maximum.at(top, unit, votes)
    winners = votes == top[unit]
    found = np.full(size, UNKNOWN, dtype=np.int64)
    found[unit[winners]] = stop[winners]
    return np.where(np.bincount(unit[winners], minlength=size) == 1, found, UNKNOWN)


def fit_steps(project: Project) -> tuple[Opinions, Recalibration]:
    """`all_steps`: Dawid and Skene with gold clamped, then each solution's labels, with its least sure step's
    posterior."""
    tables, items = load(project), gold_items(project)
    chosen = _speaking(tables, items)
    ids = tables.solutions.id[chosen.home]
    sizes = np.zeros(len(ids), dtype=np.int64)
    sizes[chosen.unit] = chosen.annotations.n_steps
    start = np.cumsum(sizes) - sizes
    found, _ = step_ratings(chosen.unit, chosen.rater, chosen.annotations.labels, sizes)
    nothing = [np.zeros(n, dtype=np.int64) for n in sizes.tolist()]
    masks = [
        np.asarray(items[pk].accept) if pk in items else empty
        for pk, empty in zip(ids.tolist(), nothing, strict=True)
    ]
    model = dawid_skene(found, len(chosen.members), np.concatenate(masks) if masks else None)
    best, confidence = model.best() if found.n_units else (sizes, np.ones(len(sizes)))
    known = model.posterior.sum(axis=1) > 0
    codes = np.where(known & (best >= 0), np.array(STEP_LABELS)[best], NOT_JUDGED)
    least = np.ones(len(ids))
    np.minimum.at(least, np.repeat(np.arange(len(ids)), sizes)[known], confidence[known])
    n = np.bincount(chosen.unit, minlength=len(ids))
    recalibration = _checked_steps(tables, project, ids, codes, start, sizes, least, n)
    posterior = np.where(n >= ENOUGH, recalibration.apply(least), np.nan)
    unknown = np.full(len(ids), UNKNOWN, dtype=np.int64)
    modelled = (n >= ENOUGH) & recalibration.fitted
    work = np.array([pk not in items for pk in ids.tolist()], dtype=np.bool_)
    opinions = Opinions(
        ids[work], n[work], unknown[work], unknown[work], posterior[work], modelled[work],
        np.zeros(int(work.sum()), dtype=np.bool_), codes, start[work],
    )  # fmt: skip
    return opinions, recalibration


def _speaking(tables: Tables, items: Mapping[int, GoldItem]) -> Chosen:
    """Current, counted, uncensored annotations, gold's among them; of somebody's two rounds the later one."""
    annotations = tables.annotations
    keep = (annotations.current == 1) & (annotations.counted == 1) & telling(annotations)
    gold = np.isin(annotations.solution, np.fromiter(items, dtype=np.int64, count=len(items)))
    keep &= np.where(gold, annotations.purpose == GOLD, annotations.purpose != OTHER)
    at = np.flatnonzero(keep)
    same = (annotations.solution[at[1:]] == annotations.solution[at[:-1]]) & (
        annotations.member[at[1:]] == annotations.member[at[:-1]]
    )
    keep[at[:-1][same]] = False
    return choose(tables, keep)


def _opinions(chosen: Chosen, these: Stops, ids: Ints, verdicts: Verdicts, work: Bools) -> Opinions:
    """Gold left out; a stop over all steps is that of somebody who gave it."""
    follows = these.stop == verdicts.place[these.unit]
    stop = np.full(len(ids), UNKNOWN, dtype=np.int64)
    stop[these.unit[follows]] = chosen.annotations.stop[follows]
    n = np.bincount(these.unit, minlength=len(ids))
    none = np.zeros(0, dtype=np.int64)
    return Opinions(
        ids[work], n[work], verdicts.place[work], stop[work], verdicts.posterior[work], verdicts.modelled[work],
        verdicts.tied[work], none, none,
    )  # fmt: skip


def _decisions(project: Project) -> dict[int, Sequence[int | None]]:
    """By solution the labels of its latest adjudication."""
    rows = Adjudication.objects.filter(solution__project=project).order_by("decided_at", "pk")
    return dict(rows.values_list("solution_id", "labels"))


def _audited(tables: Tables) -> set[int]:
    """Solutions that were drawn at random: claims may be checked on them alone."""
    solutions = tables.solutions
    return set(solutions.id[solutions.sampled | solutions.holdout].tolist())


def _checked(
    tables: Tables, project: Project, ids: Ints, place: Ints, claimed: Floats, trusted: Bools
) -> Recalibration:
    """Compare claims with what reviewers decided of audit items."""
    decided, audited = _decisions(project), _audited(tables)
    at = [at for at, pk in enumerate(ids.tolist()) if pk in decided and pk in audited and trusted[at]]
    right = [bool(place[each] == place_of(decided[int(ids[each])])) for each in at]
    return recalibrate(claimed[at], right)


def place_of(labels: Sequence[int | None]) -> int:
    """The stop of complete labels, in judged steps: up to it, what is None takes no label.

    >>> place_of([1, None, -1, None]), place_of([1, None, 1])
    (1, -1)
    """
    if -1 not in labels:
        return NO_ERROR
    return sum(label is not None for label in labels[: labels.index(-1)])


def _checked_steps(
    tables: Tables,
    project: Project,
    ids: Ints,
    codes: Ints,
    start: Ints,
    sizes: Ints,
    claimed: Floats,
    n: Ints,
) -> Recalibration:
    decided, audited = _decisions(project), _audited(tables)
    at = [at for at, pk in enumerate(ids.tolist()) if pk in decided and pk in audited and n[at] >= ENOUGH]
    right = []
    for each in at:
        mine = codes[start[each] : start[each] + sizes[each]].tolist()
        theirs = [NOT_JUDGED if label is None else label for label in decided[int(ids[each])]]
        right.append(mine == theirs)
    return recalibrate(claimed[at], right)
