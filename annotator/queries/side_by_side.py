"""Sources of labels side by side: what people decided, what judges and PRMs say, and how often a solution ends well.

Only solutions that are settled: nobody is labelling them, no case is open, none is gold. So the page tells nobody
anything about work that is still to be done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import connection

from annotator.core.consensus_filter import Kept
from annotator.core.intervals import Figure, mean
from annotator.core.labels import NO_ERROR, Label
from annotator.models import Project, Rollouts, Score, ScorerVersion, Solution
from annotator.queries.costs import Costs, costs
from annotator.queries.label_sources import MONTE_CARLO, consensus_kept, source_of, versions_in_force
from annotator.scorers.base import CORRECTNESS

#: Solutions that are shown step by step, domains that have a row; the file has them all.
SHOWN, DOMAINS = 10, 8
PEOPLE = "people, before adjudication"
#: Groups by where the first error is, in people's counting; the last is open.
DEPTHS = ((0, "step 1"), (1, "step 2"), (2, "step 3"), (4, "steps 4–5"), (9, "steps 6–10"))

# The latest adjudication stands above the consensus.
_SETTLED = """
WITH decided AS (SELECT DISTINCT ON (a.solution_id) a.solution_id, a.stop, a.labels FROM annotator_adjudication a
  JOIN annotator_solution s ON s.id = a.solution_id WHERE s.project_id = %(project)s
  ORDER BY a.solution_id, a.decided_at DESC, a.id DESC)
SELECT s.id, s.problem_id, p.domain, d.solution_id IS NOT NULL, coalesce(d.stop, c.stop), c.stop,
  coalesce(d.labels, c.labels)
FROM annotator_solution s JOIN annotator_problem p ON p.id = s.problem_id
JOIN annotator_queuerow q ON q.solution_id = s.id
LEFT JOIN decided d ON d.solution_id = s.id
LEFT JOIN annotator_consensus c ON c.solution_id = s.id AND c.state = 'agreed'
WHERE s.project_id = %(project)s AND (d.stop IS NOT NULL OR d.solution_id IS NULL AND c.stop IS NOT NULL)
  AND (d.solution_id IS NOT NULL OR q.taken >= q.wanted)
  AND NOT EXISTS (SELECT 1 FROM annotator_gold g WHERE g.solution_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM annotator_assignment l WHERE l.solution_id = s.id AND l.state = 'live')
  AND NOT EXISTS (SELECT 1 FROM annotator_adjudicationcase k WHERE k.solution_id = s.id AND k.closed_at IS NULL)
