"""A project's training as a manager sees it: champions, their lineage, what is under way, what more labels would do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.core import promotion
from annotator.core.forecast import Forecast, Point, forecast
from annotator.core.intervals import Figure
from annotator.models import Project, Scorer, ScorerVersion
from annotator.queries.costs import Costs, costs
from annotator.queries.quality.blocks import Block, Cell
from annotator.queries.training_labels import holdout_size, labels_of
from annotator.queries.training_state import TrainingState, state_of
from annotator.scorers.trainers import TRAINERS

#: Generations on the page, the newest first.
SHOWN = 30
#: What is worked towards where the project names no target: so much more than the champion has.
AHEAD = 0.05
#: Fewer labelled holdout solutions make no point of a curve.
FEWEST_OF_A_POINT = 50
Status = ScorerVersion.Status

#: What is read of a version; the hashes of its problems may be many and stay where they are.
_READ = (
    "pk",
    "version",
    "status",
    "created_at",
    "parent_id",
    "parent__version",
    "training__snapshot",
    "training__metrics",
    "training__parameters",
    "training__decision",
)


@dataclass(frozen=True)
class Generation:
    """One version that was trained here. ``people`` and ``automatic``: solutions it learnt from; ``out_of_fold`` its
    F1 on its own labels, each by an ensemble that hadn't seen the problem; ``holdout`` its F1 on the holdout when it
    was compared with ``champion``'s; ``gain`` the difference with its 95 % interval."""

    id: int
    version: str
    status: str
    created_at: datetime
    parent: str
    people: int
    automatic: int
    out_of_fold: Figure
    holdout: Figure
    champion: Figure
    gain: Figure
    answer: str
    why: str
    by: str
    overlap: int
    waits: bool

    @property
    def in_words(self) -> str:
        """What became of it."""
        match self.status:
            case Status.LIVE:
                return "champion" if self.by != "a manager" else "champion, by a manager's word"
            case Status.CHALLENGER:
                return "waits for more evidence"
            case Status.REFUSED:
                return "refused"
        return (
            "was champion"
            if self.answer == promotion.Answer.PROMOTED or self.by == "a manager"
            else "replaced"
        )

    @property
    def gain_points(self) -> tuple[str, str, str] | None:
        """The difference and its bounds in points of F1, signed."""
        if self.gain.value is None or self.gain.low is None or self.gain.high is None:
            return None
        value, low, high = (_points(each) for each in (self.gain.value, self.gain.low, self.gain.high))
        return value, low, high


@dataclass(frozen=True)
class Trainable:
    """One scorer that can be trained here. ``champion`` is the version in force ("" before the first scoring),
    ``back`` the one a manager can go back to; ``new`` labels since the last run."""

    id: int
    name: str
    paused: bool
    champion: str
    trained: bool
    back: str
    state: TrainingState | None
    new: int
    generations: Sequence[Generation]

    @property
    def under_way(self) -> bool:
        return self.state is not None and self.state.under_way


@dataclass(frozen=True)
class TrainingPage:
    """The page. ``holdout`` labelled solutions of the ``needed`` that the rule asks for; ``curve`` and ``forecasts``
    are of the first scorer that has generations."""

    sentence: str
    scorers: Sequence[Trainable]
    labels: int
    holdout: int
    needed: int
    costs: Costs
    target: float | None
    forecast: Forecast | None
    curve: Block | None

    @property
    def busy(self) -> bool:
        return any(each.under_way for each in self.scorers)

    @property
    def money_to_target(self) -> tuple[float, float | None] | None:
        """What the labels that are still missing cost people, at least and at most."""
        return _times(self, self.costs.people.money_each)

    @property
    def seconds_to_target(self) -> tuple[float, float | None] | None:
        """The same in seconds of people's time."""
        return _times(self, self.costs.people.seconds_each)


def training_page(project: Project) -> TrainingPage:
    """A few queries for each scorer that can be trained, whatever the number of labels."""
    labels, held = labels_of(project), holdout_size(project)
    scorers = trainables(project, labels)
    points = _points_of(scorers)
    target = _target(project, points)
    return TrainingPage(
        sentence=_sentence(scorers, held),
        scorers=scorers,
        labels=labels,
        holdout=held,
        needed=promotion.FEWEST,
        costs=costs(project),
        target=target,
        forecast=forecast(points, target) if target is not None else None,
        curve=_curve(points),
    )


def trainables(project: Project, labels: int) -> list[Trainable]:
    """The scorers of kinds that are trained here, oldest first."""
    rows = Scorer.objects.filter(project=project, kind__in=TRAINERS).select_related("champion__parent")
    return [_trainable(project, scorer, labels) for scorer in rows.order_by("pk")]


def _trainable(project: Project, scorer: Scorer, labels: int) -> Trainable:
    present = ScorerVersion.objects.filter(scorer=scorer).in_force().first()
    trained = ScorerVersion.objects.filter(scorer=scorer, training__has_key="run").order_by("-pk")
    state = state_of(project, scorer.pk)
    champion = scorer.champion
    return Trainable(
        id=scorer.pk,
        name=scorer.name,
        paused=scorer.paused,
        champion=present.version if present else "",
        trained=champion is not None,
        back=champion.parent.version if champion is not None and champion.parent is not None else "",
        state=state,
        new=max(0, labels - (state.labels if state else 0)),
        generations=[_generation(row, present) for row in trained.values(*_READ)[:SHOWN]],
    )


