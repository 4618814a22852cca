"""Pictures of problems: brought by managers or beside the rows of an import, kept once by their content."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from django.db import transaction

from annotator.actions import access
from annotator.actions.access import Actor, Verb
from annotator.core import pictures
from annotator.core.codecs.base import ImportRow, RowError
from annotator.core.pictures import BadPicture, Picture
from annotator.core.solutions import ProblemImage
from annotator.models import Annotation, Attachment, AuditEvent, Problem
from annotator.queries import pictures as queries

#: Pictures of one problem.
MOST = 20
ALT_CHARS = 1_000


class CannotAttach(ValueError):
    """What keeps a picture from a problem; the message says it in a sentence."""


@transaction.atomic
def keep(*, actor: Actor, data: bytes) -> Attachment:
    """Keep a picture, once. Raises NotAllowed, BadPicture."""
    access.require(actor, Verb.IMPORT)
    kept, made = _kept(actor.project_id, pictures.clean(data), actor.member_id)
    if made:
        AuditEvent.objects.record(
            "picture:kept",
            f"picture {kept.sha256[:12]}",
            project_id=actor.project_id,
            member_id=actor.member_id,
        )
    return kept


@transaction.atomic
def take(*, actor: Actor) -> Iterator[tuple[str, bytes]]:
    """All pictures of the project under the names that exports give them, one at a time; who took them is told.
    Raises NotAllowed.
    """
    access.require(actor, Verb.EXPORT)
    AuditEvent.objects.record(
        "picture:taken",
        "all pictures",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data={"pictures": Attachment.objects.filter(project_id=actor.project_id).count()},
    )
    return queries.every(actor.project_id)


@transaction.atomic
def attach(*, actor: Actor, problem: str, sha256: str, alt: str) -> Problem:
    """Put a kept picture under a problem, named by its external id. Raises NotAllowed, CannotAttach.

    Once somebody has judged a solution of the problem, what they saw stays as it is.
    """
    access.require(actor, Verb.IMPORT)
    named = Problem.objects.select_for_update().filter(
        project_id=actor.project_id, external_id=problem.strip()
    )
    found = named.exclude(external_id="").order_by("pk").first()
    if found is None:
        raise CannotAttach(f"This project has no problem '{problem.strip()}'.")
    if not Attachment.objects.filter(project_id=actor.project_id, sha256=sha256).exists():
        raise CannotAttach("This project has no such picture; upload it first.")
    if Annotation.objects.filter(solution__problem=found, source=Annotation.Source.HUMAN).exists():
        raise CannotAttach(f"Somebody has judged '{found.external_id}' without this picture already.")
    before = list(found.images)
    if any(image["sha256"] == sha256 for image in before):
        return found
    if len(before) >= MOST:
        raise CannotAttach(f"A problem has at most {MOST} pictures.")
    found.images = [*before, {"sha256": sha256, "alt": alt.strip()[:ALT_CHARS]}]
    found.save(update_fields=["images"])
    AuditEvent.objects.record(
        "picture:attached",
        f"problem {found.pk}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data={"before": before, "after": found.images},
    )
    return found


def _kept(project_id: int, picture: Picture, member_id: int | None) -> tuple[Attachment, bool]:
    return Attachment.objects.get_or_create(
        project_id=project_id,
        sha256=picture.sha256,
        defaults={
            "media_type": pictures.MEDIA_TYPE,
            "width": picture.width,
            "height": picture.height,
            "size": len(picture.data),
            "data": picture.data,
            "member_id": member_id,
        },
    )


@dataclass
class RowPictures:
    """The pictures that an import's rows name: in the zip they came in, or kept before by their hash.

    ``reopen`` gives the zip once more, since its rows are read meanwhile; it raises OSError or BadZipFile where the
    import is none.
    """

    project_id: int
    member_id: int | None
    reopen: Callable[[], zipfile.ZipFile]
    _archive: zipfile.ZipFile | None = None

    def resolved(self, row: ImportRow) -> ImportRow | RowError:
        """The row with its pictures named by their hash, each of them kept; in the caller's transaction."""
        images = row.record.problem.images
        if not images:
            return row
        done = []
        for index, image in enumerate(images):
            place = f"problem.images[{index}].src"
            try:
                done.append(ProblemImage(self._hash(image.src, row.part), image.alt))
            except BadPicture as error:
                return RowError(row.line, place, str(error), row.part, row.given)
        problem = replace(row.record.problem, images=tuple(done))
        return replace(row, record=replace(row.record, problem=problem))

    def _hash(self, name: str, part: str) -> str:
        known = pictures.kept_sha256(name)
        if known and Attachment.objects.filter(project_id=self.project_id, sha256=known).exists():
            return known
        data = self._read(name, part)
        if data is None:
            raise BadPicture(
                f"expected a picture in the same zip, or one that was uploaded before: {name!r} is neither"
            )
        return _kept(self.project_id, pictures.clean(data), self.member_id)[0].sha256

    def _read(self, name: str, part: str) -> bytes | None:
        """A member of the zip, looked for beside its file of rows and from the top; nothing else can be named."""
        try:
            self._archive = self._archive or self.reopen()
        except (OSError, zipfile.BadZipFile):
            return None
        for folder in dict.fromkeys([posixpath.dirname(part), ""]):
            member = posixpath.normpath(posixpath.join(folder, name))
            with suppress(KeyError):
                info = self._archive.getinfo(member)
                if info.file_size > pictures.MAX_BYTES:
                    raise BadPicture(f"A picture has at most {pictures.MAX_BYTES // 1024**2} MB.")
                try:
                    with self._archive.open(info) as packed:
                        return packed.read(pictures.MAX_BYTES + 1)
                except (OSError, RuntimeError, NotImplementedError, EOFError, zipfile.BadZipFile):
                    raise BadPicture(f"{name!r} can't be unpacked from the zip") from None
        return None


def zip_at(path: object) -> Callable[[], zipfile.ZipFile]:
    """How to open an import's file once more; one that has no path is no zip to us."""

    def reopen() -> zipfile.ZipFile:
        if not isinstance(path, str):
            raise FileNotFoundError(str(path))
        return zipfile.ZipFile(Path(path))

    return reopen
