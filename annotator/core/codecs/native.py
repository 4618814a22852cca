"""Stepmark's own format: everything a solution carries, one JSON object a line.

``problem.text`` with ``steps``, or with ``solution`` (one text, to be segmented), is enough to import.
Unknown fields are not lost: those of the row are kept under ``meta`` by their name, those of ``problem`` as
``meta["problem.NAME"]``, those of steps as ``meta["steps.NAME"] = {"index": value}``; ``flags`` as
``meta["flags"]``, from where writing takes them back. What only an export can know (`EXPORT_ONLY`) is
ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from annotator.core.codecs.base import (
    CAPS,
    Caps,
    ExportRow,
    ExportScore,
    InvalidRow,
    ReadOptions,
    Selection,
    Written,
)
from annotator.core.codecs.fields import Fields
from annotator.core.codecs.native_images import images_json, read_images
from annotator.core.codecs.native_labels import NativeLabels, read_annotations, read_labels
from annotator.core.codecs.native_steps import read_steps
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, Policies
from annotator.core.labels import Mode, stop
from annotator.core.solutions import (
    ImportedAnnotation,
    ProblemText,
    SolutionRecord,
    judged_mask,
    steps_json,
)

EXPORT_ONLY = frozenset({"label_source", "consensus", "scores", "selection", "split", "weight", "soft"})
_FIELDS = """
id problem generator steps solution final_answer answer_correct labels first_error mode annotations gold flags
meta
"""
_READ = frozenset(_FIELDS.split())
_KNOWN, _MODES = _READ | EXPORT_ONLY, frozenset(Mode)
_PROBLEM = frozenset({"id", "text", "answer", "solution", "domain", "subject", "images"})
_TEXTS = frozenset({str, type(None)})


class Native:
    """Reads and writes the format that loses nothing."""

    name = "native"
    told_by = "problem as an object, and steps or solution"
    label_semantics = "1: valid and useful; 0: valid, adds nothing; -1: incorrect; null: not judged"
    has_neutral = True
    neutral_policies: frozenset[NeutralPolicy] = frozenset()
    after_first_error_policies: frozenset[AfterFirstErrorPolicy] = frozenset()
    lost_fields: tuple[str, ...] = ()
    carries_soft = True
    sample: Mapping[str, Any] = {
        "id": "sample-0",
        "problem": {
            "id": "p-0",
            "text": "What is $2 \\cdot 3 + 4$?",
            "answer": "10",
            "solution": None,
            "domain": "math",
            "subject": "arithmetic",
        },
        "generator": {"model": "a-model", "sampling": {"temperature": 0.7}},
        "steps": [
            {
                "text": "First, $2 \\cdot 3 = 6$.",
                "kind": "reasoning",
                "judged": True,
                "sep": "\n",
                "alternatives": [],
            },
            {"text": "6", "kind": "tool", "judged": False, "sep": "\n", "alternatives": []},
            {"text": "So it is 11.", "kind": "reasoning", "judged": True, "sep": "", "alternatives": []},
        ],
        "final_answer": "11",
        "answer_correct": False,
        "labels": [1, None, -1],
        "first_error": 2,
        "mode": "first_error",
        "label_source": None,
        "annotations": [
            {
                "annotator": "a-1",
                "labels": [1, None, -1],
                "details": {"2": {"error_type": "calculation"}},
                "finish_reason": "found_error",
                "active_seconds": 12.5,
                "submitted_at": "2025-01-31T12:00:00+00:00",
                "counted": True,
                "guidelines": 1,
            }
        ],
        "consensus": None,
        "gold": {"accept": [6, 0, 1]},
        "scores": [],
        "selection": None,
        "flags": [],
        "split": None,
        "weight": None,
        "meta": {"source": "sample"},
    }

    #: A problem's JSON, how much it could hold, and what it was read as; one value, so that threads can share it.
    _before: tuple[object, Caps, ProblemText] = (object(), CAPS, ProblemText(""))

    def sniff(self, row: Mapping[str, Any]) -> bool:
        return isinstance(row.get("problem"), dict) and bool({"steps", "solution"} & row.keys())

    def read(self, row: Mapping[str, Any], options: ReadOptions) -> tuple[SolutionRecord, ...]:
        fields, caps = Fields(row), options.caps
        meta = _meta(fields)
        problem = self._problem(fields, options, meta)
        steps, unknown = read_steps(fields, options)
        if unknown:
            _keep(meta, unknown, "steps")
        mode = fields.choice("mode", _MODES)
        judged = judged_mask(steps)
        labels: NativeLabels = read_labels(fields, judged)
        record = SolutionRecord(
            problem=problem,
            steps=steps,
            external_id=fields.identifier("id", caps.identifier_chars),
            generator=_generator(fields, options),
            final_answer=fields.optional_text("final_answer", caps.step_chars),
            answer_correct=fields.flag("answer_correct"),
            labels=labels.labels,
            first_error=labels.first_error,
            accept=labels.accept,
            mode=mode,
            annotations=read_annotations(fields, judged, mode, caps),
            meta=meta,
        )
        return (record,)

    def _problem(self, fields: Fields, options: ReadOptions, meta: dict[str, Any]) -> ProblemText:
        """The solutions of a problem mostly stand together, and what was read of it a line before need not be again.
        Kept are only those of texts alone, since true is no 1 though they are equal."""
        value = fields.values.get("problem")
        before, caps, problem = self._before
        if value == before and caps is options.caps:
            return problem
        problem = _problem(fields, options, meta)
        if value is not None and _PROBLEM.issuperset(value) and _TEXTS.issuperset(map(type, value.values())):
            self._before = value, options.caps, problem
        return problem

    def write(self, row: ExportRow, policies: Policies) -> Written:
        """One object with every field, absent ones null or empty, in the documented order."""
        record = row.record
        meta = dict(record.meta)
        kept_flags = meta.pop("flags", None)
        value = {
            "id": record.external_id,
            "problem": _problem_json(record.problem),
            "generator": dict(record.generator),
            "steps": steps_json(record.steps),
            "final_answer": record.final_answer,
            "answer_correct": record.answer_correct,
            "labels": None if record.labels is None else list(record.labels),
            "first_error": _first_error(record),
            "mode": record.mode,
            "label_source": row.label_source,
            "annotations": [_annotation_json(annotation) for annotation in record.annotations],
            "consensus": row.consensus
            and {"method": row.consensus.method, "posterior": row.consensus.posterior},
            "gold": None if record.accept is None else {"accept": list(record.accept)},
            "scores": [_score_json(score) for score in row.scores],
            "selection": row.selection and _selection_json(row.selection),
            "flags": list(row.flags or kept_flags or ()),
            "split": row.split,
            "weight": row.weight,
            "meta": meta,
        }
        if row.soft is not None:
            value["soft"] = list(row.soft)
        return Written((value,))


def _meta(fields: Fields) -> dict[str, Any]:
    """The row's ``meta`` with the row's unknown fields and its flags."""
    meta = dict(fields.mapping("meta") or {})
    if not _KNOWN.issuperset(fields.values):
        _keep(meta, fields.rest(_KNOWN))
    flags = fields.items("flags")
    if flags:
        _keep(meta, {"flags": flags})
    return meta


def _keep(meta: dict[str, Any], unknown: Mapping[str, Any], path: str = "") -> None:
    for key, value in unknown.items():
        name = f"{path}.{key}" if path else key
        if name in meta and meta[name] != value:
            raise InvalidRow(name, "expected it in one place; it is a field of the row and of meta")
        meta[name] = value


def _problem(fields: Fields, options: ReadOptions, meta: dict[str, Any]) -> ProblemText:
    value = fields.mapping("problem")
    if value is None:
        fields.fail("problem", 'an object with a "text"')
    problem, caps = Fields(value, "problem"), options.caps
    if not _PROBLEM.issuperset(value):
        _keep(meta, problem.rest(_PROBLEM), "problem")
    return ProblemText(
        text=problem.text("text", caps.problem_chars),
        external_id=problem.identifier("id", caps.identifier_chars),
        answer=problem.optional_text("answer", caps.problem_chars),
        solution=problem.optional_text("solution", caps.problem_chars),
        domain=problem.optional_text("domain", caps.subject_chars) or "",
        subject=problem.optional_text("subject", caps.subject_chars) or "",
        images=read_images(problem),
    )


def _generator(fields: Fields, options: ReadOptions) -> Mapping[str, Any]:
    """A string is the model's name."""
    value = fields.values.get("generator")
    if isinstance(value, str):
        name = fields.identifier("generator", options.caps.identifier_chars)
        return {"model": name} if name else {}
    if value is not None and not isinstance(value, dict):
        fields.fail("generator", "an object or a model's name")
    return dict(value or {})


