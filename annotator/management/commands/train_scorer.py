"""Have a project's scorer trained by the workers on what people labelled."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandParser

from annotator.actions import access, training
from annotator.actions.scorers import Refused
from annotator.jobs import someone_works
from annotator.management.base import Bar, StepmarkCommand, unusable
from annotator.models import Project, Scorer, ScorerVersion
from annotator.queries.training_state import CANCELLED, FAILED, NOTHING, TrainingState, state_of
from annotator.scorers.trainers import TRAINERS

#: Without a sign of life for this long, waiting ends.
PATIENCE = 10.0
POLL = 0.3


class Command(StepmarkCommand):
    help = (
        "Ask the workers to train a scorer on what people labelled; --wait shows progress and the decision."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--scorer", metavar="NAME", help="needed only where several can be trained")
        parser.add_argument(
            "--wait", action="store_true", help="wait until the challenger has met the champion"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        project = self.project(options["project"])
        scorer = _chosen(project, options["scorer"])
        try:
            training.ask(actor=access.operator(project), scorer_id=scorer.pk)
        except Refused as error:
            if not options["wait"]:
                raise unusable(str(error)) from error
            self.say(f"{error} Waiting for it.")
        state = self._wait(project, scorer) if options["wait"] else state_of(project, scorer.pk)
        values = _values(scorer, state, time.monotonic() - started)
        self.report(options, values, f"{scorer.name}: {values['said'] or 'a worker trains it.'}")
        if options["wait"] and (
            state is None or state.under_way or state.state in {FAILED, NOTHING, CANCELLED}
        ):
            sys.exit(1)

    def _wait(self, project: Project, scorer: Scorer) -> TrainingState | None:
        """Until the run has ended, or nothing has moved for PATIENCE and no worker answers."""
        bar, moved, last = Bar(self), time.monotonic(), None
        try:
            while (state := state_of(project, scorer.pk)) is not None and state.under_way:
                bar.show(state.stage or "waiting for a worker", state.done, state.total)
                if state != last:
                    last, moved = state, time.monotonic()
                if time.monotonic() - moved > PATIENCE / 2 and not someone_works(timeout=PATIENCE / 2):
                    self.say(
                        "No worker answers. The work is kept and is done as soon as one runs (see make demo)."
                    )
                    break
                time.sleep(POLL)
        finally:
            bar.close()
        return state


def _chosen(project: Project, name: str | None) -> Scorer:
    """The scorer of that name, or the only one that can be trained; exit status 2 where it is none."""
    trainable = list(Scorer.objects.filter(project=project, kind__in=TRAINERS).order_by("pk"))
    if name is not None:
        named = Scorer.objects.filter(project=project, name=name).first()
        if named is None:
            raise unusable(f"This project has no scorer '{name}'.")
        return named
    if not trainable:
        raise unusable(f"The project '{project.slug}' has no scorer that can be trained here.")
    if len(trainable) > 1:
        names = ", ".join(sorted(each.name for each in trainable))
        raise unusable(f"Name one of this project's scorers with --scorer: {names}.")
    return trainable[0]


def _values(scorer: Scorer, state: TrainingState | None, seconds: float) -> dict[str, Any]:
    """What a program reads: keys of `evaluate_scorer` as far as they go, then the run's own. Figures are those out of
    fold; the holdout's stand under ``decision``."""
    version = None
    if state is not None and state.version:
        version = ScorerVersion.objects.filter(scorer=scorer, version=state.version).first()
    told: Mapping[str, Any] = version.training if version is not None else {}
    metrics, decision = told.get("metrics", {}), told.get("decision", {})
    f1 = metrics.get("f1", {})
    return {
        "scorer": scorer.name,
        "version": version.version if version is not None else "",
        "state": state.state if state is not None else "",
        "said": state.said if state is not None else "",
        "solutions": metrics.get("solutions", 0),
        "overlap_with_training": decision.get("overlap", 0),
        "threshold": version.threshold if version is not None else None,
        "threshold_from": told.get("threshold_from"),
        "processbench_f1": {name: f1.get(name) for name in ("value", "low", "high")},
        "step_auc": metrics.get("auc", {}).get("value"),
        "brier": metrics.get("brier", {}).get("value"),
        "ece": metrics.get("ece", {}).get("value"),
        "parent": version.parent.version if version is not None and version.parent is not None else "",
        "sources": told.get("snapshot", {}).get("sources", {}),
        "decision": decision,
        "seconds": round(seconds, 2),
    }
