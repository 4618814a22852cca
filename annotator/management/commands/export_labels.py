"""Write labels to a file."""

from __future__ import annotations

import os
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import orjson
from django.core.management.base import CommandParser

from annotator.actions import access, export_recipes, exports
from annotator.actions.access import Actor
from annotator.actions.export_choices import CHOICES, REFUSED, Recipe
from annotator.actions.export_recipes import NoSuchRecipe
from annotator.actions.exports import Export
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, PolicyError
from annotator.core.codecs.writing import FORMATS, Values
from annotator.core.parts import TEST, TRAIN, VALIDATION
from annotator.management.base import Bar, StepmarkCommand, unusable
from annotator.models import Split
from annotator.queries.export_filters import AGREE, CLEAN, CONTRADICTED, LabelsFrom, LabelSource


class Command(StepmarkCommand):
    help = "Write a project's labels as JSONL or CSV; gold is left out, and what was left out is counted by reason."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=list(FORMATS), help="or in a --recipe")
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="- for stdout")
        parser.add_argument(
            "--recipe", metavar="NAME", help="choices kept on the export page; options given here change them"
        )
        _add_choices(parser)
        parser.add_argument(
            "--separate-files",
            action="store_true",
            help="with --split-by-problem: FILE with .train, .validation and .test before its ending",
        )
        parser.add_argument(
            "--manifest",
            type=Path,
            metavar="FILE",
            help="write what the export holds as JSON, and a dataset card beside it (FILE with .md)",
        )
        holdout = parser.add_mutually_exclusive_group()
        holdout.add_argument(
            "--include-holdout",
            action="store_const",
            const=True,
            dest="holdout",
            help="also in a training format, which can't say which side a solution is on",
        )
        holdout.add_argument("--leave-out-holdout", action="store_const", const=False, dest="holdout")

    def handle(self, *args: Any, **options: Any) -> None:
        _refuse_unusable(options)
        project = self.project(options["project"])
        actor = access.operator(project)
        try:
            recipe, kept = _recipe(actor, options)
            if options["separate_files"]:
                self._separately(actor, recipe, kept, options)
                return
            export = exports.start(actor=actor, recipe=recipe, recipe_id=kept)
            self._to_stdout(export) if _on_stdout(options) else self._to_file(export, options["out"])
        except PolicyError as error:
            raise unusable(f"{error} (--neutral, --after-first-error, --values).") from error
        except (*REFUSED, NoSuchRecipe) as error:
            raise unusable(str(error)) from error
        if options["manifest"]:
            _describe(exports.manifest_of(actor=actor, recipe=recipe, export=export), options["manifest"])
        self._report(export, options, _on_stdout(options))

    def _separately(self, actor: Actor, recipe: Recipe, kept: int | None, options: dict[str, Any]) -> None:
        """A file for each part."""
        if recipe.parts is None:
            raise unusable("--separate-files goes with --split-by-problem, such as 80/10/10.")
        told: dict[str, Any] = {}
        files = []
        for part in recipe.parts.names:
            alone = replace(recipe, parts=replace(recipe.parts, only=part))
            path = _with_part(options["out"], part)
            export = exports.start(actor=actor, recipe=alone, recipe_id=kept)
            self._to_file(export, path)
            if options["manifest"]:
                beside = _with_part(options["manifest"], part)
                _describe(exports.manifest_of(actor=actor, recipe=alone, export=export), beside)
            told[part] = {"file": str(path), **_values(export)}
            files.append(f"Wrote {export.tally.written:,} rows to {path}{_left_out(export)}.")
        self.report(options, {"parts": told}, "\n".join(files))

    def _to_stdout(self, export: Export) -> None:
        try:
            self._write(export, sys.stdout.buffer)
        except OSError as error:
            # Python flushes stdout once more at its end, and would complain again.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise unusable(f"The labels can't be written to stdout: {error.strerror}.") from error

    def _to_file(self, export: Export, path: Path) -> None:
        """Into a file beside the target first, so that a half-written export never stands under its name.

        A link keeps pointing where it does; a device or a pipe is written to and stays what it is.
        """
        try:
            target = path.resolve()
            if target.exists() and not target.is_file():
                with target.open("wb") as file:
                    return self._write(export, file)
            with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".stepmark-", delete=False) as file:
                beside = Path(file.name)
                try:
                    self._write(export, file)
                    beside.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask())
                    beside.replace(target)
                finally:
                    beside.unlink(missing_ok=True)
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle, before Python 3.13
            reason = error.strerror if isinstance(error, OSError) else error
            raise unusable(f"{path} can't be written: {reason}.") from error

    def _write(self, export: Export, file: IO[bytes]) -> None:
        bar = Bar(self)
        for block in export.blocks():
            file.write(block)
            bar.show(f"{export.tally.written:,} written")
        bar.close()
        file.flush()

    def _report(self, export: Export, options: dict[str, Any], to_stdout: bool) -> None:
        sentence = f"Wrote {export.tally.written:,} rows{_left_out(export)}. SHA-256 {export.sha256}"
        if to_stdout:
            self.say(sentence)
        else:
            self.report(options, _values(export), sentence)
        if export.tally.written and export.codec.lost_fields and not options["json"]:
            self.say(f"{export.codec.name} can't carry: {'; '.join(export.codec.lost_fields)}.")


