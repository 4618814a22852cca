"""Keeping each solution's consensus up to date with its annotations, and asking for more where people differ.

After a submit one solution is decided, with what is known of its people; now and then everybody's habits are fitted
anew and every solution is decided with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.db import transaction
from django.db.models import F, QuerySet
from django.db.models.functions import Now

from annotator.actions import cases, completion
from annotator.core import consensus as arithmetic
from annotator.core.agreement import NOT_JUDGED, stops
from annotator.core.consensus import Agreed, rebuild, stop_posteriors
from annotator.core.labels import CENSORED, NO_ERROR, FinishReason, Mode, stop
from annotator.models import (
    AdjudicationCase,
    Annotation,
    Consensus,
    Project,
    QualityReport,
    QueueRow,
    Solution,
)
from annotator.queries.quality import opinions
from annotator.queries.quality.gold import judged_of
from annotator.queries.quality.kept import STOP_RATES, kept_rates
from annotator.queries.quality.opinions import Opinions

CHUNK = 1_000


@dataclass(frozen=True)
class Recomputed:
    """``solutions`` have a consensus; of ``changed`` ones it was written anew; ``cases`` went to reviewers."""

    solutions: int
    changed: int
    cases: int


@dataclass(frozen=True)
class _Decision:
    agreed: Agreed
    n: int
    posterior: float | None


@transaction.atomic
def update(*, solution_id: int) -> None:
    """Recompute one solution's consensus from its current, counted, uncensored annotations. May run twice.

    A tie asks for one more label, up to the project's cap; beyond it, for a problem that somebody called bad, and
    for a posterior below the project's bound, a reviewer is asked.
    """
    solution = (
        Solution.objects.select_for_update(of=("self",), no_key=True)
        .select_related("project")
        .get(pk=solution_id)
    )
    current = Annotation.objects.filter(solution=solution, current=True, counted=True)
    rows = list(_speaking(current).values_list("labels", "member_id"))
    judged = [step["judged"] for step in solution.steps]
    labels = [each for each, _ in rows]
    agreed = arithmetic.plurality(labels, judged, Mode(solution.project.mode))
    watch = completion.watch(solution.project_id, [solution.pk])
    if agreed is None:
        Consensus.objects.filter(solution=solution).delete()
        decision = None
    else:
        decision = _weighed(solution, agreed, judged, labels, [member for _, member in rows])
        _write(solution, decision)
    if current.filter(finish_reason=FinishReason.BAD_PROBLEM.value).exists():
        cases.open_case(solution=solution, reason=AdjudicationCase.Reason.BAD_PROBLEM)
    elif decision is not None and decision.agreed.tied:
        if not _ask_for_one_more(solution):
            cases.open_case(solution=solution, reason=AdjudicationCase.Reason.TIE)
    elif decision is not None:
        _doubt(solution, decision)
    watch.announce()


def fit(*, project_id: int) -> Opinions:
    """Everybody's habits and each solution's likeliest labels, by the project's mode; the rates are kept."""
    project = Project.objects.get(pk=project_id)
    if project.mode == Mode.ALL_STEPS:
        return opinions.fit_steps(project)[0]
    found, rates = opinions.fit_stops(project)
    QualityReport.objects.update_or_create(
        project=project,
        kind=STOP_RATES,
        defaults={"fingerprint": "", "data": rates.to_json(), "computed_at": Now()},
    )
    return found


def recompute_all(*, project_id: int, progress: Callable[[], None] = lambda: None) -> Recomputed:
    """Fit everybody's habits and decide every solution with them. In committed chunks; may run twice.

    Only what differs is written. Where an annotation came or went meanwhile, that one's own job decides.
    ``progress`` is called after each chunk, to hold a job's lease. No adjudication is touched.
    """
    found = fit(project_id=project_id)
    project = Project.objects.get(pk=project_id)
    due = _differing(project, found)
    changed = opened = 0
    for at in range(0, len(due), CHUNK):
        done, new_cases = _write_chunk(project, found, due[at : at + CHUNK])
        changed, opened = changed + done, opened + new_cases
        progress()
    return Recomputed(len(found.solution), changed, opened)


