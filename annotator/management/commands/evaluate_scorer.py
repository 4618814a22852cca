"""Measure a scorer against labels."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import CommandParser

from annotator.core.intervals import Figure
from annotator.management.base import StepmarkCommand, unusable
from annotator.models import Scorer
from annotator.queries.evaluation.known import Against
from annotator.queries.evaluation.measured import (
    Measured,
    NoSuchScorer,
    measured,
    plain,
    usual,
    version_of,
)


class Command(StepmarkCommand):
    help = "Measure a scorer's scores against the holdout, reference labels or gold. Exit status 1: nothing to measure."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--scorer", metavar="NAME", help="needed only where the project has several")
        parser.add_argument(
            "--version-of-scorer", metavar="VERSION", help="an earlier one than that in force"
        )
        parser.add_argument(
            "--against",
            choices=[each.value for each in Against],
            help="default: the holdout where it has labels, else reference labels, else gold",
        )
        parser.add_argument(
            "--tune-threshold",
            action="store_true",
            help="use the threshold that is best on these very labels (optimistic, and said so)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["project"])
        names = sorted(Scorer.objects.filter(project=project).values_list("name", flat=True))
        if options["scorer"] is None and len(names) != 1:
            raise unusable(f"Name one of this project's scorers with --scorer: {', '.join(names) or 'none'}.")
        try:
            version = version_of(project, options["scorer"] or names[0], options["version_of_scorer"])
        except NoSuchScorer as error:
            raise unusable(str(error)) from error
        against = Against(options["against"]) if options["against"] else usual(project)
        found = measured(version, against, tuned=options["tune_threshold"])
        self.report(options, plain(found), sentence(found))
        if not found.found.solutions:
            self.say(f"No solution has both a score of {version} and labels of the kind '{against}'.")
            sys.exit(1)


def sentence(one: Measured) -> str:
    """A table for people."""
    found = one.found
    f1 = found.processbench_f1
    rows: list[tuple[str, Figure]] = [
        ("ProcessBench F1", f1.figure),
        ("  erroneous", Figure(f1.erroneous, f1.n_erroneous, f1.reason)),
        ("  correct", Figure(f1.correct, f1.n_correct, f1.reason)),
        ("PRMScore", found.errors.prm_score),
        ("Step AUC", found.step_auc),
        ("Brier score", found.brier),
        ("ECE", found.ece),
        ("Errors: precision", found.errors.precision),
        ("Errors: recall (detection rate)", found.errors.recall),
        ("First error, exact", found.first_error_exact),
        ("First error, within one", found.first_error_within_one),
        *[(f"Best of N by {how}", figure) for how, figure in found.best_of_n.by.items()],
        ("Best of N, by lot", found.best_of_n.lot),
        ("Best of N, any right", found.best_of_n.best),
    ]
    lines = [f"  {name:<34}{_figure(figure)}" for name, figure in rows]
    return "\n".join([_head(one), *lines, *_overlap(one)])


def _head(one: Measured) -> str:
    return (
        f"{one.scorer} {one.version} against {one.against}: {one.found.solutions:,} solutions of "
        f"{one.found.problems:,} problems, {one.found.steps:,} steps; {one.unscored:,} have no score.\n"
        f"Threshold {one.found.threshold:g} ({one.threshold_from})."
    )


def _overlap(one: Measured) -> list[str]:
    if not one.overlap:
        return []
    said = f"{one.overlap:,} of these solutions are of problems that it was trained on: the figures flatter."
    if one.unseen is None:
        return [said]
    return [said, f"  {'F1 on the others':<34}{_figure(one.unseen.processbench_f1.figure)}"]


def _figure(figure: Figure) -> str:
    if figure.value is None:
        return f"none ({figure.reason})"
    interval = f"  [{figure.low:.3f}, {figure.high:.3f}]" if figure.low is not None else ""
    return f"{figure.value:.3f}{interval}  n={figure.n:,}"
