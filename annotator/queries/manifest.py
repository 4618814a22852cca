"""What stands beside an export: counts, choices, versions, agreement, and a dataset card in Markdown."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from django.utils import timezone

from annotator.models import Guidelines, Project, ScorerVersion
from annotator.queries.quality.kept import kept_report
from annotator.queries.quality.shapes import from_json
from annotator.queries.quality.words import headline


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


def manifest(*, project_id: int, left: Left) -> dict[str, Any]:
    """The manifest; four queries. ``agreement`` is None where no report was ever computed."""
    project = Project.objects.get(pk=project_id)
    guidelines = list(Guidelines.objects.filter(project=project).order_by("version"))
    scorers = ScorerVersion.objects.filter(scorer__project=project).order_by("pk")
    said: dict[str, Any] = {
        "made_at": timezone.now().isoformat(timespec="seconds"),
        "stepmark": version(),
        "project": {"slug": project.slug, "name": project.name, "mode": project.mode},
        **asdict(left),
        "guidelines": [
            {"version": each.version, "since": each.created_at.isoformat(timespec="seconds")}
            for each in guidelines
        ],
        "scorers": [f"{name} {number}" for name, number in scorers.values_list("scorer__name", "version")],
        "agreement": _agreement(project),
    }
    return {**said, "card": _card(said)}


@cache
def version() -> str:
    """Stepmark's own version."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def _agreement(project: Project) -> dict[str, str] | None:
    row = kept_report(project)
    if row is None:
        return None
    computed = row.computed_at.isoformat(timespec="seconds")
    return {"computed_at": computed, "sentence": headline(from_json(row.data))}


def _card(said: Mapping[str, Any]) -> str:
    """What a person needs to know before training on the file."""
    project, recipe = said["project"], said["recipe"]
    agreement = said["agreement"]["sentence"] if said["agreement"] else "No quality report was computed yet."
    newest = said["guidelines"][-1]["version"] if said["guidelines"] else None
    lines = [
        f"# {project['name']}",
        "",
        f"{said['written']:,} rows of step-level labels, made with Stepmark {said['stepmark']} on {said['made_at']}.",
        "",
        "## What a label means",
        "",
        f"{said['label_semantics']}",
        "",
        f"People judged in the mode `{project['mode']}`"
        + (f", by version {newest} of the guidelines at the end." if newest else "."),
        "",
        "## How it was chosen",
        "",
        *_table(("Choice", "Value"), recipe.items()),
        "",
        "## What is not in it",
        "",
        *(_table(("Left out because", "Solutions"), said["left_out"].items()) or ["Nothing was left out."]),
        "",
        *[f"- The format can't carry: {each}" for each in said["lost_fields"]],
        "",
        "## How far people agree",
        "",
        agreement,
        "",
        f"SHA-256 of the file: `{said['sha256']}`",
        "",
    ]
    return "\n".join(lines)


def _table(head: tuple[str, str], rows: Any) -> list[str]:
    body = [f"| {str(name).replace('_', ' ')} | {value} |" for name, value in rows]
    return [f"| {head[0]} | {head[1]} |", "|---|---|", *body] if body else []