def _first_error(record: SolutionRecord) -> int | None:
    if record.first_error is not None or record.labels is None:
        return record.first_error
    return stop(record.labels, judged_mask(record.steps))


def _problem_json(problem: ProblemText) -> dict[str, Any]:
    return {
        "id": problem.external_id,
        "text": problem.text,
        "answer": problem.answer,
        "solution": problem.solution,
        "domain": problem.domain,
        "subject": problem.subject,
        **({"images": images_json(problem)} if problem.images else {}),
    }


def _annotation_json(annotation: ImportedAnnotation) -> dict[str, Any]:
    return {
        "annotator": annotation.annotator,
        "labels": list(annotation.labels),
        "details": dict(annotation.details),
        "finish_reason": annotation.finish_reason,
        "active_seconds": annotation.active_seconds,
        "submitted_at": annotation.submitted_at,
        "counted": annotation.counted,
        "guidelines": annotation.guidelines,
    }


def _score_json(score: ExportScore) -> dict[str, Any]:
    return {
        "scorer": score.scorer,
        "version": score.version,
        "source": score.source,
        "measures": score.measures,
        "values": list(score.values),
        "spread": None if score.spread is None else list(score.spread),
    }


def _selection_json(selection: Selection) -> dict[str, Any]:
    return {
        "route": selection.route,
        "strategy": selection.strategy,
        "score": selection.score,
        "scorer_version": selection.scorer_version,
        "rank": selection.rank,
        "pool": selection.pool,
        "round": selection.round,
    }
