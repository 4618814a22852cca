"""What a scorer may learn from, and what it is judged by: labels of one moment, as arithmetic reads them.

Learnt from: train solutions that people agree on or a reviewer decided. Never gold (nor exam or practice, which are
gold), never the holdout, never repeats or other labels that don't count, and nothing that waits for a reviewer.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import orjson
from django.db.models import Exists, OuterRef, Q, QuerySet

from annotator.core.labels import CENSORED, NO_ERROR, Mode
from annotator.core.solutions import Step
from annotator.core.targets import Targets, hard_targets, soft_targets, stop_targets
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Annotation,
    Consensus,
    Gold,
    Project,
    Score,
    ScorerVersion,
    Solution,
    Split,
)
from annotator.queries.label_sources import AUTOMATIC
from annotator.queries.quality.opinions import DAWID_SKENE, LATENT_STOP, PLURALITY
from annotator.scorers.builtin.training_data import problem_hash

CHUNK = 1_000
ADJUDICATED, CONSENSUS, HUMAN = "adjudicated", "consensus", "human"
#: What a label that no person gave weighs beside one that a person gave.
AUTOMATIC_WEIGHT = 0.3
#: Holdout solutions count from so many labels, unless a reviewer decided.
HOLDOUT_LABELS = 3


@dataclass(frozen=True, slots=True)
class Lesson:
    """One solution with its targets over all steps (None: not judged) and where they come from."""

    solution_id: int
    problem_id: int
    problem: str
    steps: tuple[Step, ...]
    targets: Targets
    weight: float
    source: str

    @property
    def problem_hash(self) -> str:
        """What tells the problem apart, whatever its case and punctuation."""
        return problem_hash(self.problem)


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All lessons of one moment. ``labels``: counted labels of people behind them; ``left_out``: reason → solutions;
    ``sha256`` changes with any target, weight or solution."""

    people: Sequence[Lesson]
    automatic: Sequence[Lesson]
    labels: int
    left_out: Mapping[str, int]

    @property
    def sha256(self) -> str:
        told = [
            [one.solution_id, one.targets, one.weight, one.source] for one in (*self.people, *self.automatic)
        ]
        return hashlib.sha256(orjson.dumps(told)).hexdigest()

    @property
    def sources(self) -> dict[str, int]:
        """How many solutions each source gave."""
        return dict(Counter(one.source for one in (*self.people, *self.automatic)))


def snapshot(
    project: Project, *, automatic: bool = True, progress: Callable[[], None] = lambda: None
) -> Snapshot:
    """Everything that may be learnt from now, in chunks; ``progress`` is called between them and may raise to stop."""
    people: list[Lesson] = []
    for chunk in _chunks(_decided(project)):
        people += _lessons(project, chunk)
        progress()
    rest: list[Lesson] = []
    versions = _automatic_versions(project) if automatic else []
    if versions:
        known = {one.solution_id for one in people}
        for chunk in _chunks(_undecided(project, versions)):
            rest += _automatic([one for one in chunk if one.pk not in known], versions)
            progress()
    return Snapshot(people, rest, labels_of(project), _left_out(project))


def labels_of(project: Project) -> int:
    """Counted labels of people on train solutions: what `every so many new labels` counts."""
    return _speaking().filter(solution__in=_train(project)).count()


def holdout(project: Project, *, progress: Callable[[], None] = lambda: None) -> list[Lesson]:
    """The labelled holdout: decided by a reviewer, or agreed on by at least HOLDOUT_LABELS people."""
    found: list[Lesson] = []
    for chunk in _chunks(_held_out(project)):
        found += _lessons(project, chunk, soft=False)
        progress()
    return found


def holdout_size(project: Project) -> int:
    """How many solutions the labelled holdout has, those whose problem was called bad included."""
    return _held_out(project).count()


def _held_out(project: Project) -> QuerySet[Solution]:
    solutions = Solution.objects.filter(
        project=project, problem__split=Split.HOLDOUT, gold=None, superseded_at=None
    )
    agreed = Q(consensus__state=Consensus.State.AGREED, consensus__n_annotations__gte=HOLDOUT_LABELS)
    told = solutions.filter(agreed | Exists(Adjudication.objects.filter(solution=OuterRef("pk"))))
    return told.filter(~Exists(_waiting()))


def _train(project: Project) -> QuerySet[Solution]:
    return Solution.objects.filter(project=project, problem__split=Split.TRAIN, gold=None, superseded_at=None)


def _speaking() -> QuerySet[Annotation]:
    rows = Annotation.objects.filter(current=True, counted=True)
    return rows.exclude(finish_reason__in=[reason.value for reason in CENSORED])


def _waiting() -> QuerySet[AdjudicationCase]:
    """Open cases of solutions that are in doubt; those drawn at random are not."""
    open_ = AdjudicationCase.objects.filter(solution=OuterRef("pk"), closed_at=None)
    return open_.exclude(reason=AdjudicationCase.Reason.RANDOM)


def _decided(project: Project) -> QuerySet[Solution]:
    told = Q(consensus__state=Consensus.State.AGREED) | Exists(
        Adjudication.objects.filter(solution=OuterRef("pk"))
    )
    return _train(project).filter(told).filter(~Exists(_waiting()))


