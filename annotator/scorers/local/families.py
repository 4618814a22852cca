"""Families of PRMs: how each is prompted, at which tokens it is read, and by which readout.

Three readouts cover the field: a class head at a marker, the softmax over a few token ids at or before a marker, and
the sigmoid of value heads. Prompts follow the authors' code word for word; sources are named at each family. What
somebody wrote in a problem or step can't add a place: places are known from how the prompt was put together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from annotator.scorers import sglang, vllm
from annotator.scorers.base import ScoringInput
from annotator.scorers.local.prompts import Piece, Speech, Unscorable, Writer, found, squeezed, turns

LayOut = Callable[[ScoringInput, Speech], list[Piece]]


class Readout(StrEnum):
    """CLASSES: softmax of the model's own class head. TOKENS: softmax over label tokens. VALUE: sigmoid of a head.
    HEADS: sigmoid of K heads, their mean and spread. CLASSIFIER: a token classifier as transformers saves it."""

    CLASSES = "classes"
    TOKENS = "tokens"
    VALUE = "value"
    HEADS = "heads"
    CLASSIFIER = "classifier"


@dataclass(frozen=True, slots=True)
class Family:
    """One way of prompting and reading.

    ``marker`` must be one token, and the one that is found at each place; None where any token may end a step.
    ``labels`` are the texts of the label tokens, "correct" first; each must be one token. ``before``: the score is
    read one token earlier, where the marker is predicted.
    """

    name: str
    readout: Readout
    lay_out: LayOut
    marker: str | None
    labels: tuple[str, str] | None = None
    before: bool = False
    generic: bool = False
    separator: str = ""


def _qwen(item: ScoringInput, speech: Speech) -> list[Piece]:
    """A chat whose answer holds the steps, `<extra_0>` after each: as the vLLM door sends it."""
    family = vllm.FAMILIES["qwen_prm"]
    return [found(speech.chat(family.messages(item)), family.tag, framed=True)]


def _math_shepherd(item: ScoringInput, speech: Speech) -> list[Piece]:
    """Plain text, `Step 1: … ки` a line: as the SGLang door sends it."""
    family = sglang.FAMILIES["math_shepherd"]
    return [found(family.query(item) + family.steps(item), family.tag, framed=True)]


def _skywork(item: ScoringInput, speech: Speech) -> list[Piece]:
    """Each line is tokenized by itself and ended by the newline's own token; a step is read at its last line's."""
    pieces = [Piece(f"{speech.bos}{item.problem}\n")]
    for text, judged in turns(item):
        lines = text.split("\n")
        for index, line in enumerate(lines):
            if line:
                pieces.append(Piece(line))
            read = judged and index == len(lines) - 1
            pieces.append(Piece("\n", (1,) if read else ()))
    return pieces


def _rlhflow(item: ScoringInput, speech: Speech) -> list[Piece]:
    """A chat: each step is the user's turn, the answer `+` is given. Context joins the next judged step."""
    messages: list[dict[str, str]] = []
    begins: list[str] = []
    waiting: list[str] = []
    for text, judged in turns(item):
        waiting.append(text)
        if not judged:
            continue
        said = "\n\n".join(waiting)
        first = f"{item.problem} " if not messages else ""
        messages += [{"role": "user", "content": first + said}, {"role": "assistant", "content": "+"}]
        waiting = []
        told = speech.chat(messages)
        begins.append(told[: told.rindex("+") + 1])
    text = speech.chat(messages)
    if not all(text.startswith(begin) for begin in begins):
        raise Unscorable("The model's chat template changes earlier turns, so no places can be read in it.")
    return [Piece(text, tuple(map(len, begins)))]


def _versaprm(item: ScoringInput, speech: Speech) -> list[Piece]:
    """Question, a blank line, steps with four line breaks after each."""
    item = squeezed(item)
    writer = Writer()
    writer.write(f"{item.problem.strip()} \n\n")
    for text, judged in turns(item):
        writer.write(text)
        writer.write(VERSA_MARKER if judged else " \n\n", read=judged)
    return [writer.piece(framed=True)]


