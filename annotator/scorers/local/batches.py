"""Which prompts go through the model together: of similar length, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Sequence

#: Largest share of a batch that may be padding: it costs as much as text and says nothing.
MAX_PADDING = 0.1


def batches(lengths: Sequence[int], budget: int) -> list[list[int]]:
    """Indices of the prompts, batch by batch, shortest first. A prompt longer than the budget stands alone.

    Rows are filled up to the longest of their batch; rows x longest stays within ``budget`` tokens, and the share of
    the filling within MAX_PADDING.

    >>> batches([5, 100, 5, 98], budget=200)
    [[0, 2], [3, 1]]
    """
    made: list[list[int]] = []
    text = 0
    for index in sorted(range(len(lengths)), key=lambda one: lengths[one]):
        longest = lengths[index]
        size = longest * (len(made[-1]) + 1) if made else 0
        if made and size <= budget and size - (text + longest) <= MAX_PADDING * size:
            made[-1].append(index)
            text += longest
        else:
            made.append([index])
            text = longest
    return made