def _left_out(export: Export) -> str:
    told = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in export.all_left_out.items())
    return f"; left out: {told}" if told else ""


def _describe(manifest: dict[str, Any], path: Path) -> None:
    """The manifest as JSON, and its card beside it."""
    try:
        path.write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
        path.with_suffix(".md").write_text(manifest["card"])
    except OSError as error:
        raise unusable(f"The labels are written, but {path} can't be: {error.strerror}.") from error


def _umask() -> int:
    """What a new file of ours may not allow; it can only be read by setting it."""
    current = os.umask(0o077)
    os.umask(current)
    return current


def _add_choices(parser: CommandParser) -> None:
    """The choices that pages and the API offer under the same names. Unset ones are None: a recipe may set them."""

    def add(name: str, **more: Any) -> None:
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, **more)

    add("labels", choices=list(map(str, LabelsFrom)), help="consensus unless said otherwise")
    add("neutral", choices=list(map(str, NeutralPolicy)))
    add("after_first_error", choices=list(map(str, AfterFirstErrorPolicy)))
    add("values", choices=list(map(str, Values)), help="hard labels, with a weight, or probabilities")
    add("include_gold", action="store_const", const=True)
    add("split", choices=Split.values, help="only solutions of this side")
    add("domain", help="only problems of this domain")
    add("since", metavar="DATE", help="labelled on this day or later")
    add("until", metavar="DATE", help="labelled on this day or before")
    add("min_agreement", metavar="SHARE", help="of people who put the first error where the consensus does")
    add("min_posterior", metavar="SHARE", help="of the consensus")
    add("min_people", metavar="N", help="counted labels of so many people")
    add("people", metavar="NAMES", help="labelled by one of these pseudonyms, apart by commas")
    add("sources", metavar="NAMES", help=f"where labels come from: {', '.join(LabelSource)}")
    add("automatic", choices=[AGREE], help="judge and Monte-Carlo put the first error in the same place")
    add("checks", choices=[CONTRADICTED, CLEAN], help="an equation does not hold, or none is known not to")
    add("exclude_benchmarks", action="store_const", const=True, help="no problems that hash_benchmark knows")
    add("split_by_problem", metavar="80/10/10", help="train, validation and test by problem")
    add("seed", metavar="N", help="of that split; 0")
    add("part", choices=[TRAIN, VALIDATION, TEST], help="of that split, alone")
    add("licence", metavar="NAME", help="for the dataset card")


def _recipe(actor: Actor, options: dict[str, Any]) -> tuple[Recipe, int | None]:
    """The choices, and the kept recipe that they are; one that options change is that recipe no more."""
    given = {name: options[name] for name in CHOICES if options.get(name) is not None}
    if options["recipe"] is None:
        return Recipe.from_json(given), None
    row, kept = export_recipes.find(actor=actor, name=options["recipe"])
    recipe = Recipe.from_json({**kept.to_json(), **given})
    return recipe, row.pk if recipe == kept else None


def _refuse_unusable(options: dict[str, Any]) -> None:
    """Raise `unusable` for options that contradict each other."""
    if options["format"] is None and options["recipe"] is None:
        raise unusable(f"Name a --format ({', '.join(FORMATS)}) or a --recipe.")
    if _on_stdout(options) and (options["json"] or options["separate_files"]):
        raise unusable(
            "--out - writes the labels to stdout, where --json would mix with them and parts couldn't be told apart; "
            "name a file."
        )
    if options["manifest"] and options["manifest"].suffix == ".md":
        raise unusable("--manifest names the JSON file; the card goes beside it with .md: name it .json.")


def _on_stdout(options: dict[str, Any]) -> bool:
    return str(options["out"]) == "-"


def _with_part(path: Path, part: str) -> Path:
    return path.with_name(f"{path.stem}.{part}{path.suffix}")


def _values(export: Export) -> dict[str, Any]:
    return {
        "written": export.tally.written,
        "left_out": export.all_left_out,
        "lost_fields": list(export.codec.lost_fields),
        "lost": dict(export.tally.lost),
        "sha256": export.sha256,
        "run": export.run.pk if export.run else None,
    }
