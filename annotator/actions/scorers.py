"""What a manager does with scorers: add, change, pause, cancel, choose which one orders the queue, try one out."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction

from annotator import jobs
from annotator.actions import access, ordering, scoring
from annotator.actions.access import Actor, Verb
from annotator.actions.scoring_inputs import inputs_for
from annotator.core.selection import InvalidMixture
from annotator.core.solutions import Step
from annotator.core.uncertainty import priority
from annotator.models import AuditEvent, Project, Scorer, ScorerVersion, Solution
from annotator.queries.pool import mixture_of
from annotator.scorers import FOLDERS, KINDS, REMOTE, UTILITY_KINDS
from annotator.scorers.base import InvalidScores, Scored, ScoringCancelled, checked
from annotator.scorers.base import Scorer as RunningScorer
from annotator.scorers.breaker import CircuitOpen
from annotator.scorers.endpoint import EndpointRefused
from annotator.scorers.http import RequestFailed
from annotator.scorers.remote import InvalidSettings

#: What `fill_by` changes of a project.
FILLING = ("strategies", "error_free_floor", "certain")
#: Scorers of a project; each scores every solution.
MOST = 20
#: Seconds that somebody waits for a scorer to be tried; the page is open meanwhile.
TRY_SECONDS = 10.0


class Refused(ValueError):
    """The scorer can't be had like this; the message says which rule it breaks, ``field`` where."""

    def __init__(self, said: str, field: str = "") -> None:
        super().__init__(said)
        self.field = field


class NoSuchScorer(LookupError):
    """This project has no such scorer."""


class NoSuchSolution(LookupError):
    """This project has no such solution."""


class Unanswered(Exception):
    """The scorer could not score the solution just now; the message says why."""


@dataclass(frozen=True)
class TriedStep:
    """One step and what the scorer says of it; ``value`` is None where it takes no label."""

    index: int
    text: str
    value: float | None
    spread: float | None
    judged: bool

    @property
    def shown(self) -> int:
        """People count steps from 1."""
        return self.index + 1

    @property
    def percent(self) -> str:
        """How long its bar is."""
        return f"{100 * (self.value or 0.0):.1f}"


@dataclass(frozen=True)
class Tried:
    """What a scorer says of one solution. ``stop``: the step it calls the first error, -1 for none."""

    scorer: str
    version: str
    external_id: str
    problem_text: str
    steps: Sequence[TriedStep]
    threshold: float
    entropy: float
    stop: int
    seconds: float
    rationale: str

    @property
    def stop_shown(self) -> int:
        """The stop as people count."""
        return self.stop + 1

    @property
    def threshold_percent(self) -> str:
        """Where the threshold stands in a bar."""
        return f"{100 * self.threshold:.1f}"


def check(kind: str, config: Mapping[str, Any]) -> None:
    """Raise Refused unless a scorer of this kind can be made of these settings. Talks to nobody."""
    if kind not in KINDS:
        raise Refused("There is no such kind of scorer.", "kind")
    try:
        scoring.running(Scorer(kind=kind, config=dict(config)))
    except (InvalidSettings, EndpointRefused, ValueError) as error:
        raise Refused(str(error), "config") from error


@transaction.atomic
def add(*, actor: Actor, name: str, kind: str, config: Mapping[str, Any]) -> Scorer:
    """A new scorer, which begins to score at once and orders nothing yet. Raises Refused."""
    access.require(actor, Verb.MANAGE)
    Project.objects.select_for_update().get(pk=actor.project_id)
    check(kind, config)
    mine = Scorer.objects.filter(project_id=actor.project_id)
    if mine.count() >= MOST:
        raise Refused(f"A project has at most {MOST} scorers.")
    if mine.filter(name=name).exists():
        raise Refused("There is already a scorer of this name.", "name")
    scorer = Scorer(project_id=actor.project_id, name=name, kind=kind, config=dict(config), ranks=False)
    try:
        scorer.clean_fields()
    except ValidationError as error:
        field, said = next(iter(error.message_dict.items()))
        raise Refused(" ".join(said), field) from error
    scorer.save()
    scoring.start(scorer)
    _record(actor, scorer, "scorer:added", {"kind": kind, "config": dict(config)})
    return scorer


def kind_of(*, actor: Actor, scorer_id: int) -> str:
    """The kind of a scorer of this project. Raises NoSuchScorer."""
    access.require(actor, Verb.SCORE)
    found = Scorer.objects.filter(project_id=actor.project_id, pk=scorer_id).values_list("kind", flat=True)
    kind = found.first()
    if kind is None:
        raise NoSuchScorer
    return kind


