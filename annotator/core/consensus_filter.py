"""The consensus filter: automatic labels are kept where two kinds of them agree.

A judge reads correctness, Monte-Carlo measures utility; each errs in ways of its own, so where both put the first
error in the same place, that place can be learnt from. Zhang et al. 2025, "The lessons of developing process reward
models", section 3.2: about 40 % of the solutions were kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from annotator.core.intervals import Figure, proportion


@dataclass(frozen=True, slots=True)
class Kept:
    """How many solutions were compared, since both kinds had spoken, and how many were kept."""

    compared: int
    kept: int

    @property
    def share(self) -> Figure:
        """With Wilson's interval."""
        return proportion(self.kept, self.compared)


def agreed_stop(judges: Sequence[int], estimates: Sequence[int]) -> int | None:
    """The place of the first error (-1: none) on which every judge and every Monte-Carlo estimate agree, else None.

    Both kinds must have spoken: several of one kind may share an error.

    >>> agreed_stop([2, 2], [2]), agreed_stop([2], [3]), agreed_stop([2, 2], [])
    (2, None, None)
    """
    said = {*judges, *estimates}
    return said.pop() if judges and estimates and len(said) == 1 else None


def kept(pairs: Iterable[tuple[Sequence[int], Sequence[int]]]) -> Kept:
    """Counts over solutions, each as what judges and what estimates say; one kind alone is not compared.

    >>> kept([([1], [1]), ([1], [-1]), ([0], [])])
    Kept(compared=2, kept=1)
    """
    compared = agreed = 0
    for judges, estimates in pairs:
        if judges and estimates:
            compared += 1
            agreed += agreed_stop(judges, estimates) is not None
    return Kept(compared, agreed)
