"""What a scorer is shown of solutions: text and steps, and pictures where it looks at them."""

from __future__ import annotations

import base64
from collections.abc import Sequence

from annotator.core.solutions import Step
from annotator.models import Attachment, Solution
from annotator.scorers.base import Scorer, ScoringInput

#: Pictures of one problem that a scorer is shown, and the size of each: a batch of them has to fit into memory.
MOST_SHOWN, MOST_BYTES = 4, 4 * 1024 * 1024


def inputs_for(scorer: Scorer, batch: Sequence[Solution]) -> list[ScoringInput]:
    """One input a solution, in order. One query more where the scorer wants pictures and a problem has some."""
    shown: dict[str, str] = {}
    if getattr(scorer, "wants_images", False):
        named = {image["sha256"] for one in batch for image in one.problem.images[:MOST_SHOWN]}
        shown = _as_urls(batch[0].project_id, named) if named else {}
    return [
        ScoringInput(
            one.problem.text,
            tuple(map(Step.from_json, one.steps)),
            tuple(
                shown[image["sha256"]]
                for image in one.problem.images[:MOST_SHOWN]
                if image["sha256"] in shown
            ),
        )
        for one in batch
    ]


def _as_urls(project_id: int, named: set[str]) -> dict[str, str]:
    rows = Attachment.objects.filter(project_id=project_id, sha256__in=named, size__lte=MOST_BYTES)
    return {
        sha256: _data_url(media_type, bytes(data))
        for sha256, media_type, data in rows.values_list("sha256", "media_type", "data")
    }


def _data_url(media_type: str, data: bytes) -> str:
    """A picture within a text (RFC 2397)."""
    return "".join(("data:", media_type, ";base64,", base64.b64encode(data).decode()))
