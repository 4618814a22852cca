"""Have a project's solutions scored by the workers."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import Func, IntegerField, Sum

from annotator.actions import access, scoring
from annotator.actions.scoring import Asked, NoSuchScorer
from annotator.jobs import someone_works
from annotator.management.base import Bar, StepmarkCommand, unusable
from annotator.models import Job, Project, Score, ScoreFailure, Scorer, ScorerVersion, Solution
from annotator.queries.scorers import unparsed_of
from annotator.scorers import CHAT_KINDS
from annotator.scorers.breaker import CircuitOpen
from annotator.scorers.endpoint import EndpointRefused
from annotator.scorers.http import RequestFailed
from annotator.scorers.remote import InvalidSettings

#: Without a sign of life for this long, waiting ends.
PATIENCE = 5.0
POLL = 0.3


@dataclass
class State:
    """How far the workers are."""

    scored: int
    failed: int
    total: int
    open_jobs: int

    @property
    def missing(self) -> int:
        return self.total - self.scored - self.failed

    @property
    def done(self) -> bool:
        """Nobody will do more: also where a job failed for good and solutions stay without a score."""
        return not self.open_jobs


class Command(StepmarkCommand):
    help = "Ask the workers to score what the scorer's current version has not; --wait shows progress."

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--scorer", metavar="NAME", help="needed only where the project has several")
        parser.add_argument(
            "--wait", action="store_true", help="wait until all are scored and the queue re-ordered"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        started = time.monotonic()
        project = self.project(options["project"])
        asked = self._ask(project, options["scorer"])
        state = _state(project, asked)
        if options["wait"] and not state.done:
            state = self._wait(project, asked)
        values = {
            "scorer": asked.scorer,
            "version": asked.version,
            "solutions": state.scored,
            "steps": _steps(asked),
            "failed": state.failed,
            "seconds": round(time.monotonic() - started, 2),
            **_unparsed(asked),
        }
        if state.done and state.missing:
            self.say(_why_missing(project, state.missing))
        self.report(
            options,
            values,
            f"{asked.scorer} {asked.version}: {state.scored:,} solutions ({values['steps']:,} steps) scored, "
            f"{state.failed:,} failed, {state.missing:,} not tried yet; {values['seconds']} s.",
        )
        if options["wait"] and (state.failed or state.missing or not state.done):
            sys.exit(1)

    def _ask(self, project: Project, name: str | None) -> Asked:
        names = list(Scorer.objects.filter(project=project).values_list("name", flat=True))
        if not names:
            raise unusable(f"The project '{project.slug}' has no scorer.")
        if name is None and len(names) > 1:
            raise unusable(f"Name one of this project's scorers with --scorer: {', '.join(sorted(names))}.")
        try:
            (asked,) = scoring.request(actor=access.operator(project), scorer_name=name or names[0])
        except (NoSuchScorer, InvalidSettings, EndpointRefused) as error:
            raise unusable(str(error)) from error
        except (RequestFailed, CircuitOpen) as error:
            raise CommandError(f"The scorer can't be asked now: {error}", returncode=1) from error
        return asked

    def _wait(self, project: Project, asked: Asked) -> State:
        """Until all is done, or nobody has moved for PATIENCE and no worker answers."""
        bar, moved, last = Bar(self), time.monotonic(), (-1, -1)
        try:
            while not (state := _state(project, asked)).done:
                bar.show(f"{state.scored:,} of {state.total:,} solutions", state.scored, state.total)
                if (state.scored, state.open_jobs) != last:
                    last, moved = (state.scored, state.open_jobs), time.monotonic()
                if time.monotonic() - moved > PATIENCE / 2 and not someone_works(timeout=PATIENCE / 2):
                    self.say(
                        "No worker answers. The work is kept and is done as soon as one runs (see make demo)."
                    )
                    return state
                time.sleep(POLL)
        finally:
            bar.close()
        return state


def _state(project: Project, asked: Asked) -> State:
    mine = {"version_id": asked.version_id, "solution__superseded_at": None}
    return State(
        scored=Score.objects.filter(**mine).count(),
        failed=ScoreFailure.objects.filter(**mine).count(),
        total=Solution.objects.filter(project=project, superseded_at=None).count(),
        open_jobs=Job.objects.filter(
            project=project, kind__in=["scoring.score_batch", "queueing.reprioritize"]
        )
        .exclude(state=Job.State.FAILED)
        .count(),
    )


def _unparsed(asked: Asked) -> dict[str, int]:
    """For a chat model: how many of its answers held no verdict."""
    version = ScorerVersion.objects.select_related("scorer").get(pk=asked.version_id)
    return unparsed_of(version) if version.scorer.kind in CHAT_KINDS else {}


def _why_missing(project: Project, missing: int) -> str:
    failed = Job.objects.filter(project=project, kind="scoring.score_batch", state=Job.State.FAILED)
    error = failed.order_by("-pk").values_list("error", flat=True).first()
    return (
        f"{missing:,} solutions were not scored, since their job failed each time it was tried "
        f"({error or 'no reason is known'}). Run the command again to have it tried anew."
    )


def _steps(asked: Asked) -> int:
    judged = Func(
        "values", None, function="array_remove", template='cardinality(%(function)s("values", NULL))'
    )
    rows = Score.objects.filter(version_id=asked.version_id)
    judged.output_field = IntegerField()
    return rows.aggregate(total=Sum(judged))["total"] or 0
