"""What the labels say of the pool, by a sample that allows it and by one that doesn't; and how many are wrong."""

from __future__ import annotations

import numpy as np

from annotator.core.consensus import noise_by_adjudication, noise_by_reannotation
from annotator.core.intervals import Figure, Ints, mean
from annotator.core.labels import NO_ERROR
from annotator.models import Adjudication, Project
from annotator.queries.quality.choosing import Chosen, choose, problems, telling
from annotator.queries.quality.shapes import Truth
from annotator.queries.quality.tables import WORK, Bools, Tables


def truth(tables: Tables, project: Project, independent: Bools, sampled: Bools) -> Truth:
    """Erroneous solutions among the audit prefix beside the plain mean of all labelled ones; label noise."""
    annotations, solutions = tables.annotations, tables.solutions
    train = ~solutions.holdout[solutions.index(annotations.solution)]
    all_work = annotations.first() & (annotations.purpose == WORK) & telling(annotations) & train
    audit = choose(tables, independent & sampled & telling(annotations) & train)
    pairs = choose(tables, independent & sampled & telling(annotations))
    return Truth(
        audit_mean=_error_rate(tables, audit),
        naive_mean=_error_rate(tables, choose(tables, all_work)),
        noise_reannotation=_noise(tables, pairs),
        noise_adjudication=_confirmed(tables, project, pairs),
    )


def _error_rate(tables: Tables, chosen: Chosen) -> Figure:
    """Share of solutions that their first annotation calls erroneous."""
    first = _firsts(chosen)
    says = (chosen.annotations.stop[first] != NO_ERROR).astype(np.float64)
    return mean(says, problems(tables, chosen.home))


def _noise(tables: Tables, chosen: Chosen) -> Figure:
    """From the two annotations that a solution of the sample had first, each blind to the other."""
    order = np.lexsort((chosen.annotations.slot, chosen.unit))
    unit, stop = chosen.unit[order], chosen.annotations.stop[order]
    starts = np.flatnonzero(np.concatenate([[True], unit[1:] != unit[:-1]])) if len(unit) else unit
    twice = starts[(starts + 1 < len(unit)) & (unit[np.minimum(starts + 1, len(unit) - 1)] == unit[starts])]
    cluster = problems(tables, chosen.home)
    return noise_by_reannotation(stop[twice], stop[twice + 1], cluster[unit[twice]])


def _confirmed(tables: Tables, project: Project, chosen: Chosen) -> Figure:
    """From blind decisions about random agreed solutions: the first annotation beside what was decided."""
    decided = dict(
        Adjudication.objects.filter(solution__project=project, case__blind=True, stop__isnull=False)
        .order_by("decided_at", "pk")
        .values_list("solution_id", "stop")
    )
    first = _firsts(chosen)
    ids = tables.solutions.id[chosen.home]
    known = np.isin(ids, np.fromiter(decided, dtype=np.int64, count=len(decided)))
    right = np.array([decided[pk] for pk in ids[known].tolist()], dtype=np.int64)
    return noise_by_adjudication(
        chosen.annotations.stop[first][known], right, problems(tables, chosen.home)[known]
    )


def _firsts(chosen: Chosen) -> Ints:
    """The annotation of the lowest slot of each unit (units,)."""
    order = np.lexsort((chosen.annotations.slot, chosen.unit))
    unit = chosen.unit[order]
    if not len(unit):
        return order
    return np.asarray(order[np.flatnonzero(np.concatenate([[True], unit[1:] != unit[:-1]]))])
