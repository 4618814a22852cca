"""Files through the database and back: imported, exported in a format, imported elsewhere, exported again."""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from annotator.actions import access, exports, imports
from annotator.actions.exports import Export, Recipe
from annotator.actions.imports import Report, Source
from annotator.actions.projects import NewProject, create
from annotator.core.codecs import CODECS
from annotator.core.codecs.policies import NeutralPolicy
from annotator.core.codecs.rlhflow import LOST_BORDER
from annotator.models import Project
from annotator.queries.exports import LabelsFrom

#: file → format, rows, duplicates, rejected: what whole files come to.
FILES = {
    "bigbench_mistake_multistep_arithmetic": ("bigbench_mistake", 300, 0, 0),
    "mrben_coding": ("mr_ben", 238, 0, 21),
    "mrben_physics": ("mr_ben", 667, 0, 0),
    "openr_prm_sample": ("openr", 3, 2, 0),
    "prm800k_native_examples": ("prm800k", 4, 0, 0),
    "prmbench_sample": ("prmbench", 990, 0, 25),
    "processbench_gsm8k": ("processbench", 400, 0, 0),
    "processbench_math": ("processbench", 1000, 0, 0),
    "versaprm_prm800k_phase2_small": ("versaprm", 11, 0, 0),
    "who_and_when": ("agent_messages", 20, 0, 0),
}
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Trip:
    """``again``: what came of the written lines; ``changed``: how many were not the same when exported once more.

    ``told``: rows of which the export said that the border between problem and first step is lost (RLHFlow joins them
    in one turn). White space at a step's ends is no difference: tags and numbers stand there.
    """

    written: int
    left_out: dict[str, int]
    again: Report
    changed: int
    told: int

    @property
    def equal(self) -> bool:
        """Of rows that differ in white space alone one is a duplicate elsewhere, and its other data are not kept."""
        return self.changed <= self.told + self.again.duplicates


def project() -> Project:
    """One whose split another such project shares, so that a problem is on the same side of both."""
    made = create(new=NewProject(slug=f"trip-{next(_numbers)}"))
    Project.objects.filter(pk=made.pk).update(split_key="the same")
    made.scorers.update(paused=True)
    return Project.objects.get(pk=made.pk)


def brought_in(into: Project, data: bytes, format_name: str) -> Report:
    """A file of these lines, imported."""
    source = Source(io.BytesIO(data), "trip.jsonl", format_name)
    return imports.run(actor=access.operator(into), source=source)


def first_lines(path: Path, count: int | None) -> bytes:
    """The first lines of a file, None for all."""
    with path.open("rb") as file:
        return b"".join(itertools.islice(file, count))


def exported(of: Project, format_name: str) -> tuple[list[bytes], Export]:
    """The lines, and the export that they came from."""
    codec = CODECS[format_name]
    neutral = NeutralPolicy.CORRECT if codec.neutral_policies and not codec.has_neutral else None
    recipe = Recipe(format=format_name, labels=LabelsFrom.REFERENCE, neutral=neutral, holdout=True)
    export = exports.start(actor=access.operator(of), recipe=recipe, keep=False)
    return list(export), export


def trip(source: Project, format_name: str) -> Trip:
    """Out of a project in this format, into another, and out again."""
    lines, export = exported(source, format_name)
    other = project()
    report = brought_in(other, b"".join(lines), format_name)
    again, _ = exported(other, format_name)
    changed = set(map(_without_space, lines)) - set(map(_without_space, again))
    return Trip(len(lines), export.all_left_out, report, len(changed), export.tally.lost[LOST_BORDER])


def _without_space(line: bytes) -> bytes:
    return re.sub(rb"(?:\\[nrt]|\s)+", b"", line)
