"""A project's scorers as a manager sees them: how each one fares, how far it is, how long it will take."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, FloatField, Q, Sum
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Now
from django.utils import timezone

from annotator.models import (
    Job,
    Project,
    QueueRow,
    Score,
    ScoreDetail,
    ScoreFailure,
    Scorer,
    ScorerVersion,
    Solution,
)
from annotator.scorers import CHAT_KINDS

#: Throughput is told by the newest scores, so many of them, while the last is no older than this.
RECENT, FRESH_SECONDS = 200, 60.0
FAILURES_SHOWN = 3


@dataclass(frozen=True)
class Failures:
    """Solutions that failed for one reason, and when the newest of them did."""

    message: str
    n: int
    newest: datetime


@dataclass(frozen=True)
class Standing:
    """One scorer. ``scored`` and ``failed`` of ``total`` solutions by its ``version`` in force; ``waiting`` jobs;
    ``per_minute`` solutions and ``seconds_left`` where it is at work."""

    id: int
    name: str
    kind: str
    config: Mapping[str, Any]
    ranks: bool
    refines_id: int | None
    refines: str
    paused: bool
    serves: bool
    version: str
    scored: int
    failed: int
    total: int
    waiting: int
    per_minute: float | None
    seconds_left: float | None
    circuit: Mapping[str, Any]
    failures: Sequence[Failures]
    #: Answers of a chat model, and how many of them held no verdict; 0 for other kinds.
    answers: int = 0
    unparsed: int = 0

    @property
    def missing(self) -> int:
        return max(0, self.total - self.scored - self.failed)

    @property
    def trouble(self) -> str:
        """What is wrong with its server, in a sentence; empty while all is well."""
        said = str(self.circuit.get("error", ""))
        match self.circuit.get("state"):
            case "open" | "half_open":
                return f"Its server is left alone for a while after several failures. The last one: {said}"
            case "refused":
                return f"Its settings don't work here: {said}"
            case "failing":
                return f"Its server fails now and then; what failed is tried again. The last failure: {said}"
        return ""

    @property
    def trouble_since(self) -> datetime | None:
        since = self.circuit.get("since")
        return datetime.fromtimestamp(float(since), UTC) if since else None

    @property
    def state(self) -> str:
        """A word or two."""
        if self.paused:
            return "paused"
        if self.circuit.get("state") in {"open", "half_open", "refused"}:
            return "waits for its server" if self.circuit["state"] != "refused" else "can't be used"
        if self.waiting:
            return "scoring"
        if not self.version:
            return "not asked yet"
        return "up to date" if not self.missing else "stopped"

    @property
    def busy(self) -> bool:
        """Whether the page should look again soon."""
        return bool(self.waiting) or (not self.paused and not self.version)


@dataclass(frozen=True)
class Overview:
    """All scorers of a project and a sentence that answers how they are."""

    sentence: str
    scorers: Sequence[Standing]
    reordering: bool

    @property
    def busy(self) -> bool:
        return self.reordering or any(each.busy for each in self.scorers)


def overview(project: Project) -> Overview:
    """A few queries for each scorer, whatever the number of solutions."""
    put_aside = Count("pk", filter=Q(superseded_at__isnull=False))
    counts = Solution.objects.filter(project=project).aggregate(total=Count("pk"), put_aside=put_aside)
    total = counts["total"] - counts["put_aside"]
    # Scores of what was cut anew stay, and are none of those in force; where nothing was, no row is looked at for it.
    present = {"solution__superseded_at": None} if counts["put_aside"] else {}
    jobs = Job.objects.filter(project=project).exclude(state=Job.State.FAILED)
    standing_by = QueueRow.objects.filter(project=project).versions()
    serving = set(ScorerVersion.objects.filter(pk__in=standing_by).values_list("scorer", flat=True))
    mine = Scorer.objects.filter(project=project).select_related("refines").order_by("pk")
    # A second pass serves for the first.
    serving |= {each.refines_id for each in mine if each.pk in serving and each.refines_id is not None}
    scorers = [_standing(scorer, total, serving, present) for scorer in mine]
    reordering = jobs.filter(kind="queueing.reprioritize", due_at__lte=Now()).exists()
    return Overview(_sentence(scorers, reordering), scorers, reordering)


def prices_of(project: Project) -> list[tuple[int, str, Mapping[str, float]]]:
    """Each scorer's id, name and prices, oldest first."""
    rows = Scorer.objects.filter(project=project).order_by("pk")
    return list(rows.values_list("pk", "name", "prices"))


