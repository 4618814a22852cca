"""Which annotations may speak for what: the headline takes only those that nobody's doubt brought about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from annotator.core.agreement import Stops, stops
from annotator.core.intervals import Ints
from annotator.models import Project
from annotator.queries.quality.tables import GIVE_UP, UNKNOWN, WORK, Annotations, Bools, Tables


def independent(tables: Tables, project: Project) -> Bools:
    """First, counted annotations in the slots that a solution had from the start, of shape (annotations,).

    A third label is asked for where two differ, so it would make agreement look worse than it is.
    """
    annotations, solutions = tables.annotations, tables.solutions
    home = solutions.index(annotations.solution)
    base = np.where(solutions.sampled, project.labels_audit, project.labels_train)
    base = np.where(solutions.holdout, project.labels_holdout, base)
    own_slot = (annotations.slot >= 0) & (annotations.slot < base[home])
    work = (annotations.purpose == WORK) & (annotations.round == 1)
    return np.asarray(annotations.first() & own_slot & work)


def in_sample(tables: Tables) -> Bools:
    """Annotations of the audit prefix and of the holdout, of shape (annotations,)."""
    solutions = tables.solutions
    return np.asarray((solutions.sampled | solutions.holdout)[solutions.index(tables.annotations.solution)])


def telling(annotations: Annotations) -> Bools:
    """Annotations whose stop can be told: who gave up or called the problem bad is censored."""
    return np.asarray((annotations.finish < GIVE_UP) & (annotations.stop != UNKNOWN))


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """Some annotations, numbered: ``unit`` (n,) points into ``home`` (units,), rows of the solutions' arrays;
    ``rater`` (n,) into ``members`` (ids)."""

    annotations: Annotations
    unit: Ints
    rater: Ints
    home: Ints
    members: Ints

    def stops(self, tables: Tables) -> Stops:
        """These as stops in judged steps."""
        solutions = tables.solutions
        return stops(
            self.unit,
            self.rater,
            self.annotations.places(),
            solutions.n_judged[self.home],
            problems(tables, self.home),
        )


def choose(tables: Tables, keep: Bools, members: Ints | None = None) -> Chosen:
    """The annotations where ``keep`` (n,) is true. ``members``, ordered ids, numbers people as somebody else does."""
    kept = tables.annotations.where(keep)
    home, unit = np.unique(tables.solutions.index(kept.solution), return_inverse=True)
    known = np.unique(kept.member) if members is None else members
    return Chosen(kept, unit.astype(np.int64), np.searchsorted(known, kept.member), home, known)


def problems(tables: Tables, home: Ints) -> Ints:
    """The problem of each unit (units,), numbered from 0."""
    return np.asarray(np.unique(tables.solutions.problem[home], return_inverse=True)[1], dtype=np.int64)
