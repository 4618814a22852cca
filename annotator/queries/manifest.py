"""What stands beside an export: counts, choices, versions, provenance, agreement, and a dataset card in Markdown."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.db.models import Count
from django.utils import timezone

from annotator.models import Annotation, Guidelines, ImportBatch, Project, ScorerVersion, Solution
from annotator.queries.dataset_card import card
from annotator.queries.quality.kept import kept_report
from annotator.queries.quality.shapes import from_json
from annotator.queries.quality.words import headline

#: Files and models that are named.
MOST = 100


@dataclass(frozen=True)
class Left:
    """An export that has come to its end."""

    recipe: Mapping[str, Any]
    written: int
    left_out: Mapping[str, int]
    lost_fields: Sequence[str]
    lost: Mapping[str, int]
    label_semantics: str
    sha256: str
    labels: Mapping[str, int] = field(default_factory=dict)
    sources: Mapping[str, int] = field(default_factory=dict)
    splits: Mapping[str, int] = field(default_factory=dict)


def manifest(*, project_id: int, left: Left) -> dict[str, Any]:
    """The manifest; seven queries. ``agreement`` is None where no report was ever computed."""
    project = Project.objects.get(pk=project_id)
    counted = Annotation.objects.filter(member__project=project, current=True, counted=True).order_by()
    used = dict(counted.values_list("guidelines_id").annotate(n=Count("pk")))
    guidelines = list(Guidelines.objects.filter(project=project).order_by("version"))
    scorers = ScorerVersion.objects.filter(scorer__project=project).order_by("pk")
    said: dict[str, Any] = {
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "stepmark": version(),
        "project": {
            "slug": project.slug,
            "name": project.name,
            "mode": project.mode,
            "error_propagation": project.error_propagation,
        },
        **asdict(left),
        "guidelines": [
            {
                "version": each.version,
                "since": each.created_at.isoformat(timespec="seconds"),
                "annotations": used.get(each.pk, 0),
            }
            for each in guidelines
        ],
        "scorers": [f"{name} {number}" for name, number in scorers.values_list("scorer__name", "version")],
        "imports": _imports(project),
        "generators": _generators(project),
        "agreement": _agreement(project),
    }
    return {**said, "card": card(said)}


@cache
def version() -> str:
    """Stepmark's own version."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def _imports(project: Project) -> list[dict[str, Any]]:
    """The files that the project's solutions came from, the first ones first."""
    rows = ImportBatch.objects.filter(project=project, imported__gt=0).order_by("pk")[:MOST]
    return [dict(each) for each in rows.values("filename", "format", "labels_as", "imported")]


def _generators(project: Project) -> list[str]:
    """The models that wrote the project's solutions, as far as the files say."""
    named = Solution.objects.filter(project=project).exclude(generator__model=None)
    models = named.order_by("generator__model").values_list("generator__model", flat=True).distinct()
    return [str(model) for model in models[:MOST]]


def _agreement(project: Project) -> dict[str, str] | None:
    row = kept_report(project)
    if row is None:
        return None
    computed = row.computed_at.isoformat(timespec="seconds")
    return {"computed_at": computed, "sentence": headline(from_json(row.data))}
