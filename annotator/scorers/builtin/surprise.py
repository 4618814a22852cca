"""What a small language model makes of a step: features from the losses of its tokens, given all that precedes.

A step that is wrong is more often one that was not foreseen, above all in its numbers. Causal, as `features` is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotator.core.solutions import Step
from annotator.scorers.builtin.language_model import LanguageModel, Surprise, Words

SURPRISES = (
    "mean_loss",
    "largest_loss",
    "ninth_decile_of_loss",
    "spread_of_loss",
    "mean_entropy",
    "share_foreseen",
    "mean_loss_of_figures",
    "largest_loss_of_figures",
    "share_of_figures_foreseen",
    "loss_over_entropy",
    "sure_of_another_token",
    "sure_of_another_figure",
    "loss_of_first_tokens",
    "loss_against_earlier_steps",
    "figures_against_earlier_steps",
    "log_tokens",
)
#: Tokens that are read at once: a longer solution is read in windows that overlap by half.
MAX_TOKENS = 2_048
MAX_PROBLEM_TOKENS = 900
#: Probability from which the model counts as sure.
SURE = 0.5
#: What stands between steps when the model reads them.
BETWEEN = "\n\n"
#: The owner of tokens between steps. They belong to none: else a step would be read differently once another one
#: follows it, and a fit on solutions cut at their first error would learn that the wrong step is the last.
NO_STEP = -1

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Read:
    """A solution's tokens, their surprise, the step of each (``owner``; NO_STEP for what stands between steps) and
    whether it is a figure."""

    surprise: Surprise
    owner: Ints
    figure: npt.NDArray[np.bool_]


def surprises(model: LanguageModel, words: Words, problem: str, steps: Sequence[Step]) -> Floats:
    """Features of every step, context included: shape (steps, len(SURPRISES)); a step without tokens has zeros."""
    return summarised(read(model, words, problem, [step.text for step in steps]), len(steps))


def read(model: LanguageModel, words: Words, problem: str, texts: Sequence[str]) -> Read:
    """The surprise of every token of the steps, as an assistant's answer to the problem."""
    asked, _ = words.encode(problem)
    turn, end = words.place["<|im_start|>"], words.place["<|im_end|>"]
    user, new_line, assistant = (words.encode(text)[0] for text in ("user\n", "\n", "assistant\n"))
    head = [turn, *user, *asked[:MAX_PROBLEM_TOKENS], end, *new_line, turn, *assistant]
    tokens, starts = words.encode(BETWEEN.join(texts))
    owner = owners(texts, starts)
    digits = {words.place[digit] for digit in "0123456789"}
    figure = np.array([token in digits for token in tokens], dtype=np.bool_)
    return Read(_in_windows(model, head, tokens), owner, figure)


def owners(texts: Sequence[str], starts: Sequence[int]) -> Ints:
    """The step of each token that begins at these characters of the joined texts, NO_STEP behind a step's last word.

    >>> owners(["a b", "c"], [0, 2, 3, 4, 5]).tolist()
    [0, 0, -1, -1, 1]
    """
    begins = np.cumsum([0, *(len(text) + len(BETWEEN) for text in texts)])[: len(texts)]
    ends = begins + np.array([len(text.rstrip()) for text in texts], dtype=np.int64)
    owner = np.searchsorted(begins, starts, side="right") - 1
    return np.where(np.asarray(starts) < ends[owner], owner, NO_STEP)


def _in_windows(model: LanguageModel, head: list[int], tokens: list[int]) -> Surprise:
    room = MAX_TOKENS - len(head)
    parts: list[Surprise] = []
    done = 0
    while done < len(tokens):
        begin = max(0, done - room // 2)
        window = tokens[begin : begin + room]
        parts.append(model.surprise([*head, *window], len(head) + done - begin))
        done = begin + len(window)
    if not parts:
        nothing = np.zeros(0, dtype=np.float32)
        return Surprise(nothing, nothing, nothing, nothing.astype(np.bool_))
    return Surprise(
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("loss", "entropy", "top", "hit")
        )
    )


def summarised(found: Read, steps: int) -> Floats:
    """One row of SURPRISES for each step."""
    rows = np.zeros((steps, len(SURPRISES)))
    earlier: list[float] = []
    earlier_figures: list[float] = []
    for number in range(steps):
        place = np.flatnonzero(found.owner == number)
        if not len(place):
            continue
        loss, figures = found.surprise.loss[place].astype(np.float64), place[found.figure[place]]
        of_figures = found.surprise.loss[figures].astype(np.float64)
        rows[number] = _summary(found.surprise, place, figures, earlier, earlier_figures)
        earlier.append(float(loss.mean()))
        if len(figures):
            earlier_figures.append(float(of_figures.mean()))
    return rows


def _summary(
    surprise: Surprise, place: Ints, figures: Ints, earlier: list[float], earlier_figures: list[float]
) -> list[float]:
    loss, of_figures = surprise.loss[place].astype(np.float64), surprise.loss[figures].astype(np.float64)
    entropy, misled = surprise.entropy[place], (surprise.top > SURE) & ~surprise.hit
    mean, of_numbers = float(loss.mean()), float(of_figures.mean()) if len(figures) else 0.0
    return [
        mean,
        float(loss.max()),
        float(np.quantile(loss, 0.9)),
        float(loss.std()),
        float(entropy.mean()),
        float(surprise.hit[place].mean()),
        of_numbers,
        float(of_figures.max(initial=0.0)),
        float(surprise.hit[figures].mean()) if len(figures) else 1.0,
        float((loss - entropy).mean()),
        float(misled[place].mean()),
        float(misled[figures].sum()),
        float(loss[:3].mean()),
        mean - float(np.mean(earlier)) if earlier else 0.0,
        of_numbers - float(np.mean(earlier_figures)) if earlier_figures and len(figures) else 0.0,
        float(np.log1p(len(place))),
    ]
