"""PRM800K, phases 1 and 2: what one labeler did with one problem, step by step.

**The trajectory is the chosen path**: at each step the completion that was chosen; where the labeler wrote one of
their own, that text, which has no rating and is therefore context; where the labeler stopped, the completion that
the solution itself went on with (in phase 2 the one of ``pre_generated_steps``, else the first). The other
completions are the step's alternatives, each with its ``rating``, ``flagged`` and ``place`` in the file.

The labels are the labeler's annotation, with ``finish_reason``, seconds (``total_time`` is in milliseconds) and,
by step, ``flagged`` where it is not false. It does not count where the item was a check (quality control) or a
test (initial screening). Who gave up leaves the first error unknown.
Lightman et al. 2023, "Let's Verify Step by Step".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs import prm800k_steps as path
from annotator.core.codecs.base import Caps, ExportRow, LeftOut, ReadOptions, Written
from annotator.core.codecs.fields import Fields
from annotator.core.codecs.flat import LOST_CONTEXT
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, Policies
from annotator.core.codecs.prm800k_steps import LOST_ALTERNATIVES, Path
from annotator.core.labels import CENSORED, NO_ERROR, FinishReason, Mode, finish_reason, stop
from annotator.core.solutions import ImportedAnnotation, ProblemText, SolutionRecord, judged_mask

_ROW = frozenset({"labeler", "timestamp", "question", "label"})
_MARKS = ("generation", "is_quality_control_question", "is_initial_screening_question")
_QUESTION = frozenset({"problem", "ground_truth_solution", "ground_truth_answer"})
_LABEL = frozenset({"steps", "total_time", "finish_reason"})
_PRE_GENERATED = ("pre_generated_steps", "pre_generated_answer", "pre_generated_verifier_score")
_CHECKS = ("is_quality_control_question", "is_initial_screening_question")
#: More is a mistake, and no database column's business: ten years.
_MAX_MILLISECONDS = 10 * 366 * 24 * 3_600_000


class Prm800k:
    """Reads and writes records of both phases. All further fields are kept under the solution's ``meta``."""

    name = "prm800k"
    told_by = "question and label as objects"
    label_semantics = (
        "1: right and useful; 0: right, adds nothing; -1: wrong, or not to be verified without pencil and paper; "
        "null: not rated"
    )
    has_neutral = True
    neutral_policies: frozenset[NeutralPolicy] = frozenset()
    after_first_error_policies: frozenset[AfterFirstErrorPolicy] = frozenset()
    lost_fields = (
        "id",
        "problem.id, problem.domain, problem.subject",
        "generator",
        "steps.kind, steps.sep, alternatives without a text",
        "answer_correct",
        "labels after the first error",
        "annotations other than the one whose labels are written; their details other than flagged",
        "mode, consensus, gold, scores, selection, flags, split, weight",
        "meta other than the format's own fields",
    )
    sample: Mapping[str, Any] = path.SAMPLE

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return isinstance(row.get("question"), dict) and isinstance(row.get("label"), dict)

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        question, label = _object(fields, "question"), _object(fields, "label")
        taken = path.read(label, question.items("pre_generated_steps") or [], caps)
        judged = judged_mask(taken.steps)
        reason = label.choice("finish_reason", frozenset(FinishReason))
        known = stop(taken.labels, judged)
        if known == NO_ERROR and reason in CENSORED:
            known = None
        record = SolutionRecord(
            problem=ProblemText(
                question.text("problem", caps.problem_chars),
                answer=question.optional_text("ground_truth_answer", caps.problem_chars),
                solution=question.optional_text("ground_truth_solution", caps.problem_chars),
            ),
            steps=taken.steps,
            final_answer=question.optional_text("pre_generated_answer", caps.step_chars),
            labels=taken.labels,
            first_error=known,
            mode=Mode.FIRST_ERROR.value,
            annotations=(_annotation(fields, label, taken, reason, caps),),
            meta=_meta(fields, question, label, taken),
        )
        return (record,)

    def write(self, row: ExportRow, policies: Policies) -> Written:
        """One object with the labels of ``record.labels``, by the person whose they are, if there is one."""
        record = row.record
        if record.labels is None or all(label is None for label in record.labels):
            raise LeftOut("no labels")
        person = next((each for each in record.annotations if each.labels == record.labels), None)
        built = path.write(record, person.details if person else {})
        reason = person.finish_reason if person else finish_reason(record.labels, Mode.FIRST_ERROR).value
        seconds = person.active_seconds if person else None
        value = {
            "labeler": person.annotator if person else row.label_source or "unknown",
            "timestamp": person.submitted_at if person else None,
            **{key: record.meta.get(key, None if key == "generation" else False) for key in _MARKS},
            "question": _question_json(record, built.left),
            "label": {
                "steps": built.entries,
                "total_time": None if seconds is None else round(seconds * 1000),
                "finish_reason": reason,
            },
        }
        lost = {LOST_CONTEXT: built.lost_context, LOST_ALTERNATIVES: built.lost_alternatives}
        return Written((value,), {kind: count for kind, count in lost.items() if count})


def _object(fields: Fields, key: str) -> Fields:
    value = fields.mapping(key)
    if value is None:
        fields.fail(key, "an object")
    return Fields(value, key)


def _annotation(
    fields: Fields, label: Fields, taken: Path, reason: str | None, caps: Caps
) -> ImportedAnnotation:
    labeler = fields.identifier("labeler", caps.identifier_chars)
    if not labeler.strip():
        fields.fail("labeler", "the person's pseudonym")
    milliseconds = label.number("total_time")
    if milliseconds is not None and not 0 <= milliseconds <= _MAX_MILLISECONDS:
        label.fail("total_time", "milliseconds, not negative and less than ten years, or null")
    checks = [fields.flag(key) for key in _CHECKS]
    return ImportedAnnotation(
        annotator=labeler,
        labels=taken.labels,
        finish_reason=reason or finish_reason(taken.labels, Mode.FIRST_ERROR).value,
        details=taken.details,
        active_seconds=None if milliseconds is None else milliseconds / 1000,
        submitted_at=fields.time("timestamp"),
        counted=not any(checks),
    )


def _meta(fields: Fields, question: Fields, label: Fields, taken: Path) -> dict[str, Any]:
    fields.whole("generation")
    question.number("pre_generated_verifier_score")
    meta = fields.rest(_ROW)
    kept = {"question": question.rest(_QUESTION), "label": label.rest(_LABEL)}
    meta.update({key: value for key, value in kept.items() if value})
    if taken.end is not None:
        meta[path.END] = taken.end
    return meta


def _question_json(record: SolutionRecord, left: list[str]) -> dict[str, Any]:
    """Phase 2's fields where the record has one of them or where steps are left after the first error."""
    kept = record.meta.get("question")
    found: dict[str, Any] = dict(kept) if isinstance(kept, dict) else {}
    if left:
        found.setdefault("pre_generated_steps", left)
    if record.final_answer is not None:
        found.setdefault("pre_generated_answer", record.final_answer)
    question: dict[str, Any] = {"problem": record.problem.text}
    if found or record.problem.solution is not None:
        question["ground_truth_solution"] = record.problem.solution
    question["ground_truth_answer"] = record.problem.answer
    question.update({key: found.pop(key) for key in _PRE_GENERATED if key in found})
    return question | found
