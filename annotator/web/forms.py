"""Reading what a browser sends. Nothing here decides; it only turns text into typed values or says what is wrong."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

from annotator.actions.labeling import Work


class Malformed(ValueError):
    """The request is not what the page would have sent; the message says which part."""


def work_from_form(form: Mapping[str, Any]) -> Work:
    """Work from form fields, of which ``labels`` and ``details`` hold JSON. Raises Malformed."""
    try:
        labels = orjson.loads(form.get("labels") or "[]")
        details = orjson.loads(form.get("details") or "{}")
    except orjson.JSONDecodeError:
        raise Malformed("the labels could not be read; reload the page, your draft is kept") from None
    return read_work(
        {
            "labels": labels,
            "details": details,
            "finish_reason": form.get("finish_reason", ""),
            "active_seconds": form.get("active_seconds", 0),
        }
    )


def read_work(value: object) -> Work:
    """Work from parsed JSON. Raises Malformed; what the labels mean is checked by the action."""
    if not isinstance(value, dict):
        raise Malformed("expected an object")
    labels, details = value.get("labels"), value.get("details") or {}
    if not isinstance(labels, list) or not all(label is None or type(label) is int for label in labels):
        raise Malformed("labels are a list of -1, 0, 1 or null")
    if not isinstance(details, dict):
        raise Malformed("details are an object")
    reason = value.get("finish_reason") or ""
    if not isinstance(reason, str):
        raise Malformed("the finish reason is text")
    try:
        seconds = float(value.get("active_seconds") or 0)
    except (TypeError, ValueError):
        seconds = 0.0
    return Work(labels, details, reason, seconds if math.isfinite(seconds) else 0.0)
