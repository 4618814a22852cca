"""How a scorer's training stands: the run under way, or how the last one ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.db.models.functions import Now

from annotator.models import Job, Project, QualityReport

RUN = "training.run"
WAITING, RUNNING, DONE, NOTHING, FAILED, CANCELLED = (
    "waiting",
    "running",
    "done",
    "nothing",
    "failed",
    "cancelled",
)


@dataclass(frozen=True)
class TrainingState:
    """``state`` is one of the words above (NOTHING: too little to learn from), ``said`` a sentence. While RUNNING,
    ``done`` of ``total`` parts of a ``stage``. ``labels``: counted labels when the run began; ``why`` it was asked for;
    times in ISO 8601; ``version`` that came of it, "" for none."""

    state: str
    said: str = ""
    stage: str = ""
    done: int = 0
    total: int = 0
    labels: int = 0
    why: str = ""
    started: str = ""
    ended: str = ""
    version: str = ""

    @property
    def under_way(self) -> bool:
        return self.state in {WAITING, RUNNING}

    @property
    def ended_at(self) -> datetime | None:
        return datetime.fromisoformat(self.ended) if self.ended else None

    @property
    def started_at(self) -> datetime | None:
        return datetime.fromisoformat(self.started) if self.started else None


def subject_of(scorer_id: int) -> str:
    """What the training job of a scorer is about."""
    return f"scorer {scorer_id}"


def busy(scorer_id: int) -> bool:
    """Whether a run waits or is on."""
    return (
        Job.objects.filter(kind=RUN, subject=subject_of(scorer_id)).exclude(state=Job.State.FAILED).exists()
    )


def state_of(project: Project, scorer_id: int) -> TrainingState | None:
    """The run under way or the last one; None where there never was any. A failed job says why it failed."""
    kept = QualityReport.objects.filter(project=project, kind=_kind(scorer_id)).first()
    state = TrainingState(**kept.data) if kept is not None else None
    job = Job.objects.filter(kind=RUN, subject=subject_of(scorer_id)).order_by("-pk").first()
    if job is None or state is None:
        return state
    if job.state == Job.State.FAILED:
        return TrainingState(**{**asdict(state), "state": FAILED, "said": job.error})
    if job.error:
        return TrainingState(**{**asdict(state), "said": f"It is tried again: {job.error}"})
    return state


def keep_state(project: Project, scorer_id: int, state: TrainingState) -> None:
    """Write how it stands, in place of what was there."""
    data: Mapping[str, Any] = asdict(state)
    QualityReport.objects.update_or_create(
        project=project,
        kind=_kind(scorer_id),
        defaults={"fingerprint": "", "data": data, "computed_at": Now()},
    )


def _kind(scorer_id: int) -> str:
    return f"training {scorer_id}"
