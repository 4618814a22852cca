"""Agreement of the audit prefix and the holdout: on the stop, on steps at risk, on the finish, by group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import numpy.typing as npt
from django.db.models import Q

from annotator.core.agreement import (
    AC1,
    ALPHA,
    PERCENT,
    Ratings,
    Stops,
    figure,
    pairs,
    ratings,
    step_ratings,
)
from annotator.core.intervals import Figure, Floats, Ints, mean, totals
from annotator.models import Problem, Project
from annotator.queries.quality.choosing import Chosen, choose, problems, telling
from annotator.queries.quality.shapes import Depth, Finish, Groups, Row, Sample, Steps
from annotator.queries.quality.tables import Bools, Tables

#: Groups of one kind that are shown; the rest is left out, smallest first.
SHOWN = 12
#: Deeper steps are one group.
DEEPEST = 20
#: What step codes (incorrect, neutral, correct) become when neutral counts as correct, and as incorrect.
NEUTRAL_CORRECT, NEUTRAL_INCORRECT = (0, 1, 1), (0, 0, 1)
#: Intervals of the many small figures; the headline takes the default.
GROUP_DRAWS = 500


def sample(tables: Tables, keep: Bools, these: Stops) -> Sample:
    """How much there is to go by."""
    solutions = tables.solutions
    twice = np.bincount(these.unit, minlength=len(these.solution)) >= 2
    return Sample(
        prefix=int(solutions.sampled.sum()),
        holdout=int(solutions.holdout.sum()),
        pool=int((solutions.queued & ~solutions.holdout).sum()),
        paired=int(twice.sum()),
        annotations=int(keep.sum()),
    )


def steps(tables: Tables, chosen: Chosen) -> Steps:
    """Step figures, at risk: only steps that both reached."""
    found, depth = step_ratings(
        chosen.unit,
        chosen.rater,
        chosen.annotations.labels,
        _n_steps(chosen),
        problems(tables, chosen.home),
    )
    lenient, strict = found.recoded(NEUTRAL_CORRECT), found.recoded(NEUTRAL_INCORRECT)
    loose, tight = (_by_depth(each, np.minimum(depth, DEEPEST)) for each in (lenient, strict))
    by_depth = [Depth(_depth_name(at), loose[at], tight[at]) for at in loose]
    return Steps(
        figure(lenient, PERCENT),
        figure(strict, PERCENT),
        figure(lenient, ALPHA),
        figure(strict, ALPHA),
        by_depth,
    )


def finish(tables: Tables, chosen: Chosen) -> Finish:
    """Agreement on the finish reason; who gave up has one too."""
    found = ratings(
        chosen.unit,
        chosen.rater,
        chosen.annotations.finish,
        range(4),
        solution=np.arange(len(chosen.home)),
        problem=problems(tables, chosen.home),
    )
    return Finish(figure(found, PERCENT), figure(found, AC1))


def groups(tables: Tables, chosen: Chosen, project: Project) -> Groups:
    """Exact agreement on the stop within each group of solutions."""
    these = chosen.stops(tables)
    share, paired = _shares(these.unit, these.stop, len(these.solution))
    domain, subject = _topics(tables, chosen.home, project)
    cluster = these.problem

    def rows(names: npt.NDArray[np.str_], most: int = SHOWN) -> list[Row]:
        return _rows(names, share, paired, cluster, most)

    month = sorted(rows(_months(chosen), most=24), key=lambda row: row.name)
    return Groups(rows(domain), rows(subject), rows(tables.solutions.generator[chosen.home]), month)


def agreement_of(tables: Tables, keep: Bools) -> tuple[Chosen, Stops]:
    """The uncensored ones of these annotations, and their stops."""
    chosen = choose(tables, keep & telling(tables.annotations))
    return chosen, chosen.stops(tables)


def _shares(unit: Ints, value: Ints, size: int) -> tuple[Floats, Bools]:
    """Share of pairs with the same value of each unit (size,), and where there are pairs.

    The mean of these shares is percent agreement, so groups of any kind need no more than one pass.
    """
    first, second = pairs(unit)
    same = (value[first] == value[second]).astype(np.float64)
    possible = np.bincount(unit[first], minlength=size)
    return totals(unit[first], same, size) / np.maximum(possible, 1), possible > 0


def _by_depth(these: Ratings, depth: Ints) -> dict[int, Figure]:
    """Percent agreement at each depth (units,) that two people reached; n counts solutions."""
    share, paired = _shares(these.unit, these.code, these.n_units)
    share, depth, home, cluster = share[paired], depth[paired], these.solution[paired], these.problem[paired]
    if not len(depth):
        return {}
    order = np.argsort(depth, kind="stable")
    known, starts = np.unique(depth[order], return_index=True)
    found = {}
    for at, mine in zip(known.tolist(), np.split(order, starts[1:]), strict=True):
        each = mean(share[mine], cluster[mine], GROUP_DRAWS)
        found[at] = replace(each, n=len(np.unique(home[mine]))) if at == DEEPEST else each
    return found


def _rows(names: npt.NDArray[np.str_], share: Floats, paired: Bools, cluster: Ints, most: int) -> list[Row]:
    known, group = np.unique(names, return_inverse=True)
    sizes = np.bincount(group[paired], minlength=len(known))
    found = []
    for at in np.argsort(-sizes, kind="stable")[:most].tolist():
        mine = paired & (group == at)
        if known[at] and mine.any():
            found.append(Row(str(known[at]), mean(share[mine], cluster[mine], GROUP_DRAWS)))
    return found


def _n_steps(chosen: Chosen) -> Ints:
    sizes = np.zeros(len(chosen.home), dtype=np.int64)
    sizes[chosen.unit] = chosen.annotations.n_steps
    return sizes


def _depth_name(depth: int) -> str:
    return f"{depth + 1}+" if depth == DEEPEST else str(depth + 1)


def _months(chosen: Chosen) -> npt.NDArray[np.str_]:
    """When the last of a unit's annotations came, as "2026-03", of shape (units,)."""
    last = np.zeros(len(chosen.home))
    np.maximum.at(last, chosen.unit, chosen.annotations.at)
    return np.array([_month(at) for at in last.tolist()], dtype=np.str_)


def _month(seconds: float) -> str:
    at = datetime.fromtimestamp(seconds, UTC)
    return f"{at.year}-{at.month:02}"


def _topics(
    tables: Tables, home: Ints, project: Project
) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.str_]]:
    """Domain and subject of each unit's problem, both (units,); "" where a problem has none."""
    named = Problem.objects.filter(~Q(domain="", subject=""), project=project)
    known: Mapping[int, tuple[str, str]] = {
        pk: (domain, subject) for pk, domain, subject in named.values_list("pk", "domain", "subject")
    }
    both = [known.get(problem, ("", "")) for problem in tables.solutions.problem[home].tolist()]
    return (
        np.array([domain for domain, _ in both], dtype=np.str_),
        np.array([subject for _, subject in both], dtype=np.str_),
    )
