"""Examples for the description: the same small solution all the way through."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

ASSIGNMENT = "6f0e3c1e-63c8-4b61-8f0e-0d8f0c9d2f11"
LABELS = [1, 0, -1, None]
DRAFT = {"labels": [1, None, None, None], "details": {}, "active_seconds": 12.5}
STORED = {**DRAFT, "finish_reason": "", "version": 3}
HANDED_OUT = {
    "assignment": ASSIGNMENT,
    "expires_at": "2026-05-04T10:30:00Z",
    "mode": "first_error",
    "problem": {"text": "How many primes are below 10?", "final_answer": "5", "images": []},
    "steps": [
        {"index": 0, "kind": "reasoning", "judged": True, "text": "A prime has exactly two divisors."},
        {"index": 1, "kind": "reasoning", "judged": True, "text": "We look at 1 to 9."},
        {"index": 2, "kind": "reasoning", "judged": True, "text": "They are 2, 3, 5, 7 and 9."},
        {"index": 3, "kind": "reasoning", "judged": True, "text": "So there are 5."},
    ],
    "draft": {**STORED, "labels": [None] * 4, "active_seconds": 0.0, "version": 0},
}
SUBMIT = {
    "labels": LABELS,
    "finish_reason": "found_error",
    "active_seconds": 41.0,
    "details": {"error_types": {"2": "calculation"}, "comments": {"2": "9 is 3 · 3."}},
    "client_id": "0b9a4a52-5d53-4d3e-9a1d-0f5b3c6f6a10",
}
SUBMITTED = {"annotation": 812, "counted": True, "next": None, "nothing": "all_done"}
ANNOTATIONS = {
    "results": [
        {
            "annotation": 812,
            "assignment": ASSIGNMENT,
            "version": 1,
            "labels": LABELS,
            "finish_reason": "found_error",
            "details": SUBMIT["details"],
            "active_seconds": 41.0,
            "submitted_at": "2026-05-04T10:12:09Z",
            "counted": True,
            "annotator": None,
            "solution": None,
            "uncounted_reason": None,
        }
    ],
    "next": None,
}
IMPORT = {
    "batch": 7,
    "state": "done",
    "asked": "",
    "filename": "solutions.jsonl",
    "format": "native",
    "reason": "20 of the first 20 rows have the fields of native: problem.text and steps",
    "read": 100,
    "imported": 92,
    "duplicates": 1,
    "updated": 0,
    "rejected": 7,
    "percent": 100,
    "on_benchmarks": 0,
    "created_at": "2026-05-04T10:12:09Z",
    "finished_at": "2026-05-04T10:12:10Z",
    "errors": [{"line": 12, "field": "steps", "message": "expected a list of steps; got text"}],
}
_COUNTS = ("read", "imported", "duplicates", "updated", "rejected", "percent", "on_benchmarks")
WAITING: dict[str, Any] = {"state": "queued", "finished_at": None, "errors": [], **dict.fromkeys(_COUNTS, 0)}
REFUSAL = {
    "type": "about:blank",
    "title": "Somebody was faster",
    "status": 409,
    "code": "already_closed",
    "detail": "This assignment was submitted or skipped before; ask for the next one.",
}


def request(value: object) -> list[OpenApiExample]:
    """An example of what is sent."""
    return [OpenApiExample("example", value=value, request_only=True)]


def reply(value: object, status: str = "200") -> list[OpenApiExample]:
    """An example of what comes back."""
    return [OpenApiExample("example", value=value, response_only=True, status_codes=[status])]
