"""Step labels as ratings. In `first_error` only steps that both people reached can be compared: "at risk"."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from annotator.core.agreement.ratings import InvalidRatings, Ratings, ratings
from annotator.core.intervals import Ints

#: Stands for None in an array of labels: not judged, or context.
NOT_JUDGED = 9


def step_ratings(
    solution: npt.ArrayLike,
    rater: npt.ArrayLike,
    labels: npt.ArrayLike,
    n_steps: npt.ArrayLike,
    problem: npt.ArrayLike | None = None,
) -> tuple[Ratings, Ints]:
    """Ratings of single steps, and each step's depth (0-based over all steps), to be used with `by_group`.

    ``solution`` and ``rater`` have shape (annotations,); ``labels`` are all annotations' labels one after another,
    `NOT_JUDGED` for None, as many as each one's solution has steps; ``n_steps`` and ``problem`` have shape
    (solutions,). Figures still count solutions and resample problems. Raises InvalidRatings.

    >>> steps, depth = step_ratings([0, 0], [0, 1], [1, -1, 9, 1, 1, 1], [3])
    >>> steps.unit.tolist(), depth.tolist()
    ([0, 1, 0, 1, 2], [0, 1, 2])
    """
    home, who = np.asarray(solution, dtype=np.int64), np.asarray(rater, dtype=np.int64)
    said, sizes = np.asarray(labels), np.asarray(n_steps, dtype=np.int64)
    lengths = sizes[home]
    if len(home) != len(who) or len(said) != int(lengths.sum()):
        raise InvalidRatings(f"{len(said)} labels do not fit annotations of {int(lengths.sum())} steps")
    start = np.cumsum(sizes) - sizes
    first = np.cumsum(lengths) - lengths
    unit = np.arange(len(said)) + np.repeat(start[home] - first, lengths)
    judged = said != NOT_JUDGED
    owner = np.repeat(np.arange(len(sizes)), sizes)
    cluster = owner if problem is None else np.asarray(problem, dtype=np.int64)[owner]
    found = ratings(
        unit[judged], np.repeat(who, lengths)[judged], said[judged], solution=owner, problem=cluster
    )
    return found, np.arange(len(owner)) - start[owner]