@transaction.atomic
def change(
    *, actor: Actor, scorer_id: int, config: Mapping[str, Any], shown: Collection[str] | None = None
) -> Scorer:
    """Other settings for a scorer; where they decide scores, a new version scores all anew. Raises Refused.

    ``shown`` are those that could be seen and changed; others stay as they are. None: all.
    """
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    kept = {} if shown is None else {one: set_ for one, set_ in scorer.config.items() if one not in shown}
    config = {**kept, **config}
    check(scorer.kind, config)
    before, scorer.config, scorer.circuit = scorer.config, config, {}
    scorer.save(update_fields=["config", "circuit"])
    if before != scorer.config:
        _record(actor, scorer, "scorer:changed", {"before": before, "after": scorer.config})
        jobs.drop(kind=scoring.SCORE, subject_prefix=scoring.subject_of(scorer.pk), running=True)
        scoring.start(scorer)
    return scorer


@transaction.atomic
def pause(*, actor: Actor, scorer_id: int) -> Scorer:
    """No more scoring by this one until `resume`; the queue keeps its order."""
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    if not scorer.paused:
        scorer.paused = True
        scorer.save(update_fields=["paused"])
        dropped = _drop_jobs(scorer)
        _record(actor, scorer, "scorer:paused", {"jobs": dropped})
    return scorer


@transaction.atomic
def resume(*, actor: Actor, scorer_id: int) -> Scorer:
    """Score again what is missing."""
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    if scorer.paused:
        scorer.paused, scorer.circuit = False, {}
        scorer.save(update_fields=["paused", "circuit"])
        scoring.start(scorer)
        _record(actor, scorer, "scorer:resumed", {})
    return scorer


@transaction.atomic
def score_missing(*, actor: Actor, scorer_id: int) -> Scorer:
    """Have a worker score what is missing, what failed before included. Raises Refused while paused."""
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    if scorer.paused:
        raise Refused("The scorer is paused. Resume it first.")
    scoring.start(scorer)
    _record(actor, scorer, "scoring:requested", {})
    return scorer


@transaction.atomic
def cancel(*, actor: Actor, scorer_id: int) -> int:
    """Forget what still waits to be scored. What runs stops within seconds. Returns the number of dropped jobs."""
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    dropped = _drop_jobs(scorer)
    _record(actor, scorer, "scoring:cancelled", {"jobs": dropped})
    return dropped


@transaction.atomic
def rank_by(*, actor: Actor, scorer_id: int) -> Scorer:
    """Have this scorer order the queue, in place of the one that does. The scores of its version in force rank as
    soon as a worker has written the order."""
    access.require(actor, Verb.SCORE)
    Project.objects.select_for_update().get(pk=actor.project_id)
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    if scorer.ranks:
        return scorer
    if scorer.kind in UTILITY_KINDS:
        raise Refused(
            f"{scorer.name} says how often a solution ends well, not whether its steps are correct."
        )
    if scorer.refines_id is not None:
        raise Refused(
            f"{scorer.name} is a second pass over {scorer.refines}: its scores order the queue already."
        )
    Scorer.objects.filter(project_id=actor.project_id, ranks=True).update(ranks=False)
    scorer.ranks = True
    scorer.save(update_fields=["ranks"])
    _record(actor, scorer, "scorer:ranks", {})
    present = ScorerVersion.objects.filter(scorer=scorer).in_force().values_list("pk", flat=True).first()
    if present is not None:
        ordering.ask_for_new_order(project_id=actor.project_id, version_id=present)
    return scorer


@transaction.atomic
def stop_ranking(*, actor: Actor, scorer_id: int) -> Scorer:
    """This scorer orders the queue no more: what stands keeps its place, what is new stands behind it."""
    scorer = own_scorer(actor=actor, scorer_id=scorer_id)
    if scorer.ranks:
        scorer.ranks = False
        scorer.save(update_fields=["ranks"])
        _record(actor, scorer, "scorer:ranks_no_more", {})
    return scorer


@transaction.atomic
def fill_by(
    *, actor: Actor, strategies: Mapping[str, float], error_free_floor: float, certain: Mapping[str, float]
) -> Project:
    """Change what fills the queue: weights of strategies, the least share expected to be free of errors, and ActPRM's
    thresholds (``{"pred", "std"}``, empty: no filter). A worker writes the new order. Raises Refused."""
    access.require(actor, Verb.MANAGE)
    project = Project.objects.select_for_update().get(pk=actor.project_id)
    before = {name: getattr(project, name) for name in FILLING}
    project.strategies = {name: float(weight) for name, weight in strategies.items() if weight}
    project.error_free_floor, project.certain = error_free_floor, dict(certain)
    try:
        mixture_of(project)
    except (InvalidMixture, ValueError) as error:
        raise Refused(str(error), "strategies") from error
    if certain and not (0.5 <= certain["pred"] <= 1.0 and 0.0 <= certain["std"] <= 0.5):
        raise Refused("A solution is certain from 0.5 to 1, with a spread from 0 to 0.5.", "certain")
    after = {name: getattr(project, name) for name in FILLING}
    if after != before:
        project.save(update_fields=list(FILLING))
        AuditEvent.objects.record(
            "queue:filled_by",
            f"project {project.slug}",
            project_id=project.pk,
            member_id=actor.member_id,
            data={"before": before, "after": after},
        )
        ordering.ask_for_present_order(project_id=project.pk)
    return project


