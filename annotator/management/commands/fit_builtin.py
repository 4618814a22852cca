"""Fit the built-in scorer's weights on files of human first errors, or say how good it is on unseen problems."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotator.core.intervals import Figure
from annotator.scorers.builtin.language_model import ModelMissing, file_hash, loaded, model_file
from annotator.scorers.builtin.model import WEIGHTS_FILE, InvalidWeights, load, to_json
from annotator.scorers.builtin.refined import REFINED_FILE
from annotator.scorers.builtin.refined import to_json as refined_to_json
from annotator.scorers.builtin.study import SHIPPED, Report, compared, evaluate, fit_files, read, speed
from annotator.scorers.builtin.study_refined import (
    NothingRead,
    compared_refined,
    fit_refined_files,
    read_on,
)
from annotator.scorers.builtin.training_data import UnreadableTrainingData, read_processbench


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", metavar="FILE", help="ProcessBench JSONL")
        parser.add_argument(
            "--evaluate", action="store_true", help="only print the table of routes, out of fold by problem"
        )
        parser.add_argument(
            "--as-fitted",
            action="store_true",
            help="only report finished weights on the files, with overlap and speed",
        )
        parser.add_argument(
            "--language",
            type=Path,
            metavar="KEPT",
            help="what the language model says of the solutions: fit, or evaluate, the refined pass",
        )
        parser.add_argument(
            "--read", action="store_true", help="only read on into KEPT with the language model; takes long"
        )
        parser.add_argument(
            "--seed", type=int, default=SHIPPED.seed, help="with --evaluate: another drawing of the folds"
        )
        parser.add_argument("--weights", type=Path, default=WEIGHTS_FILE, help="file to write or report")
        parser.add_argument("--licence", default="not stated", help="the data's licence, for provenance")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["read"]:
                self.read_on(options)
            elif options["as_fitted"]:
                self.as_fitted(options)
            elif options["evaluate"]:
                self.evaluate(options)
            elif options["language"]:
                self.fit_refined(options)
            else:
                self.fit(options)
        except (UnreadableTrainingData, InvalidWeights, ModelMissing, NothingRead, OSError) as error:
            raise CommandError(f"{error}", returncode=2) from error

    def evaluate(self, options: dict[str, Any]) -> None:
        study, settings = read(options["files"]), replace(SHIPPED, seed=options["seed"])
        reports, gain = compared(study, settings), None
        if options["language"]:
            both, gain = compared_refined(study, options["language"], options["seed"])
            reports += both
        self.table(reports, as_json=options["json"], gain=gain)

    def fit(self, options: dict[str, Any]) -> None:
        path = options["weights"]
        names = " ".join(file.name for file in options["files"])
        command = f"manage.py fit_builtin {names} --licence '{options['licence']}'"
        weights = fit_files(read(options["files"]), SHIPPED, command=command, licence=options["licence"])
        path.write_bytes(to_json(weights) + b"\n")
        if options["json"]:
            self.stdout.write(json.dumps({"version": weights.version, **weights.provenance}))
            return
        self.stdout.write(f"{weights.version} written to {path.name}, threshold {weights.threshold}")
        self.stdout.write(
            "Out of fold by problem: " + json.dumps(weights.provenance["out_of_fold"], indent=1)
        )

    def read_on(self, options: dict[str, Any]) -> None:
        if options["language"] is None:
            raise CommandError("--read needs --language KEPT, the file to read on into.", returncode=2)
        solutions = [solution for file in options["files"] for solution in read_processbench(file)]
        model, words = loaded()
        read_on(options["language"], solutions, model, words, self.said)

    def said(self, done: int, of: int) -> None:
        if done % 10 == 0 or done == of:
            self.stderr.write(f"{done} of {of} solutions read")

    def fit_refined(self, options: dict[str, Any]) -> None:
        names = " ".join(file.name for file in options["files"])
        command = (
            f"manage.py fit_builtin {names} --language {options['language'].name} "
            f"--licence '{options['licence']}'"
        )
        correction = fit_refined_files(
            read(options["files"]),
            options["language"],
            command=command,
            licence=options["licence"],
            model_sha256=file_hash(model_file()),
        )
        REFINED_FILE.write_bytes(refined_to_json(correction) + b"\n")
        metrics = correction.provenance["out_of_fold"]
        self.stdout.write(f"{REFINED_FILE.name} written, threshold {correction.threshold}")
        self.stdout.write("Out of fold by problem: " + json.dumps(metrics, indent=1))

    def as_fitted(self, options: dict[str, Any]) -> None:
        weights = load(options["weights"])
        found, overlap = evaluate(weights, options["files"])
        pace = {path.name: round(speed(weights, path)) for path in options["files"]}
        if options["json"]:
            more = {"overlap_with_training": overlap, "steps_per_second": pace}
            self.stdout.write(json.dumps({**found.to_json(), **more}))
            return
        self.table([found], as_json=False)
        for name, steps in pace.items():
            self.stdout.write(f"{name}: {steps} steps scored in a second of processor time.")
        self.stdout.write(f"{overlap} of {found.solutions} solutions are of problems it was trained on.")

    def table(self, reports: Sequence[Report], *, as_json: bool, gain: Figure | None = None) -> None:
        if as_json:
            more = {} if gain is None else {"gain_of_refined": asdict(gain)}
            self.stdout.write(json.dumps({"routes": [one.to_json() for one in reports], **more}))
            return
        wide = max(len(one.route) for one in reports)
        files = list(reports[0].files)
        self.stdout.write(
            f"{'route':{wide}}  mean F1 (95 %)      "
            + "".join(f"{name.removeprefix('processbench_')[:18]:>20}" for name in files)
            + "    AUC   Brier    ECE"
        )
        for one in reports:
            f1 = f"{_points(one.figure.value)} ({_points(one.figure.low)}-{_points(one.figure.high)})"
            each = "".join(
                f"{_points(f.value)} ({_points(f.erroneous)}, {_points(f.correct)})".rjust(20)
                for f in one.files.values()
            )
            rest = "".join(
                "      -" if v is None else f"{v:7.3f}" for v in (one.step_auc, one.brier, one.ece)
            )
            self.stdout.write(f"{one.route:{wide}}  {f1:<18}{each}{rest}")
        if gain is not None:
            self.stdout.write(
                f"The refined pass less the fast one, on the same solutions: {_points(gain.value)} points of mean F1 "
                f"({_points(gain.low)} to {_points(gain.high)}, by problem)."
            )
        first = reports[0]
        self.stdout.write(
            f"{first.solutions} solutions of {first.problems} problems, {first.steps} steps at risk; thresholds from "
            f"{first.threshold_from}. In brackets: share of exact first errors, share of passed solutions."
        )


def _points(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
