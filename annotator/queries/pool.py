"""What a queue is ordered by, as arrays over all its scored rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from django.db import connection
from django.db.models import Max, Min

from annotator.core import calibration, ragged, worth
from annotator.core.ragged import Rows
from annotator.core.selection import Mixture, Pool, Strategy, by_answer
from annotator.models import Problem, Project, ScorerVersion
from annotator.queries.beside import in_order
from annotator.queries.scored_rows import Block, blocks, values_of
from annotator.scorers.base import CORRECTNESS

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

CHUNK = 20_000
#: Strategies that go by what judging a solution is worth.
WORTHS = (Strategy.MISTAKES.value, Strategy.GAIN.value, Strategy.LEARNING.value)
#: Mixes two codes into one: Knuth's multiplier, by which no two models meet.
_ODD = np.int64(-0x61C8864680B583EB)

# Near-duplicates differ in numbers, case and punctuation: what is left of a problem's text is its group.
_PROBLEMS = """
SELECT coalesce(string_agg(int8send(id), ''), ''), coalesce(string_agg(int8send(like_code), ''), ''),
  coalesce(string_agg(int8send(kind_code), ''), '') FROM (
  SELECT id, hashtextextended(regexp_replace(lower(text), '[^[:alpha:]]+', ' ', 'g'), 0) AS like_code,
    hashtextextended(domain || E'\\x1f' || subject, 0) AS kind_code
  FROM annotator_problem WHERE project_id = %s AND id >= %s AND id < %s ORDER BY id) x
"""


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """All queue rows that have a score, as arrays (n,) ordered by ``id``. ``version`` gave the score, ``score`` is its
    mean entropy over calibrated values, ``width`` its mean spread. ``open`` rows want labels and are no holdout:
    ``pool`` describes these alone, and ``where`` (open,) says where each stands among the n. ``now`` is how the rows
    stand in the queue."""

    id: Ints
    version: Ints
    score: Floats
    width: Floats
    holdout: Bools
    open: Bools
    where: Ints
    pool: Pool
    now: Placed


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """Places in a queue, (n,): who ranked each row (0: nobody), its strategy (its place in STRATEGY_CODES), priority
    and tiebreak."""

    ranked_by: Ints
    strategy: Ints
    priority: Floats
    tiebreak: Floats

    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """All four."""
        return self.ranked_by, self.strategy, self.priority, self.tiebreak

    def of(self, rows: Ints) -> Placed:
        """Those of some rows (k,)."""
        return Placed(*(column[rows] for column in self.columns()))


def mixture_of(project: Project) -> Mixture:
    """How this project fills its queue. Raises InvalidMixture."""
    weights = {Strategy(name): float(weight) for name, weight in project.strategies.items()}
    return Mixture(weights, sound_share=project.error_free_floor, skip_certain=bool(project.certain))


def standing(
    project: Project, versions: Sequence[ScorerVersion], progress: Callable[[], None] = lambda: None
) -> Standing:
    """The rows that these versions have scored; where several have, the later one speaks. One query a block, each of
    its own moment; ``progress`` is called after each."""
    said = _Said(project, versions)
    found: list[dict[str, npt.NDArray[Any]]] = []
    with closing(blocks(project.pk, [version.pk for version in versions])) as read:
        for block in read:
            found.append(said.of(block))
            progress()
    # Taken out as they are joined: a million rows twice would be 250 MB.
    columns = {
        name: np.concatenate([none, *(each.pop(name) for each in found)]) for name, none in said.none.items()
    }
    where = np.flatnonzero(columns["open"])
    return Standing(
        id=columns["id"],
        version=columns["version"],
        score=columns["score"],
        width=columns["width"],
        holdout=columns["holdout"],
        open=columns["open"],
        where=where,
        pool=_pool(project, versions, columns, where),
        now=Placed(*(columns[name] for name in ("ranked_by", "strategy", "priority", "tiebreak"))),
    )


class _Said:
    """What a block's values say, by each version's own threshold and calibration."""

    def __init__(self, project: Project, versions: Sequence[ScorerVersion]) -> None:
        self._rule: Mapping[str, float] = project.certain
        self._asked = [one for one in WORTHS if project.strategies.get(one)]
        self._versions = versions
        names = ("id", "version", "problem", "model", "ranked_by", "answer", "strategy")
        none: dict[str, npt.NDArray[Any]] = {name: np.zeros(0, dtype=np.int64) for name in names}
        none |= {name: np.zeros(0, dtype=np.bool_) for name in ("open", "begun", "holdout", "certain")}
        none |= {
            name: np.zeros(0)
            for name in ("priority", "tiebreak", "shuffle", "score", "width", "whole", *WORTHS)
        }
        self.none = none

    def of(self, block: Block) -> dict[str, npt.NDArray[Any]]:
        """The block's columns, and what follows from its values."""
        calibrated, score = block.values.flat.copy(), block.score.copy()
        threshold = np.zeros(len(block.id))
        for version in self._versions:
            mine = block.version == version.pk
            threshold[mine] = version.threshold
            found = calibration.from_json(version.calibration)
            if found is not None:
                steps = mine[block.values.row]
                calibrated[steps] = found.apply(calibrated[steps])
        risk = ragged.at_risk(block.values, threshold)
        probabilities = block.values.like(calibrated)
        mapped = np.isin(block.version, [version.pk for version in self._versions if version.calibration])
        score[mapped] = ragged.mean_entropies(probabilities, risk)[mapped]
        found_certain = (
            ragged.certain(block.values, block.spread, risk, pred=self._rule["pred"], std=self._rule["std"])
            if self._rule
            else np.zeros(len(block.id), dtype=np.bool_)
        )
        columns = {name: getattr(block, name) for name in self.none if hasattr(block, name)}
        columns |= {"score": score, "whole": ragged.products(probabilities), "certain": found_certain}
        return columns | self._worths(block, probabilities, threshold)

    def _worths(self, block: Block, probabilities: Rows, threshold: Floats) -> dict[str, Floats]:
        """What judging each solution is worth by step; NaN where no strategy asks or no step is judged."""
        found = {name: np.full(len(block.id), np.nan) for name in WORTHS}
        if not self._asked:
            return found
        plainly = worth.endings(probabilities)
        for name in self._asked:
            said = plainly
            match Strategy(name):
                case Strategy.MISTAKES:
                    # Only here: labels that are picked by the answer teach a scorer, which never sees it, wrongly.
                    said = worth.endings(probabilities, block.answer)
                    whole = worth.expected_mistakes(block.values, said, threshold)
                case Strategy.GAIN:
                    whole = worth.wrong_stop(said)
                case _:
                    whole = worth.information(said, block.spread)
            np.divide(whole, said.steps, out=found[name], where=said.steps > 0.0)
        return found


