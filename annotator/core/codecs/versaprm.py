"""VersaPRM: a question and its chains of thought, each with one label a step and further candidates (``augs``).

Its trainer takes 1 as right and all else as wrong, and reads no further than the first wrong step. Rows made from
PRM800K also hold 0, which is neutral there. Zeng et al. 2025, "VersaPRM: Multi-Domain Process Reward Model via
Synthetic Reasoning Data".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs.base import Caps, ExportRow, InvalidRow, ReadOptions, Written
from annotator.core.codecs.fields import Fields, describe, is_whole
from annotator.core.codecs.flat import (
    LABEL_DETAILS,
    STEP_DETAILS,
    LabelledPrefix,
    binary_prefix,
    kept,
    lost_context,
)
from annotator.core.codecs.policies import Policies
from annotator.core.labels import Label, stop
from annotator.core.solutions import ProblemText, SolutionRecord, Step, judged_mask

_KEYS = ("domain", "source", "question", "answer", "chain_of_thoughts")
_CHAIN = ("steps", "labels")
_FROM_PRM800K = "prm800k"


class VersaPrm(LabelledPrefix):
    """Reads one solution a chain and writes one chain a row.

    In rows from PRM800K ``answer`` is a whole reference solution, else the reference answer. ``source`` and
    ``augs`` (rated candidates for the step at ``aug_idx``, 0-based, often the one after the last) are kept under
    the solution's ``meta``, with all further fields.
    """

    name = "versaprm"
    told_by = "question and chain_of_thoughts"
    label_semantics = (
        "1: correct; -1: incorrect; 0, from PRM800K: neutral. Its trainer takes all but 1 as incorrect"
    )
    lost_fields = (
        "id",
        "problem.id, problem.subject, one of problem.answer and problem.solution",
        "generator",
        STEP_DETAILS,
        "steps after the first one without a label",
        "final_answer, answer_correct",
        "neutral labels",
        LABEL_DETAILS + " other than source and augs",
    )
    sample: Mapping[str, Any] = {
        "domain": "prm_math",
        "source": "a-source",
        "question": "What is $2 \\cdot 3 + 4$?",
        "answer": "10",
        "chain_of_thoughts": [
            {
                "steps": ["First, $2 \\cdot 3 = 6$.", "Then $6 + 4 = 11$."],
                "labels": [1, -1],
                "augs": [{"aug_step": "Then $6 + 4 = 10$.", "aug_idx": 1, "aug_type": 1}],
            }
        ],
    }

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return {"question", "chain_of_thoughts"} <= row.keys()

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        fields.require("question", "chain_of_thoughts")
        chains = fields.entries("chain_of_thoughts", caps)
        problem = _problem(fields, caps)
        meta = fields.rest(_KEYS)
        source = fields.optional_text("source", caps.identifier_chars)
        if source is not None:
            meta["source"] = source
        return tuple(_chain(index, chain, problem, meta, caps) for index, chain in enumerate(chains))

    def write(self, row: ExportRow, policies: Policies) -> Written:
        record = row.record
        written = binary_prefix(record, policies, self.name)
        source = kept(record.meta, "source", "") or None
        solution, answer = record.problem.solution, record.problem.answer
        chain = {
            "steps": [text for text, _ in written],
            "labels": [Label.CORRECT.value if correct else Label.INCORRECT.value for _, correct in written],
            "augs": kept(record.meta, "augs", []),
        }
        value = {
            "domain": record.problem.domain,
            "source": source,
            "question": record.problem.text,
            "answer": solution if answer is None or _is_prm800k(source) else answer,
            "chain_of_thoughts": [chain],
        }
        return Written((value,), lost_context(record))


def _is_prm800k(source: object) -> bool:
    return isinstance(source, str) and source.startswith(_FROM_PRM800K)


def _problem(fields: Fields, caps: Caps) -> ProblemText:
    answer = fields.optional_text("answer", caps.problem_chars)
    whole = _is_prm800k(fields.values.get("source"))
    return ProblemText(
        fields.text("question", caps.problem_chars),
        answer=None if whole else answer,
        solution=answer if whole else None,
        domain=fields.optional_text("domain", caps.subject_chars) or "",
    )


def _chain(
    index: int, chain: object, problem: ProblemText, meta: Mapping[str, Any], caps: Caps
) -> SolutionRecord:
    if not isinstance(chain, dict):
        raise InvalidRow("chain_of_thoughts", f"chain {index + 1}: expected an object; got {describe(chain)}")
    fields = Fields(chain, f"chain_of_thoughts[{index}]")
    steps = tuple(Step(text) for text in fields.texts("steps", caps))
    given = fields.items("labels")
    if given is None or len(given) != len(steps):
        fields.fail("labels", f"a list of {len(steps)}, one label for each step")
    for place, label in enumerate(given):
        if not is_whole(label) or label not in (-1, 0, 1):
            raise InvalidRow(
                fields.name("labels"), f"label {place + 1}: expected 1, 0 or -1; got {describe(label)}"
            )
    return SolutionRecord(
        problem=problem,
        steps=steps,
        labels=tuple(given),
        first_error=stop(given, judged_mask(steps)),
        meta={**meta, **fields.rest(_CHAIN)},
    )
