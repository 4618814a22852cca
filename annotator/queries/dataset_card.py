"""A dataset card in Markdown: what a person needs to know before training on an export."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

#: What would make Markdown or HTML of a name that somebody chose.
_MARKUP = re.compile(r"([\\`*_{}\[\]<>#|])")


def card(said: Mapping[str, Any]) -> str:
    """The card of a manifest."""
    return "\n".join([*_what(said), *_choices(said), *_provenance(said), *_trust(said)])


def _what(said: Mapping[str, Any]) -> Iterable[str]:
    recipe, project = said["recipe"], said["project"]
    newest = said["guidelines"][-1]["version"] if said["guidelines"] else None
    return [
        f"# {plain(project['name'])}",
        "",
        f"{said['written']:,} rows of step-level labels, made with Stepmark {said['stepmark']} on {said['made_at']}.",
        "",
        f"Licence: {plain(recipe.get('licence') or 'not stated. Ask whoever gave you the file.')}",
        "",
        "## What a label means",
        "",
        f"{said['label_semantics']}",
        "",
        f"People judged in the mode `{project['mode']}`"
        + (f", by version {newest} of the guidelines at the end." if newest else "."),
        "",
        *_table(("Label of a step", "Steps"), said["labels"]),
        "",
        *_table(("Where labels come from", "Solutions"), said["sources"]),
        "",
        *_table(("Split", "Solutions"), said["splits"]),
        "",
    ]


def _choices(said: Mapping[str, Any]) -> Iterable[str]:
    return [
        "## How it was chosen",
        "",
        *_table(("Choice", "Value"), said["recipe"]),
        "",
        "## What is not in it",
        "",
        *(_table(("Left out because", "Solutions"), said["left_out"]) or ["Nothing was left out."]),
        "",
        *[f"- The format can't carry: {each}" for each in said["lost_fields"]],
        "",
    ]


def _provenance(said: Mapping[str, Any]) -> Iterable[str]:
    imports = {each["filename"]: f"{each['imported']:,} as {each['format']}" for each in said["imports"]}
    by_version = {f"version {each['version']}": each["annotations"] for each in said["guidelines"]}
    models = ", ".join(map(plain, said["generators"])) or "not known"
    return [
        "## Where it comes from",
        "",
        "The whole project's solutions, of which this file is a part:",
        "",
        *_table(("File", "Solutions"), imports),
        "",
        f"Written by: {models}.",
        "",
        *_table(("Guidelines", "Labels made under them"), by_version),
        "",
        f"Scorers: {', '.join(map(plain, said['scorers'])) or 'none'}.",
        "",
    ]


def _trust(said: Mapping[str, Any]) -> Iterable[str]:
    agreement = said["agreement"]["sentence"] if said["agreement"] else "No quality report was computed yet."
    return [
        "## How far people agree",
        "",
        agreement,
        "",
        "## Known limits",
        "",
        *[f"- {each}" for each in _limits(said)],
        "",
        f"SHA-256 of the file: `{said['sha256']}`",
        "",
    ]


def _limits(said: Mapping[str, Any]) -> Iterable[str]:
    recipe, sources = said["recipe"], said["sources"]
    yield (
        "A scorer chose what people saw first, so plain means over the file are no estimate for all solutions; "
        "the audit prefix and the holdout are random samples."
    )
    if sources.get("human"):
        yield f"{sources['human']:,} solutions were judged by one person alone."
    if sources.get("imported"):
        yield f"{sources['imported']:,} solutions carry the labels of their file; nobody checked them here."
    if sources.get("gold") or recipe["include_gold"]:
        yield "Gold items are among them: a model trained on this file can't be checked with them."
    if recipe.get("after_first_error") == "incorrect":
        yield "Steps after the first error are called incorrect by a rule; nobody judged them."
    if recipe.get("neutral") in ("correct", "incorrect"):
        yield f"Neutral steps are written as {recipe['neutral']}."
    if recipe.get("values") == "soft":
        yield (
            "Soft labels are the posterior of the solution's labels where one is known, else the share of people; "
            "they are no measurement of the step itself."
        )


def plain(text: str) -> str:
    """A name that somebody chose, on one line and without markup.

    >>> plain("a|b [x]")
    'a\\\\|b \\\\[x\\\\]'
    """
    return _MARKUP.sub(r"\\\1", " ".join(str(text).split()))


def _table(head: tuple[str, str], rows: Mapping[str, Any]) -> list[str]:
    body = [f"| {plain(str(name).replace('_', ' '))} | {_cell(value)} |" for name, value in rows.items()]
    return [f"| {head[0]} | {head[1]} |", "|---|---|", *body] if body else []


def _cell(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    return plain(", ".join(map(str, value)) if isinstance(value, list) else str(value))