def _speaking(annotations: QuerySet[Annotation]) -> QuerySet[Annotation]:
    """Who gave up or called the problem bad has no say."""
    return annotations.exclude(finish_reason__in=[reason.value for reason in CENSORED])


def _weighed(
    solution: Solution,
    agreed: Agreed,
    judged: Sequence[bool],
    labels: Sequence[Sequence[int | None]],
    members: Sequence[int],
) -> _Decision:
    """The plurality, or what the kept habits of these people make of it where they may be trusted."""
    rates = kept_rates(solution.project) if solution.project.mode == Mode.FIRST_ERROR else None
    if rates is None:
        return _Decision(agreed, len(labels), None)
    habits, gold_seen = rates.of(members)
    places = [opinions.place_of(each) for each in labels]
    these = stops([0] * len(labels), range(len(labels)), places, [sum(judged)])
    claims = stop_posteriors(these, habits, None, gold_seen)
    verdict = opinions.decide(these, claims, rates.recalibration, solution.project.low_posterior)
    posterior = None if np.isnan(verdict.posterior[0]) else float(verdict.posterior[0])
    if not verdict.modelled[0] or verdict.tied[0]:
        return _Decision(agreed, len(labels), posterior)
    return _Decision(_at_place(int(verdict.place[0]), labels, judged), len(labels), posterior)


def _at_place(place: int, labels: Sequence[Sequence[int | None]], judged: Sequence[bool]) -> Agreed:
    """Labels with the stop that the model chose, by its place among the judged steps."""
    at = place if place == NO_ERROR else [step for step, takes in enumerate(judged) if takes][place]
    followers = [each for each in labels if (each.index(-1) if -1 in each else NO_ERROR) == at]
    return Agreed(rebuild(at, followers, judged), at, tied=False, method=opinions.LATENT_STOP)


def _write(solution: Solution, decision: _Decision) -> None:
    Consensus.objects.update_or_create(
        solution=solution,
        defaults={
            "n_steps": solution.n_steps,
            "method": decision.agreed.method,
            "state": Consensus.State.TIED if decision.agreed.tied else Consensus.State.AGREED,
            "labels": list(decision.agreed.labels),
            "stop": decision.agreed.stop,
            "n_annotations": decision.n,
            "posterior": decision.posterior,
            "computed_at": Now(),
        },
    )


def _doubt(solution: Solution, decision: _Decision) -> bool:
    """Ask a reviewer where the posterior is below the project's bound; True when a case was opened."""
    if decision.posterior is None or decision.posterior >= solution.project.low_posterior:
        return False
    return cases.open_case(solution=solution, reason=AdjudicationCase.Reason.LOW_POSTERIOR) is not None


def _ask_for_one_more(solution: Solution) -> bool:
    """Whether another label is on its way: wanted already, or now. False at the cap."""
    row = QueueRow.objects.select_for_update().filter(pk=solution.pk).first()
    if row is None:
        return False
    if row.taken < row.wanted:
        return True
    if row.wanted >= solution.project.labels_max:
        return False
    QueueRow.objects.filter(pk=row.pk).update(wanted=F("wanted") + 1)
    return True


def _differing(project: Project, found: Opinions) -> list[int]:
    """Where (in the opinions' arrays) the kept consensus says something else, or a posterior that differs by 0.005."""
    rows = Consensus.objects.filter(solution__project=project)
    kept = {
        pk: tuple(rest)
        for pk, *rest in rows.values_list(
            "solution_id", "state", "stop", "n_annotations", "method", "posterior"
        )
    }
    # A model of steps knows no stop: there the labels themselves follow from what is compared.
    since = 2 if project.mode == Mode.ALL_STEPS else 0
    due = []
    for at, (pk, new) in enumerate(zip(found.solution.tolist(), _summaries(project, found), strict=True)):
        old = kept.get(pk)
        if old is None or old[since:-1] != new[since:-1] or not _close(old[-1], new[-1]):
            due.append(at)
    return due