def _pool(
    project: Project,
    versions: Sequence[ScorerVersion],
    columns: Mapping[str, npt.NDArray[Any]],
    where: Ints,
) -> Pool:
    ids, like, kind = _problems(project)
    place = np.searchsorted(ids, columns["problem"])
    with np.errstate(over="ignore"):
        stratum = kind[place] ^ columns["model"] * _ODD
    strata, codes = np.unique(stratum, return_inverse=True)
    begun = np.bincount(codes, weights=columns["begun"], minlength=len(strata)).astype(np.int64)
    whole, answer = columns["whole"][where], columns["answer"][where]
    return Pool(
        uncertainty=columns["score"][where],
        tiebreak=columns["width"][where],
        trajectory=whole,
        answer_wrong=answer == 0,
        disagreement=_disagreement(project, versions, columns["id"][where]),
        sound=by_answer(np.nan_to_num(whole), answer),
        stratum=codes[where],
        done=begun[codes[where]] if len(where) else np.zeros(0, dtype=np.int64),
        group=like[place[where]],
        shuffle=columns["shuffle"][where],
        certain=columns["certain"][where],
        **{name: columns[name][where] for name in WORTHS},
    )


def _problems(project: Project) -> tuple[Ints, Ints, Ints]:
    """All problems by id: a code that near-duplicates share, and one for domain and subject. Each (problems,)."""
    ends = Problem.objects.filter(project=project).aggregate(first=Min("pk"), last=Max("pk"))
    starts = range(ends["first"] or 0, (ends["last"] or 0) + 1, CHUNK)
    parts = list(in_order(partial(_problems_from, project.pk), starts))
    ids, like, kind = (np.concatenate(each) for each in zip(*parts, strict=True))
    return ids, like, kind


def _problems_from(project_id: int, start: int) -> tuple[Ints, ...]:
    with connection.cursor() as cursor:
        cursor.execute(_PROBLEMS, [project_id, start, start + CHUNK])
        return tuple(np.frombuffer(each, ">i8").astype(np.int64) for each in cursor.fetchone())


def _disagreement(project: Project, versions: Sequence[ScorerVersion], ids: Ints) -> Floats:
    """How far scorers differ on each solution, (n,); NaN where fewer than two speak. Read only where it matters."""
    others = _others(project, versions)
    found = np.full(len(ids), np.nan)
    if not others:
        return found
    speakers = [*versions[:1], *others]
    parts = [ids[start : start + CHUNK] for start in range(0, len(ids), CHUNK)]
    return np.concatenate([found[:0], *in_order(partial(_differences, speakers), parts)])


def _differences(speakers: Sequence[ScorerVersion], ids: Ints) -> Floats:
    rows = [values_of(version.pk, ids) for version in speakers]
    lengths = np.maximum.reduce([lengths for lengths, _ in rows])
    scorers = [_spread_out(*each, lengths) for each in rows]
    risks = [
        ragged.at_risk(each, np.full(each.n, version.threshold))
        for each, version in zip(scorers, speakers, strict=True)
    ]
    return ragged.disagreements(scorers, risks)


def _others(project: Project, versions: Sequence[ScorerVersion]) -> list[ScorerVersion]:
    """The present version of each other scorer of the project, where the strategies ask how far scorers differ."""
    if not project.strategies.get(Strategy.DISAGREEMENT.value):
        return []
    mine = [version.scorer_id for version in versions[:1]]
    found = ScorerVersion.objects.filter(scorer__project=project, measures=CORRECTNESS)
    found = found.exclude(scorer_id__in=mine)
    return list(found.in_force())


def _spread_out(mine: Ints, values: Floats, lengths: Ints) -> Rows:
    """The values (steps,) as rows of the given lengths (n,), NaN where the scorer says nothing."""
    flat = np.full(int(lengths.sum()), np.nan)
    flat[np.repeat(mine > 0, lengths)] = values
    return Rows.of(flat, lengths)
