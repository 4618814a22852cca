"""Fit the built-in scorer's weights from a file, evaluate them on another, or compare settings."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotator.scorers.builtin.fit import Report, Settings, compare, evaluate, fit_file
from annotator.scorers.builtin.model import WEIGHTS_FILE, InvalidWeights, load, to_json
from annotator.scorers.builtin.training_data import UnreadableTrainingData


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, nargs="?", help="ProcessBench JSONL to fit on")
        parser.add_argument("--evaluate", type=Path, metavar="FILE", help="report on FILE instead of fitting")
        parser.add_argument("--compare", action="store_true", help="only cross-validate several settings")
        parser.add_argument("--weights", type=Path, default=WEIGHTS_FILE, help="file to write or evaluate")
        parser.add_argument("--licence", default="not stated", help="the data's licence, for provenance")
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["evaluate"]:
                self.show("", evaluate(load(options["weights"]), options["evaluate"]), options["json"])
            elif options["file"] is None:
                raise CommandError("Name a file to fit on, or one to --evaluate.", returncode=2)
            elif options["compare"]:
                self.compare(options["file"], as_json=options["json"])
            else:
                self.fit(options)
        except (UnreadableTrainingData, InvalidWeights, OSError) as error:
            raise CommandError(f"{error}", returncode=2) from error

    def fit(self, options: dict[str, Any]) -> None:
        file, path = options["file"], options["weights"]
        command = f"manage.py fit_builtin {file.name} --licence '{options['licence']}'"
        weights = fit_file(file, Settings(), command=command, licence=options["licence"])
        path.write_bytes(to_json(weights) + b"\n")
        if options["json"]:
            self.stdout.write(json.dumps({"version": weights.version, **weights.provenance}))
            return
        figures = weights.provenance["cross_validated"]
        self.stdout.write(f"{weights.version} written to {path.name}, threshold {weights.threshold}")
        self.stdout.write("Cross-validated by problem: " + json.dumps(figures, indent=1))

    def compare(self, file: Path, *, as_json: bool) -> None:
        results = compare(file)
        if as_json:
            rows = [{"words": s.words, "l2": s.l2, "l2_words": s.l2_words, **r.to_json()} for s, r in results]
            self.stdout.write(json.dumps({"candidates": rows}))
            return
        for settings, report in results:
            words = f"words, l2_words {settings.l2_words:g}" if settings.words else "no words"
            self.show(f"l2 {settings.l2:g}, {words}: ", report, as_json=False)

    def show(self, title: str, report: Report, as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(report.to_json()))
            return
        f1 = report.processbench_f1
        parts = (f1.value, f1.erroneous, f1.correct, report.step_auc, report.brier, report.brier_of_base_rate)
        shown = ["-" if value is None else f"{value:.3f}" for value in (*parts, report.ece)]
        self.stdout.write(
            f"{title}F1 {shown[0]} (erroneous {shown[1]}, correct {shown[2]}) · AUC {shown[3]} · "
            f"Brier {shown[4]} (base rate {shown[5]}) · ECE {shown[6]} · threshold {report.threshold:g} "
            f"({report.threshold_from}) · {report.solutions} solutions, {report.steps} steps at risk, "
            f"{report.overlap_with_training} of training problems"
        )