def _summaries(project: Project, found: Opinions) -> Iterator[tuple[object, ...]]:
    """State, stop, n, method and posterior of each solution, as its row would hold them."""
    model = opinions.DAWID_SKENE if project.mode == Mode.ALL_STEPS else opinions.LATENT_STOP
    rows = zip(
        found.tied.tolist(),
        found.stop.tolist(),
        found.n.tolist(),
        found.modelled.tolist(),
        found.posterior.tolist(),
        strict=True,
    )
    for tied, at, n, modelled, posterior in rows:
        method = model if modelled and not tied else opinions.PLURALITY
        state = Consensus.State.TIED.value if tied else Consensus.State.AGREED.value
        yield state, None if tied else at, n, method, None if posterior != posterior else posterior


def _close(old: object, new: object) -> bool:
    if isinstance(old, float) and isinstance(new, float):
        return abs(old - new) < 0.005
    return old is new


@transaction.atomic
def _write_chunk(project: Project, found: Opinions, due: Sequence[int]) -> tuple[int, int]:
    """Write these; returns how many, and how many went to reviewers. Locks solutions as `update` does."""
    ids = [int(found.solution[at]) for at in due]
    locked = Solution.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=ids).order_by("pk")
    # The texts of a thousand solutions would be read for nothing.
    light = locked.annotate(takes_label=judged_of("steps")).defer("steps", "meta", "generator")
    solutions: dict[int, Any] = {solution.pk: solution for solution in light}
    rows = Annotation.objects.filter(solution_id__in=ids, current=True, counted=True).order_by("pk")
    said: dict[int, list[list[int | None]]] = {}
    for pk, labels in _speaking(rows).values_list("solution_id", "labels"):
        said.setdefault(pk, []).append(labels)
    written: list[tuple[Solution, _Decision]] = []
    for at, pk in zip(due, ids, strict=True):
        if len(said.get(pk, [])) == found.n[at]:
            solution = solutions[pk]
            solution.project = project
            written.append((solution, _decided(project, found, at, solution.takes_label, said[pk])))
    watch = completion.watch(project.pk, ids)
    _write_many(written)
    watch.announce()
    opened = sum(_doubt(solution, decision) for solution, decision in written if not decision.agreed.tied)
    return len(written), opened


def _decided(
    project: Project, found: Opinions, at: int, judged: Sequence[bool], labels: Sequence[Sequence[int | None]]
) -> _Decision:
    posterior = None if np.isnan(found.posterior[at]) else float(found.posterior[at])
    agreed = arithmetic.plurality(labels, judged, Mode(project.mode))
    assert agreed is not None  # there is at least one annotation
    if found.modelled[at] and not found.tied[at]:
        if project.mode == Mode.ALL_STEPS:
            agreed = _steps(found, at, judged)
        else:
            agreed = _at_place(int(found.place[at]), labels, judged)
    return _Decision(agreed, len(labels), posterior)


def _steps(found: Opinions, at: int, judged: Sequence[bool]) -> Agreed:
    first = int(found.start[at])
    codes = found.codes[first : first + len(judged)].tolist()
    labels = tuple(None if code == NOT_JUDGED else code for code in codes)
    tied = any(takes and label is None for takes, label in zip(judged, labels, strict=True))
    return Agreed(labels, stop(labels, judged), tied, method=opinions.DAWID_SKENE)


def _write_many(written: Sequence[tuple[Solution, _Decision]]) -> None:
    Consensus.objects.bulk_create(
        [
            Consensus(
                solution_id=solution.pk,
                n_steps=solution.n_steps,
                method=decision.agreed.method,
                state=Consensus.State.TIED if decision.agreed.tied else Consensus.State.AGREED,
                labels=list(decision.agreed.labels),
                stop=decision.agreed.stop,
                n_annotations=decision.n,
                posterior=decision.posterior,
            )
            for solution, decision in written
        ],
        update_conflicts=True,
        unique_fields=["solution"],
        update_fields=["method", "state", "labels", "stop", "n_annotations", "posterior", "computed_at"],
    )
