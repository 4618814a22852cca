"""One run of training, in a worker: labels of one moment in, a challenger out, then the challenge.

May run twice: the same labels and parameters give the same version, and no second row. No transaction is open while
anything is read or learnt; every sign of life holds the lease, and tells a run that nobody wants any more to stop.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import orjson
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotator import jobs
from annotator.actions import kept_weights, promotion, scoring
from annotator.actions.promotion import Overtaken
from annotator.core.evaluation import Judged, evaluate, processbench_f1
from annotator.core.intervals import Figure
from annotator.core.promotion import Answer
from annotator.jobs import Claimed
from annotator.models import AuditEvent, Scorer, ScorerVersion
from annotator.queries.training_labels import Lesson, Snapshot, holdout, labels_of, snapshot, stop_of
from annotator.queries.training_state import DONE, FAILED, NOTHING, RUNNING, TrainingState, keep_state
from annotator.scorers import FOLDERS
from annotator.scorers.base import Scorer as RunningScorer
from annotator.scorers.breaker import CircuitOpen
from annotator.scorers.builtin.fit import Example, NothingToLearn
from annotator.scorers.endpoint import EndpointRefused
from annotator.scorers.http import RequestFailed
from annotator.scorers.local.folders import model_folder
from annotator.scorers.remote import InvalidSettings
from annotator.scorers.trainers import FOLDS, TRAINERS, Trained

#: A stage may be silent for so long: one fit on very many labels.
LEASE_SECONDS = 300.0
#: Seconds between two written signs of progress.
TELL_SECONDS = 1.0
#: Fewer solutions, or fewer of one kind, teach noise.
LEAST, LEAST_OF_A_KIND = 30, 5
SEED = 0


@dataclass
class _Watch:
    """Holds the lease and tells the page how far the run is."""

    job: Claimed
    scorer: Scorer
    state: TrainingState
    told: float = 0.0

    def tell(self, stage: str, done: int, total: int) -> None:
        """A sign of life. Raises LeaseLost where the run was cancelled or taken over."""
        now = time.monotonic()
        if stage == self.state.stage and now - self.told < TELL_SECONDS:
            return
        jobs.extend(self.job, lease_seconds=LEASE_SECONDS)
        self.told = now
        self.state = replace(self.state, stage=stage, done=done, total=total)
        keep_state(self.scorer.project, self.scorer.pk, self.state)

    def end(self, state: str, said: str, version: str = "") -> None:
        """The last word, unless somebody cancelled meanwhile."""
        with transaction.atomic():
            jobs.extend(self.job)
            ended = timezone.now().isoformat()
            self.state = replace(self.state, state=state, said=said, ended=ended, version=version)
            keep_state(self.scorer.project, self.scorer.pk, self.state)


def run(*, job: Claimed) -> None:
    """Train the scorer that the job names, and let the challenger meet the champion. Raises LeaseLost."""
    scorer = Scorer.objects.select_related("project", "champion").get(pk=job.payload["scorer_id"])
    # Counted first: a run that fails is not begun again by itself before something is new.
    begun = TrainingState(
        RUNNING,
        why=str(job.payload.get("why", "")),
        started=timezone.now().isoformat(),
        labels=labels_of(scorer.project),
    )
    watch = _Watch(job, scorer, begun)
    watch.tell("labels", 0, 0)
    try:
        _run(scorer, watch)
    except NothingToLearn as error:
        watch.end(NOTHING, str(error))
    except Overtaken:
        watch.end(FAILED, "Another version came into force meanwhile. Train again to compare with that one.")
    except (InvalidSettings, EndpointRefused, RequestFailed, CircuitOpen) as error:
        watch.end(FAILED, f"The scorer can't be used as it is: {error}")


def _run(scorer: Scorer, watch: _Watch) -> None:
    champion = scoring.current_version(scorer)
    automatic = bool(scorer.project.retraining.get("automatic", True))
    labels = snapshot(scorer.project, automatic=automatic, progress=lambda: watch.tell("labels", 0, 0))
    watch.state = replace(watch.state, labels=labels.labels)
    _enough(labels)
    parameters = _parameters(scorer, labels)
    key = hashlib.sha256(orjson.dumps([labels.sha256, parameters], option=orjson.OPT_SORT_KEYS)).hexdigest()
    version = ScorerVersion.objects.filter(scorer=scorer, training__run=key).first()
    if version is None:
        version = _train(scorer, champion[1], labels, parameters, key, watch)
    if version.pk == champion[1].pk:
        watch.end(
            DONE, "The champion has learnt from these very labels: there is nothing new.", version.version
        )
    elif version.status == ScorerVersion.Status.RETIRED:
        watch.end(DONE, "These labels made a version that was replaced or taken back.", version.version)
    else:
        _challenge(scorer, champion, version, watch)


def _challenge(
    scorer: Scorer, champion: tuple[RunningScorer, ScorerVersion], version: ScorerVersion, watch: _Watch
) -> None:
    labelled = holdout(scorer.project, progress=lambda: watch.tell("holdout", 0, 0))
    said = promotion.challenge(
        job=watch.job,
        scorer=scorer,
        champion=champion,
        version=version,
        holdout=labelled,
        seen=_seen(scoring.made_of(scorer.kind, scorer.config)),
        progress=watch.tell,
    )
    what = {
        Answer.PROMOTED: "It is champion now.",
        Answer.REFUSED: "It was refused.",
        Answer.UNDECIDED: "There is not enough evidence.",
    }[said.answer]
    watch.end(DONE, f"{what} {said.why}", version.version)


def _seen(running: RunningScorer) -> frozenset[str]:
    """Problems that the makers of what training starts from learnt from, where they say so."""
    weights = getattr(running, "weights", None)
    provenance: Mapping[str, Any] = getattr(weights, "provenance", {})
    return frozenset(provenance.get("problem_hashes", ()))


def _enough(labels: Snapshot) -> None:
    """Raise NothingToLearn below a floor, in words that say what is missing."""
    wrong = sum(stop_of(one.targets) >= 0 for one in labels.people)
    right = len(labels.people) - wrong
    if len(labels.people) < LEAST or min(wrong, right) < LEAST_OF_A_KIND:
        raise NothingToLearn(
            f"There are {len(labels.people):,} labelled solutions to learn from, {wrong:,} of them with an error; "
            f"it takes {LEAST}, and {LEAST_OF_A_KIND} with and without an error."
        )


def _parameters(scorer: Scorer, labels: Snapshot) -> dict[str, Any]:
    """What decides the numbers beside the labels. The settings are named by their hash: they may be long."""
    config = orjson.dumps(scorer.config, option=orjson.OPT_SORT_KEYS)
    stages = ["automatic", "people"] if labels.automatic else ["people"]
    start = scoring.made_of(scorer.kind, scorer.config).version
    return {
        "kind": scorer.kind,
        "base": start,
        "config": hashlib.sha256(config).hexdigest()[:16],
        "stages": stages,
        "seed": SEED,
        "folds": FOLDS,
    }


def _train(
    scorer: Scorer,
    parent: ScorerVersion,
    labels: Snapshot,
    parameters: Mapping[str, Any],
    key: str,
    watch: _Watch,
) -> ScorerVersion:
    trained = TRAINERS[scorer.kind](
        _examples(labels.people),
        _examples(labels.automatic),
        _config(scorer, key),
        seed=SEED,
        progress=watch.tell,
    )
    training = {
        "run": key,
        "why": watch.state.why,
        "snapshot": {
            "sha256": labels.sha256,
            "solutions": len(labels.people) + len(labels.automatic),
            "sources": labels.sources,
            "labels": labels.labels,
            "left_out": dict(labels.left_out),
            "at": watch.state.started,
        },
        "parameters": {**parameters, "stages": list(trained.stages)},
        "metrics": _metrics(labels.people, trained),
        "threshold_from": "out-of-bag values of its training labels",
        "problems": sorted({one.problem_hash for one in (*labels.people, *labels.automatic)}),
    }
    return _store(scorer, parent, trained, training, watch)


def _config(scorer: Scorer, key: str) -> Mapping[str, Any]:
    """The scorer's settings; for a model from a folder also which one, and a new one beside it. Raises
    InvalidSettings."""
    if scorer.kind not in FOLDERS:
        return dict(scorer.config)
    base = model_folder(scorer.config.get("path"), settings.STEPMARK_MODEL_FOLDERS)
    return {**scorer.config, "base": str(base), "out": str(base.with_name(f"{base.name}-{key[:12]}"))}


def _examples(lessons: Sequence[Lesson]) -> list[Example]:
    """Grouped by the problem as people would tell it apart, so that copies of one stay on one side."""
    return [
        Example(one.problem, one.steps, one.targets, one.weight, group=one.problem_hash) for one in lessons
    ]


@transaction.atomic
def _store(
    scorer: Scorer, parent: ScorerVersion, trained: Trained, training: dict[str, Any], watch: _Watch
) -> ScorerVersion:
    """The challenger and its numbers, once. Other challengers that still waited for evidence are over."""
    Scorer.objects.select_for_update().get(pk=scorer.pk)
    jobs.extend(watch.job, lease_seconds=LEASE_SECONDS)  # behind the scorer, as in `training.cancel`
    config = {**scorer.config, "weights": trained.data.decode()}
    if trained.format == kept_weights.FOLDER:
        config = {**scorer.config, "path": trained.data.decode()}
    running = scoring.made_of(scorer.kind, config)
    known = ScorerVersion.objects.filter(scorer=scorer, version=running.version).first()
    if known is not None:
        return known
    waiting = ScorerVersion.objects.filter(scorer=scorer, status=ScorerVersion.Status.CHALLENGER)
    waiting.update(status=ScorerVersion.Status.RETIRED)
    version = ScorerVersion.objects.create(
        scorer=scorer,
        version=running.version,
        measures=running.measures,
        threshold=running.threshold,
        status=ScorerVersion.Status.CHALLENGER,
        parent=parent,
        training=training,
    )
    kept_weights.keep(version, trained.data, trained.format)
    AuditEvent.objects.record(
        "scorer:trained",
        f"scorer {scorer.name}",
        project_id=scorer.project_id,
        member_id=None,
        data={
            "version": version.version,
            "parent": parent.version,
            "sources": training["snapshot"]["sources"],
        },
    )
    return version


def _metrics(people: Sequence[Lesson], trained: Trained) -> dict[str, Any]:
    """How good ensembles were on problems that they had not seen, by the people's labels."""
    groups = np.unique([one.problem_id for one in people], return_inverse=True)[1].tolist()
    judged = [
        Judged(
            values,
            [None if value is None else value >= 0.5 for value in one.targets],
            stop_of(one.targets),
            group,
        )
        for one, values, group in zip(people, trained.values, groups, strict=True)
    ]
    found = evaluate(judged, 0.5)
    return {
        "solutions": found.solutions,
        "problems": found.problems,
        "steps": found.steps,
        "f1": asdict(_f1(people, trained, np.array(groups, dtype=np.int64))),
        "auc": asdict(found.step_auc),
        "brier": asdict(found.brier),
        "ece": asdict(found.ece),
    }


def _f1(people: Sequence[Lesson], trained: Trained, groups: Any) -> Figure:
    """Each fold's threshold is its own ensembles', from what they had not seen."""
    return processbench_f1(list(trained.stops), [stop_of(one.targets) for one in people], groups).figure
