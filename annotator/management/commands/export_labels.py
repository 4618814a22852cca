"""Write labels to a file."""

from __future__ import annotations

import os
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import IO, Any

import orjson
from django.core.management.base import CommandParser

from annotator.actions import access, exports
from annotator.actions.exports import Export, Recipe
from annotator.core.codecs import CODECS
from annotator.core.codecs.policies import AfterFirstErrorPolicy, NeutralPolicy, PolicyError
from annotator.management.base import Bar, StepmarkCommand, unusable
from annotator.models import Split
from annotator.queries.exports import LabelsFrom, Only


class Command(StepmarkCommand):
    help = "Write a project's labels as JSONL; gold is left out, and what was left out is counted by reason."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", required=True, choices=list(CODECS))
        parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="- for stdout")
        parser.add_argument(
            "--labels", default=LabelsFrom.CONSENSUS.value, choices=[each.value for each in LabelsFrom]
        )
        parser.add_argument("--neutral", choices=[each.value for each in NeutralPolicy])
        parser.add_argument("--after-first-error", choices=[each.value for each in AfterFirstErrorPolicy])
        parser.add_argument("--include-gold", action="store_true")
        parser.add_argument("--split", choices=Split.values, help="only solutions of this side")
        parser.add_argument("--domain", default="", help="only problems of this domain")
        parser.add_argument(
            "--since", type=date.fromisoformat, metavar="DATE", help="labelled on this day or later"
        )
        parser.add_argument(
            "--until", type=date.fromisoformat, metavar="DATE", help="labelled on this day or before"
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
        to_stdout = str(options["out"]) == "-"
        if to_stdout and options["json"]:
            raise unusable(
                "--out - writes the labels to stdout, where --json would mix with them; name a file."
            )
        if options["manifest"] and options["manifest"].suffix == ".md":
            raise unusable("--manifest names the JSON file; the card goes beside it with .md: name it .json.")
        project = self.project(options["project"])
        actor, recipe = access.operator(project), _recipe(options)
        try:
            export = exports.start(actor=actor, recipe=recipe)
            if to_stdout:
                self._to_stdout(export)
            else:
                self._to_file(export, options["out"])
        except PolicyError as error:
            raise unusable(f"{error} (--neutral, --after-first-error).") from error
        if options["manifest"]:
            _describe(exports.manifest_of(actor=actor, recipe=recipe, export=export), options["manifest"])
        self._report(export, options, to_stdout)

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
        for line in export:
            file.write(line)
            if export.tally.written % 500 == 0:
                bar.show(f"{export.tally.written:,} written")
        bar.close()
        file.flush()

    def _report(self, export: Export, options: dict[str, Any], to_stdout: bool) -> None:
        left_out = export.all_left_out
        values = {
            "written": export.tally.written,
            "left_out": left_out,
            "lost_fields": list(export.codec.lost_fields),
            "lost": dict(export.tally.lost),
            "sha256": export.sha256,
        }
        told = ", ".join(f"{n:,} {why.replace('_', ' ')}" for why, n in left_out.items())
        reasons = f"; left out: {told}" if told else ""
        sentence = f"Wrote {export.tally.written:,} rows{reasons}. SHA-256 {export.sha256}"
        if to_stdout:
            self.say(sentence)
        else:
            self.report(options, values, sentence)
        if export.tally.written and export.codec.lost_fields and not options["json"]:
            self.say(f"{export.codec.name} can't carry: {'; '.join(export.codec.lost_fields)}.")


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


def _recipe(options: dict[str, Any]) -> Recipe:
    after = options["after_first_error"]
    return Recipe(
        format=options["format"],
        labels=LabelsFrom(options["labels"]),
        neutral=NeutralPolicy(options["neutral"]) if options["neutral"] else None,
        after_first_error=AfterFirstErrorPolicy(after) if after else None,
        include_gold=options["include_gold"],
        holdout=options["holdout"],
        only=Only(options["split"], options["domain"], options["since"], options["until"]),
    )
