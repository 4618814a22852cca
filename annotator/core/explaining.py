"""Why a solution came to a person, in one sentence. No database: what is told is kept with the assignment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: A claim counts the solutions before its own, and those of the pool, up to here. Earlier ones counted up to 10,000.
COUNTED = 1_000
#: What each strategy looks for, to end "because …".
REASONS: Mapping[str, str] = {
    "uncertainty": "the scorer is unsure of it",
    "convincing_wrong": "its final answer is wrong and the scorer finds it convincing",
    "disagreement": "the scorers differ on it",
    "coverage": "its kind has few labels yet",
    "random": "its lot came up",
    "error_free": "a set share of what people get is to be free of errors, and this one probably is",
    "kept_apart": "the scorer is unsure of it, and a near-duplicate kept it from coming sooner",
    "mistakes": "the scorer probably misjudges many of its steps for the time that it takes",
    "gain": "the scorer's first error is probably wrong for the time that it takes",
    "learning": "its labels teach the scorer most for the time that they take",
    "certain": "nothing less certain was left",
    "same problem": "it solves the problem that the person had just read",
}
_ROUTES: Mapping[str, str] = {
    "audit": "by the audit route, in random order whatever a scorer says",
    "holdout": "by the holdout route, in random order whatever a scorer says",
    "gold": "as a hidden check, drawn at random from the gold",
    "exam": "as an item of the exam",
    "practice": "as practice",
    "repeat": "as a repeat of the person's own work, drawn at random",
    "review": "to be reviewed",
}


def sentence(selection: Mapping[str, Any], purpose: str = "work", *, comes: str = "came") -> str:
    """One sentence with route, strategy, score, scorer version, rank, pool and round, as far as they are known.

    ``comes`` is "comes" for what nobody has claimed yet.

    >>> kept = {"route": "priority", "strategy": "uncertainty", "score": 0.41234, "scorer_version": "v1",
    ...         "rank": 3, "pool": 10000, "round": 1}
    >>> sentence(kept)  # doctest: +ELLIPSIS
    'It came by the priority route, strategy uncertainty, because the scorer is unsure of it: mean entropy 0.412 ...'
    >>> sentence(kept).endswith("nats by v1; rank 3 of at least 10,000 untouched solutions; round 1.")
    True
    >>> sentence({"route": "audit", "score": None, "rank": 1001, "pool": 1000})  # doctest: +ELLIPSIS
    'It came by the audit route, ... no score was known; rank beyond 1,000 among the untouched solutions; round 1.'
    >>> sentence({"route": "audit", "score": None, "round": 2})
    'It came by the audit route, in random order whatever a scorer says; no score was known; round 2.'
    """
    route = str(selection.get("route") or purpose)
    parts = [_how(route, str(selection.get("strategy") or ""))]
    if purpose == "work":
        parts.append(_score(selection))
    if selection.get("rank") and selection.get("pool"):
        parts.append(_place(int(selection["rank"]), int(selection["pool"])))
    parts.append(f"round {selection.get('round', 1)}")
    return f"It {comes} {parts[0]}{':' if route == 'priority' else ';'} {'; '.join(parts[1:])}."


def _how(route: str, strategy: str) -> str:
    if route in _ROUTES:
        return _ROUTES[route]
    because = REASONS.get(strategy)
    return f"by the {route} route, strategy {strategy or 'unknown'}" + (
        f", because {because}" if because else ""
    )


def _place(rank: int, pool: int) -> str:
    if rank > pool:
        return f"rank beyond {pool:,} among the untouched solutions"
    most = " at least" if pool in (COUNTED, 10_000) else ""
    return f"rank {rank:,} of{most} {pool:,} untouched solutions"


def _score(selection: Mapping[str, Any]) -> str:
    score, version = selection.get("score"), selection.get("scorer_version")
    if score is None:
        return "no score was known"
    return f"mean entropy {float(score):.3f} nats" + (f" by {version}" if version else "")