def _openr(item: ScoringInput, speech: Speech) -> list[Piece]:
    """Question and numbered steps in one line, with five line breaks after each."""
    item = squeezed(item)
    writer = Writer()
    writer.write(item.problem.strip())
    number = 0
    for text, judged in turns(item):
        number += judged
        writer.write(f" Step {number}: {sglang.unnumbered(text)}" if judged else f" {text}")
        if judged:
            writer.write(OPENR_MARKER, read=True)
    return [writer.piece(framed=True)]


def _mm_prm(item: ScoringInput, speech: Speech) -> list[Piece]:
    """InternVL 2.5's chat with an empty user's turn: question and steps are the assistant's. Text alone, no image."""
    writer = Writer()
    writer.write(
        f"<|im_start|>system\n{INTERNVL_SYSTEM}<|im_end|>\n<|im_start|>user\n<|im_start|>assistant\n"
    )
    writer.write(f"Question: {item.problem.strip()}\nProcess: ")
    for text, judged in turns(item):
        writer.write(text)
        writer.write("<prm>" if judged else "\n\n", read=judged)
    return [writer.piece(framed=True)]


def _separated(separator: str) -> LayOut:
    """Problem and steps, each tokenized by itself, the separator after each step: as TRL trains its PRMs."""

    def lay_out(item: ScoringInput, speech: Speech) -> list[Piece]:
        pieces = [Piece(speech.bos + item.problem)]
        for text, judged in turns(item):
            pieces += [Piece(text), Piece(separator, (len(separator),) if judged else ())]
        return [piece for piece in pieces if piece.text]

    return lay_out


def generic(separator: str | None) -> Family:
    """A token classifier whose steps end in this separator; ``\\n`` in the settings stands for a line break."""
    said = "\n" if separator is None else separator.replace("\\n", "\n")
    return Family(
        "token_classifier", Readout.CLASSIFIER, _separated(said), marker=None, generic=True, separator=said
    )


VERSA_MARKER, OPENR_MARKER = " \n\n\n\n", " \n\n\n\n\n"
INTERNVL_SYSTEM = (
    "你是书生·万象，英文名是InternVL，"
    "是由上海人工智能实验室、清华大学及多家合作单位联合开发的多模态大语言模型。"
)

FAMILIES: Mapping[str, Family] = {
    family.name: family
    for family in (
        # Zhang et al. 2025, model card: class 1 of 2 at <extra_0>.
        Family("qwen_prm", Readout.CLASSES, _qwen, marker="<extra_0>"),
        # Wang et al. 2024, model card: [+, -] at ки.
        Family("math_shepherd", Readout.TOKENS, _math_shepherd, marker="ки", labels=("+", "-")),
        # skywork-o1-prm-inference: prepare_input, ValueHead.
        Family("skywork", Readout.VALUE, _skywork, marker="\n"),
        # RLHF-Reward-Modeling/math-rm/prm_evaluate.py: [+, -] where the answer is predicted.
        Family("rlhflow", Readout.TOKENS, _rlhflow, marker="+", labels=("+", "-"), before=True),
        # Zeng et al. 2025, model card: index 1 of [-, +].
        Family("versaprm", Readout.TOKENS, _versaprm, marker=VERSA_MARKER, labels=("+", "-")),
        # openr/prm/infer_fns.py: index 0 of [" +", " -"].
        Family("openr", Readout.TOKENS, _openr, marker=OPENR_MARKER, labels=(" +", " -")),
        # MM-PRM: [Yes, No] at <prm>.
        Family("mm_prm", Readout.TOKENS, _mm_prm, marker="<prm>", labels=("Yes", "No")),
        # ActivePRM: Qwen2ForEnsemblePRM, prompted as Qwen's.
        Family("actprm", Readout.HEADS, _qwen, marker="<extra_0>"),
        generic(None),
    )
}