ORDER BY s.id
"""


@dataclass(frozen=True, slots=True)
class Settled:
    """What people say of one solution in the end; ``before`` is their stop before somebody decided."""

    solution: int
    problem: int
    domain: str
    adjudicated: bool
    stop: int
    before: int | None
    labels: Sequence[int | None]


@dataclass(frozen=True, slots=True)
class Agreement:
    """How often one source puts the first error exactly where adjudicators do."""

    name: str
    source: str
    measures: str
    total: Figure
    domains: Sequence[tuple[str, Figure]]
    depths: Sequence[tuple[str, Figure]]


@dataclass(frozen=True, slots=True)
class PartingStep:
    """One step that people judged, or one after their stop (``label`` None). ``utility`` is the share that ends well,
    ``tried`` and ``right`` its continuations, None where none were needed. ``parts``: the two say different things."""

    index: int
    text: str
    judged: bool
    label: int | None
    utility: float | None
    tried: int | None
    right: int | None
    parts: str = ""

    @property
    def shown(self) -> int:
        """People count steps from 1."""
        return self.index + 1

    @property
    def percent(self) -> str:
        """How long its bar is."""
        return f"{100 * (self.utility or 0.0):.1f}"


@dataclass(frozen=True, slots=True)
class Parting:
    """A solution in which utility and correctness part."""

    solution: int
    external_id: str
    problem_text: str
    domain: str
    adjudicated: bool
    stop: int
    utility_stop: int
    steps: Sequence[PartingStep]


@dataclass(frozen=True, slots=True)
class Table:
    """Steps by what people call them and whether any continuation ends well from there."""

    sound_ends_well: int = 0
    sound_does_not: int = 0
    wrong_ends_well: int = 0
    wrong_does_not: int = 0

    @property
    def total(self) -> int:
        return self.sound_ends_well + self.sound_does_not + self.wrong_ends_well + self.wrong_does_not

    @property
    def parting(self) -> int:
        return self.sound_does_not + self.wrong_ends_well


@dataclass(frozen=True, slots=True)
class SideBySide:
    """The page. ``estimate`` names the Monte-Carlo scorer that is shown step by step, "" where there is none;
    ``costs`` are None for those who have no business with them."""

    settled: int
    adjudicated: int
    agreements: Sequence[Agreement]
    costs: Costs | None
    filter: Kept
    estimate: str
    table: Table
    partings: Sequence[Parting]
    parting_solutions: int


def side_by_side(project: Project, *, with_costs: bool = True) -> SideBySide:
    """A constant number of queries, whatever the number of labels and scorers."""
    known = settled(project)
    versions = versions_in_force(project.pk)
    found = estimates(known, versions)
    parting = [one for one in found if any(step.parts for step in one[1])]
    parting.sort(key=lambda one: (not one[0].adjudicated, -one[0].solution))
    version = _estimate(versions)
    return SideBySide(
        settled=len(known),
        adjudicated=sum(one.adjudicated for one in known),
        agreements=_agreements(known, versions),
        costs=costs(project) if with_costs else None,
        filter=consensus_kept(project),
        estimate=version.scorer.name if version else "",
        table=_table(found),
        partings=_shown(parting[:SHOWN]),
        parting_solutions=len(parting),
    )


def settled(project: Project) -> list[Settled]:
    """Every solution on which people's word is final, in order: one query."""
    with connection.cursor() as cursor:
        cursor.execute(_SETTLED, {"project": project.pk})
        return [Settled(*row) for row in cursor.fetchall()]


def _estimate(versions: Sequence[ScorerVersion]) -> ScorerVersion | None:
    """The newest Monte-Carlo estimate."""
    mine = [one for one in versions if source_of(one.scorer.kind) == MONTE_CARLO]
    return max(mine, key=lambda one: one.pk, default=None)


def estimates(
    known: Sequence[Settled], versions: Sequence[ScorerVersion]
) -> list[tuple[Settled, list[PartingStep], int]]:
    """Settled solutions that the newest Monte-Carlo estimate has valued, without texts, and its stop: two queries."""
    version = _estimate(versions)
    if version is None:
        return []
    by_id = {one.solution: one for one in known}
    scores = Score.objects.filter(version=version, solution_id__in=list(by_id)).order_by("solution_id")
    rows = list(scores.values_list("solution_id", "values", "predicted_stop"))
    tallies: dict[tuple[int, int], tuple[int, int]] = {
        (solution, step): (tried, right)
        for solution, step, tried, right in Rollouts.objects.filter(
            version=version, solution_id__in=[row[0] for row in rows]
        ).values_list("solution_id", "step", "tried", "right")
    }
    return [
        (by_id[solution], _steps(by_id[solution], values, version.threshold, tallies), stop)
        for solution, values, stop in rows
    ]


def _steps(
    people: Settled,
    values: Sequence[float | None],
    threshold: float,
    tallies: Mapping[tuple[int, int], tuple[int, int]],
) -> list[PartingStep]:
    steps = []
    for index, (label, value) in enumerate(zip(people.labels, values, strict=True)):
        tried, right = tallies.get((people.solution, index), (None, None))
        known = label if people.stop == NO_ERROR or index <= people.stop else None
        parts = _parts(known, value, threshold)
        steps.append(PartingStep(index, "", value is not None, known, value, tried, right, parts))
    return steps


