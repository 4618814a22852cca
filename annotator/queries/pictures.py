"""Kept pictures: what a project has, which problems show them, and the bytes of one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotator.core.pictures import kept_name, kept_sha256
from annotator.models import Attachment, Problem

SHOWN = 200


@dataclass(frozen=True)
class Kept:
    """One picture; ``problems`` show it. ``src`` is how rows name it."""

    sha256: str
    width: int
    height: int
    size: int
    problems: int

    @property
    def src(self) -> str:
        return kept_name(self.sha256)


@dataclass(frozen=True)
class Bytes:
    """A picture's content."""

    data: bytes
    media_type: str


def kept(project_id: int) -> Sequence[Kept]:
    """The newest pictures. Two queries."""
    used: Counter[str] = Counter()
    shown = Problem.objects.filter(project_id=project_id).exclude(images=[])
    for images in shown.values_list("images", flat=True).iterator():
        used.update({image["sha256"] for image in images})
    rows = Attachment.objects.filter(project_id=project_id).order_by("-pk")
    return [
        Kept(sha256, width, height, size, used[sha256])
        for sha256, width, height, size in rows.values_list("sha256", "width", "height", "size")[:SHOWN]
    ]


def picture(project_id: int, sha256: str) -> Bytes | None:
    """One picture of a project; None as well for what is no hash."""
    if kept_sha256(sha256) != sha256:
        return None
    row = Attachment.objects.filter(project_id=project_id, sha256=sha256).first()
    return Bytes(bytes(row.data), row.media_type) if row else None


def every(project_id: int) -> Iterator[tuple[str, bytes]]:
    """All pictures of a project under the names that exports give them, one at a time."""
    keys = Attachment.objects.filter(project_id=project_id).order_by("sha256").values_list("pk", flat=True)
    for key in list(keys):
        sha256, data = Attachment.objects.values_list("sha256", "data").get(pk=key)
        yield kept_name(sha256), bytes(data)