def try_on(*, actor: Actor, scorer_id: int, solution: str) -> Tried:
    """Score one solution now, named by its id or its external id, and keep nothing. Waits TRY_SECONDS at most.

    Raises NoSuchScorer, NoSuchSolution, Unanswered.
    """
    access.require(actor, Verb.SCORE)
    scorer = Scorer.objects.filter(project_id=actor.project_id, pk=scorer_id).first()
    if scorer is None:
        raise NoSuchScorer
    if scorer.kind in FOLDERS:
        raise Unanswered(
            "This model is loaded by workers alone. Let one score the solution, then look at its scores."
        )
    found = _solution(actor, solution)
    began = time.monotonic()
    running, steps, scored = _answer(scorer, found, began)
    rank = priority(scored.values, scored.spread, running.threshold)
    return Tried(
        scorer=scorer.name,
        version=running.version,
        external_id=found.external_id or f"#{found.pk}",
        problem_text=found.problem.text,
        steps=[
            TriedStep(index, step.text, scored.values[index], scored.spread[index], step.judged)
            for index, step in enumerate(steps)
        ],
        threshold=running.threshold,
        entropy=rank.score,
        stop=rank.predicted_stop,
        seconds=time.monotonic() - began,
        rationale=scored.rationale or "",
    )


def _answer(
    scorer: Scorer, solution: Solution, began: float
) -> tuple[RunningScorer, tuple[Step, ...], Scored]:
    """One solution's scores, asked in a hurry. Raises Unanswered."""
    hurried = Scorer(
        project_id=scorer.project_id,
        kind=scorer.kind,
        config=_hurried(scorer),
        champion=scorer.champion,
    )
    try:
        running = scoring.running(hurried)
        (given,) = inputs_for(running, [solution])
        (result,) = running.score([given], cancelled=lambda: time.monotonic() - began > TRY_SECONDS)
        if not isinstance(result, Scored):
            raise Unanswered(result.message)
        return running, given.steps, checked(result, given.steps)
    except ScoringCancelled:
        raise Unanswered(f"There was no answer within {TRY_SECONDS:g} seconds.") from None
    except (RequestFailed, CircuitOpen, InvalidSettings, EndpointRefused, InvalidScores) as error:
        raise Unanswered(str(error)) from error


def _hurried(scorer: Scorer) -> dict[str, Any]:
    """The scorer's settings with one attempt and the short time-out of a page that somebody waits for."""
    if scorer.kind not in REMOTE:
        return dict(scorer.config)
    most = TRY_SECONDS * 0.8
    slow = scorer.config.get("timeout")
    seconds = min(most, slow) if isinstance(slow, int | float) else most
    return {**scorer.config, "timeout": seconds, "connect_timeout": 2.0, "attempts": 1}


def _solution(actor: Actor, named: str) -> Solution:
    mine = Solution.objects.filter(project_id=actor.project_id).select_related("problem")
    named = named.strip()
    found = mine.filter(external_id=named).order_by("pk").first() if named else None
    number = named.removeprefix("#")
    if found is None and number.isascii() and number.isdecimal() and len(number) < 16:
        found = mine.filter(pk=int(number)).first()
    if found is None:
        raise NoSuchSolution(f"There is no solution '{named[:100]}' in this project.")
    return found


def own_scorer(*, actor: Actor, scorer_id: int) -> Scorer:
    """A scorer of this project, locked. Raises NotAllowed, NoSuchScorer."""
    access.require(actor, Verb.SCORE)
    scorer = Scorer.objects.select_for_update().filter(project_id=actor.project_id, pk=scorer_id).first()
    if scorer is None:
        raise NoSuchScorer
    return scorer


def _drop_jobs(scorer: Scorer) -> int:
    prefix = scoring.subject_of(scorer.pk)
    jobs.drop(kind=scoring.PLAN, subject_prefix=prefix, running=True)
    return jobs.drop(kind=scoring.SCORE, subject_prefix=prefix, running=True)


def _record(actor: Actor, scorer: Scorer, event: str, data: Mapping[str, Any]) -> None:
    AuditEvent.objects.record(
        event,
        f"scorer {scorer.name}",
        project_id=actor.project_id,
        member_id=actor.member_id,
        data=dict(data),
    )
