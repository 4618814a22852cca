"""What a scorer learns from labels: a target for each step, softened where the people's own certainty is known.

A scorer that reads step by step says how likely a step is correct given that all before it are. So that is its target:
with the chance of each stop, one minus the chance that the first error is here among those that are not before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from annotator.core.labels import NO_ERROR, Label

#: Steps that were reached with less than even odds teach nothing.
REACHED = 0.5
#: Targets are kept to so many digits, so that a posterior that moves by less makes no new snapshot.
DIGITS = 3

Targets = tuple[float | None, ...]


def hard_targets(labels: Sequence[int | None]) -> Targets:
    """1 for correct and neutral steps, 0 for incorrect ones, None where nobody judged.

    >>> hard_targets([1, 0, -1, None])
    (1.0, 1.0, 0.0, None)
    """
    return tuple(None if label is None else float(label != Label.INCORRECT) for label in labels)


def stop_targets(stop: int, judged: Sequence[bool]) -> Targets:
    """The targets of a stop (-1: none) over all steps: 1 before it, 0 at it, None after it and for context.

    >>> stop_targets(2, [True, False, True, True])
    (1.0, None, 0.0, None)
    """
    end = len(judged) if stop == NO_ERROR else stop + 1
    return tuple(float(at != stop) if takes and at < end else None for at, takes in enumerate(judged))


def soft_targets(stop: int, judged: Sequence[bool], posterior: float, others: Sequence[int] = ()) -> Targets:
    """The same where the stop is right with probability ``posterior``.

    The rest is shared by the stops that other people gave (``others``, over all steps), else evenly by every other
    place. Target of a judged step i: 1 - P(stop = i) / P(stop >= i), "none" being last; None where P(stop >= i) is
    below one half. Raises ValueError for a posterior outside [0, 1] or a stop that takes no label.

    >>> soft_targets(1, [True, True, True], 0.9, others=[2])
    (1.0, 0.1, None)
    >>> soft_targets(-1, [True, True], 0.8)
    (0.9, 0.889)
    """
    places = [at for at, takes in enumerate(judged) if takes]
    if not 0.0 <= posterior <= 1.0:
        raise ValueError(f"a posterior lies between 0 and 1, got {posterior!r}")
    if stop != NO_ERROR and stop not in places:
        raise ValueError(f"step {stop} takes no label")
    chance = _chances([*places, NO_ERROR], stop, posterior, others)
    targets: list[float | None] = [None] * len(judged)
    reached = 1.0
    for at in places:
        if reached < REACHED:
            break
        targets[at] = round(1.0 - min(1.0, chance[at] / reached), DIGITS)
        reached -= chance[at]
    return tuple(targets)


def _chances(places: Sequence[int], stop: int, posterior: float, others: Sequence[int]) -> dict[int, float]:
    """The chance of each stop; they add up to 1."""
    rivals = [each for each in others if each != stop and each in places]
    rivals = rivals or [each for each in places if each != stop]
    chance = dict.fromkeys(places, 0.0)
    for each in rivals:
        chance[each] += (1.0 - posterior) / len(rivals)
    chance[stop] = posterior if rivals else 1.0
    return chance