def _generation(row: Mapping[str, Any], present: ScorerVersion | None) -> Generation:
    snapshot = row["training__snapshot"] or {}
    metrics, decision = row["training__metrics"] or {}, row["training__decision"] or {}
    sources: Mapping[str, int] = snapshot.get("sources", {})
    people = sum(n for name, n in sources.items() if name in {"adjudicated", "consensus", "human"})
    duel = decision.get("duel", {})
    difference = duel.get("f1")
    nothing = Figure(None, 0, "no_data")
    return Generation(
        id=row["pk"],
        version=row["version"],
        status=row["status"],
        created_at=row["created_at"],
        parent=row["parent__version"] or "",
        people=people,
        automatic=sum(sources.values()) - people,
        out_of_fold=Figure(**metrics["f1"]) if "f1" in metrics else nothing,
        holdout=Figure(**duel["challenger_f1"]) if duel else nothing,
        champion=Figure(**duel["champion_f1"]) if duel else nothing,
        gain=Figure(difference["value"], duel["n"], None, difference["from_"], difference["to"])
        if difference
        else nothing,
        answer=decision.get("answer", ""),
        why=decision.get("why", ""),
        by=decision.get("by", ""),
        overlap=decision.get("overlap", 0),
        waits=row["status"] == Status.CHALLENGER and present is not None and row["parent_id"] == present.pk,
    )


def _sentence(scorers: Sequence[Trainable], held: int) -> str:
    """The answer at the top: what is in force, and whether a challenger could take its place."""
    if not scorers:
        return "No scorer of this project is of a kind that can be trained here."
    first = scorers[0]
    if first.under_way:
        return f"{first.name} is being trained."
    rule = promotion.FEWEST
    missing = (
        f"The holdout has {held:,} of the {rule:,} labelled solutions that a promotion needs."
        if held < rule
        else f"The holdout has {held:,} labelled solutions: enough to decide."
    )
    newest = first.generations[0] if first.generations else None
    if newest is None:
        told = f"{first.name} scores as it came; nothing was trained yet."
    elif first.trained:
        champion = next((one for one in first.generations if one.version == first.champion), newest)
        f1 = champion.holdout
        known = f", F1 {f1.value:.2f} ({f1.low:.2f}–{f1.high:.2f}) on the holdout" if _known(f1) else ""
        told = f"{first.name} scores by what {champion.people:,} labelled solutions taught it{known}."
    else:
        told = f"{first.name} scores as it came; its newest challenger {_became(newest)}."
    return f"{told} {missing}"


def _became(newest: Generation) -> str:
    return {"waits for more evidence": "waits for more evidence", "refused": "was refused"}.get(
        newest.in_words, "was replaced"
    )


def _known(figure: Figure) -> bool:
    return figure.value is not None and figure.low is not None and figure.high is not None


def _points_of(scorers: Sequence[Trainable]) -> list[Point]:
    """Generations that were measured on enough of the holdout, by the number of people's solutions."""
    generations = next((each.generations for each in scorers if each.generations), [])
    return [
        Point(one.people, one.holdout.value or 0.0, one.holdout.low or 0.0, one.holdout.high or 0.0)
        for one in reversed(generations)
        if _known(one.holdout) and one.holdout.n >= FEWEST_OF_A_POINT
    ]


def _target(project: Project, points: Sequence[Point]) -> float | None:
    chosen = project.retraining.get("target")
    if chosen is not None:
        return float(chosen)
    return min(0.99, round(max(one.value for one in points) + AHEAD, 2)) if points else None


def _curve(points: Sequence[Point]) -> Block | None:
    """The learning curve, from the second point on."""
    if len(points) < 2:
        return None
    drawn = [
        {
            "x": f"{one.labels:,}",
            "series": "F1 on the holdout",
            "value": one.value,
            "low": one.low,
            "high": one.high,
        }
        for one in points
    ]
    rows: list[list[Cell]] = [[one.labels, one.value, one.low, one.high] for one in points]
    first, last = points[0], points[-1]
    return Block(
        "curve",
        "Do more labels help?",
        f"From {first.labels:,} to {last.labels:,} labelled solutions the F1 went from {first.value:.2f} to "
        f"{last.value:.2f}.",
        {"kind": "line", "rows": drawn, "x": "labelled solutions"},
        ["labelled solutions", "F1 on the holdout", "low", "high"],
        rows,
        "Each generation on the holdout as it was labelled then, with 95 % intervals by problem.",
    )


def _times(page: TrainingPage, each: float | None) -> tuple[float, float | None] | None:
    found = page.forecast
    if each is None or found is None or found.labels is None or found.low is None:
        return None
    have = max((one.people for scorer in page.scorers for one in scorer.generations), default=0)
    most = None if found.high is None else max(0, found.high - have) * each
    return max(0, found.low - have) * each, most


def _points(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")