def _parts(label: int | None, value: float | None, threshold: float) -> str:
    """Neutral is no error."""
    if label is None or value is None:
        return ""
    if label == Label.INCORRECT:
        return "wrong_ends_well" if value >= threshold else ""
    return "sound_does_not" if value < threshold else ""


def _table(found: Sequence[tuple[Settled, list[PartingStep], int]]) -> Table:
    counts = dict.fromkeys(("sound_ends_well", "sound_does_not", "wrong_ends_well", "wrong_does_not"), 0)
    for _, steps, _ in found:
        for step in steps:
            if step.label is not None and step.utility is not None:
                agreed = "wrong_does_not" if step.label == Label.INCORRECT else "sound_ends_well"
                counts[step.parts or agreed] += 1
    return Table(**counts)


def _shown(parting: Sequence[tuple[Settled, list[PartingStep], int]]) -> list[Parting]:
    """The same with texts: one query."""
    rows = Solution.objects.filter(pk__in=[one[0].solution for one in parting]).select_related("problem")
    texts = rows.in_bulk()
    found = []
    for people, steps, stop in parting:
        solution = texts[people.solution]
        found.append(
            Parting(
                solution=people.solution,
                external_id=solution.external_id or f"#{solution.pk}",
                problem_text=solution.problem.text,
                domain=people.domain,
                adjudicated=people.adjudicated,
                stop=people.stop,
                utility_stop=stop,
                steps=[
                    PartingStep(
                        step.index,
                        solution.steps[step.index]["text"],
                        step.judged,
                        step.label,
                        step.utility,
                        step.tried,
                        step.right,
                        step.parts,
                    )
                    for step in steps
                ],
            )
        )
    return found


def _agreements(known: Sequence[Settled], versions: Sequence[ScorerVersion]) -> list[Agreement]:
    """People before adjudication first, then every scorer, over what was adjudicated: one query."""
    truth = [one for one in known if one.adjudicated]
    said: dict[int, dict[int, int]] = {version.pk: {} for version in versions}
    rows: Any = Score.objects.filter(
        version__in=versions, solution_id__in=[one.solution for one in truth]
    ).values_list("version_id", "solution_id", "predicted_stop")
    for version, solution, stop in rows:
        said[version][solution] = stop
    people = {one.solution: one.before for one in truth if one.before is not None}
    found = [_agreement(PEOPLE, "human", CORRECTNESS, truth, people)]
    return found + [
        _agreement(one.scorer.name, source_of(one.scorer.kind), one.measures, truth, said[one.pk])
        for one in versions
    ]


def _agreement(
    name: str, source: str, measures: str, truth: Sequence[Settled], said: Mapping[int, int]
) -> Agreement:
    mine = [one for one in truth if one.solution in said]
    hits = np.array([said[one.solution] == one.stop for one in mine], dtype=np.float64)
    problem = np.unique([one.problem for one in mine], return_inverse=True)[1].astype(np.int64)
    domain = np.array([one.domain or "no domain" for one in mine], dtype=np.str_)
    depth = np.array([depth_name(one.stop) for one in mine], dtype=np.str_)

    def figures(group: Any, names: Sequence[str]) -> list[tuple[str, Figure]]:
        return [(each, mean(hits[group == each], problem[group == each])) for each in names]

    seen, counts = np.unique(domain, return_counts=True)
    largest = seen[np.argsort(-counts, kind="stable")[:DOMAINS]].tolist()
    depths = [each for each in DEPTH_NAMES if (depth == each).any()]
    return Agreement(
        name, source, measures, mean(hits, problem), figures(domain, largest), figures(depth, depths)
    )


def depth_name(stop: int) -> str:
    """The group of a stop.

    >>> depth_name(-1), depth_name(4), depth_name(40)
    ('no error', 'steps 4–5', 'step 11 and later')
    """
    if stop == NO_ERROR:
        return "no error"
    return next((name for last, name in DEPTHS if stop <= last), "step 11 and later")


DEPTH_NAMES = ("no error", *(name for _, name in DEPTHS), "step 11 and later")