def _left_out(project: Project) -> dict[str, int]:
    """Solutions with labels that are not learnt from, by reason."""
    labelled = Solution.objects.filter(
        Exists(Annotation.objects.filter(solution=OuterRef("pk"), current=True)), project=project
    )
    train = labelled.filter(problem__split=Split.TRAIN, gold=None)
    counts = {
        "gold": labelled.filter(Exists(Gold.objects.filter(solution=OuterRef("pk")))).count(),
        "holdout": labelled.filter(problem__split=Split.HOLDOUT, gold=None).count(),
        "waits_for_a_reviewer": train.filter(Exists(_waiting())).count(),
        "tied": train.filter(consensus__state=Consensus.State.TIED).filter(~Exists(_waiting())).count(),
        "no_label_counts": train.filter(~Exists(_speaking().filter(solution=OuterRef("pk"))))
        .filter(~Exists(Adjudication.objects.filter(solution=OuterRef("pk"))))
        .count(),
    }
    return {reason: n for reason, n in counts.items() if n}


def _chunks(solutions: QuerySet[Solution]) -> Iterator[list[Solution]]:
    """By key, CHUNK at a time: no cursor stays open while something else works."""
    last = 0
    while True:
        chunk = list(
            solutions.filter(pk__gt=last).select_related("problem", "consensus").order_by("pk")[:CHUNK]
        )
        if not chunk:
            return
        yield chunk
        last = chunk[-1].pk


def _lessons(project: Project, chunk: Sequence[Solution], *, soft: bool = True) -> list[Lesson]:
    ids = [one.pk for one in chunk]
    decisions = Adjudication.objects.filter(solution_id__in=ids).order_by("decided_at", "pk")
    decided = {
        pk: (labels, stop) for pk, labels, stop in decisions.values_list("solution_id", "labels", "stop")
    }
    others: dict[int, list[int]] = {}
    if soft and project.mode == Mode.FIRST_ERROR:
        said = _speaking().filter(solution_id__in=ids, stop__isnull=False).order_by("pk")
        for pk, theirs in said.values_list("solution_id", "stop"):
            if theirs is not None:
                others.setdefault(pk, []).append(theirs)
    found = []
    for one in chunk:
        steps = tuple(map(Step.from_json, one.steps))
        if one.pk in decided:
            labels, stop = decided[one.pk]
            targets, weight, source = _plain(project, steps, labels, stop), 1.0, ADJUDICATED
        else:
            targets, weight, source = _agreed(project, steps, one.consensus, others.get(one.pk, []), soft)
        if any(target is not None for target in targets):
            found.append(Lesson(one.pk, one.problem_id, one.problem.text, steps, targets, weight, source))
    return found


def _plain(
    project: Project, steps: Sequence[Step], labels: Sequence[int | None], stop: int | None
) -> Targets:
    """The targets of labels that are taken as they are; none where the problem was called bad."""
    if project.mode == Mode.ALL_STEPS:
        return hard_targets(labels)
    if stop is None:
        return ()
    return stop_targets(stop, [step.judged for step in steps])


def _agreed(
    project: Project, steps: Sequence[Step], consensus: Consensus, others: Sequence[int], soft: bool
) -> tuple[Targets, float, str]:
    """Targets, weight and source of a consensus: softened by its posterior where that was checked against reviewers.

    A model decides only then (`opinions.decide`): so the method says whether the posterior is worth anything. In
    `all_steps` it is that of the least sure step, and weighs the whole solution.
    """
    source = HUMAN if consensus.n_annotations == 1 else CONSENSUS
    posterior = consensus.posterior if soft and consensus.method != PLURALITY else None
    if posterior is not None and consensus.method == LATENT_STOP and consensus.stop is not None:
        judged = [step.judged for step in steps]
        return soft_targets(consensus.stop, judged, posterior, others), 1.0, source
    weight = round(posterior, 3) if posterior is not None and consensus.method == DAWID_SKENE else 1.0
    return _plain(project, steps, consensus.labels, consensus.stop), weight, source


def _automatic_versions(project: Project) -> list[ScorerVersion]:
    rows = ScorerVersion.objects.filter(scorer__project=project, scorer__kind__in=AUTOMATIC)
    return list(rows.select_related("scorer").in_force())


def _undecided(project: Project, versions: Sequence[ScorerVersion]) -> QuerySet[Solution]:
    scored = Score.objects.filter(solution=OuterRef("pk"), version__in=versions)
    return _train(project).filter(Exists(scored)).filter(~Exists(_waiting()))


def _automatic(chunk: Sequence[Solution], versions: Sequence[ScorerVersion]) -> list[Lesson]:
    """Where judges and Monte-Carlo name one and the same stop, that stop; where they differ, nothing."""
    names = {version.pk: AUTOMATIC[version.scorer.kind] for version in versions}
    said: dict[int, dict[int, list[str]]] = {}
    rows = Score.objects.filter(solution__in=[one.pk for one in chunk], version__in=versions)
    for pk, version, stop in rows.order_by("version_id").values_list(
        "solution_id", "version_id", "predicted_stop"
    ):
        said.setdefault(pk, {}).setdefault(stop, []).append(names[version])
    found = []
    for one in chunk:
        stops = said.get(one.pk, {})
        if len(stops) == 1:
            stop, sources = next(iter(stops.items()))
            steps = tuple(map(Step.from_json, one.steps))
            targets = stop_targets(stop, [step.judged for step in steps])
            source = "+".join(sorted(set(sources)))
            found.append(
                Lesson(one.pk, one.problem_id, one.problem.text, steps, targets, AUTOMATIC_WEIGHT, source)
            )
    return found


def stop_of(targets: Targets) -> int:
    """The first error that the targets tell of, -1 for none.

    >>> stop_of((1.0, None, 0.1, None)), stop_of((0.9, 0.8))
    (2, -1)
    """
    return next((at for at, value in enumerate(targets) if value is not None and value < 0.5), NO_ERROR)