def _standing(scorer: Scorer, total: int, serving: Collection[int], present: Mapping[str, Any]) -> Standing:
    version = ScorerVersion.objects.filter(scorer=scorer).in_force().first()
    jobs = Job.objects.filter(
        project_id=scorer.project_id,
        kind__in=["scoring.score_batch", "scoring.plan"],
        subject__startswith=f"scorer {scorer.pk} ",
    ).exclude(state=Job.State.FAILED)
    scored = Score.objects.filter(version=version, **present).count() if version else 0
    failed = ScoreFailure.objects.filter(version=version, **present).count() if version else 0
    rate = _per_second(version) if version else None
    missing = max(0, total - scored - failed)
    return Standing(
        id=scorer.pk,
        name=scorer.name,
        kind=scorer.kind,
        config=scorer.config,
        ranks=scorer.ranks,
        refines_id=scorer.refines_id,
        refines=scorer.refines.name if scorer.refines else "",
        paused=scorer.paused,
        serves=scorer.pk in serving,
        version=version.version if version else "",
        scored=min(scored, total),
        failed=failed,
        total=total,
        waiting=jobs.exclude(subject=f"scorer {scorer.pk} look").count(),
        per_minute=60 * rate if rate else None,
        seconds_left=missing / rate if rate and missing else None,
        circuit=scorer.circuit,
        failures=_failures(version) if failed and version else [],
        **(unparsed_of(version) if version and scorer.kind in CHAT_KINDS else {}),
    )


def unparsed_of(version: ScorerVersion) -> dict[str, int]:
    """How many answers a chat model gave, and how many of them could not be read."""
    rows = ScoreDetail.objects.filter(score__version=version)
    named = {"answers": "votes", "unparsed": "unparsed"}
    sums = {name: Sum(Cast(KeyTextTransform(key, "usage"), FloatField())) for name, key in named.items()}
    return {name: int(found or 0) for name, found in rows.aggregate(**sums).items()}


def _per_second(version: ScorerVersion) -> float | None:
    """Solutions a second over the newest scores, or None where none came of late."""
    newest = Score.objects.filter(version=version).order_by("-pk")
    times = list(newest.values_list("scored_at", flat=True)[:RECENT])
    if len(times) < 2 or (timezone.now() - times[0]).total_seconds() > FRESH_SECONDS:
        return None
    span = (times[0] - times[-1]).total_seconds()
    return (len(times) - 1) / span if span > 0 else None


def _failures(version: ScorerVersion) -> list[Failures]:
    """The most frequent reasons among the failures tried last."""
    rows = ScoreFailure.objects.filter(version=version).order_by("-failed_at", "-pk")
    times: dict[str, list[datetime]] = {}
    for message, failed_at in rows.values_list("message", "failed_at")[:1000]:
        times.setdefault(message, []).append(failed_at)
    most = sorted(times.items(), key=lambda pair: -len(pair[1]))[:FAILURES_SHOWN]
    return [Failures(message, len(failed), failed[0]) for message, failed in most]


def _sentence(scorers: Sequence[Standing], reordering: bool) -> str:
    ranking = next((each for each in scorers if each.ranks), None)
    if ranking is None:
        return "No scorer orders the queue: what is scored keeps its place, and what is new comes last."
    told = f"{ranking.name} orders the queue and has scored {ranking.scored:,} of {ranking.total:,} solutions"
    if ranking.trouble and not ranking.paused:
        return f"{told}; its server does not answer as it should, and the present order serves meanwhile."
    if ranking.paused and ranking.missing:
        return f"{told}; it is paused."
    if not ranking.serves and ranking.scored:
        return f"{told}; until it has tried all of them the old order serves."
    return f"{told}{'; a new order is being written' if reordering else ''}."
