"""What a label costs, in seconds and in money, by who gave it; and what more of them would cost.

All active time of people counts, that on checks and on labels that were thrown away included: it is the price of the
labels that are left. What is not known is None and says why; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import Count, Q, Sum

from annotator.models import Annotation, Project, Scorer
from annotator.queries.mine import judged_steps

PEOPLE = "people"

# Servers say "prompt" and "completion" for what goes in and comes out.
_USAGE = """
SELECT v.scorer_id, count(*), coalesce(sum(s.n_steps), 0),
  sum(coalesce(d.usage->>'input_tokens', d.usage->>'prompt_tokens')::float8),
  sum(coalesce(d.usage->>'output_tokens', d.usage->>'completion_tokens')::float8),
  sum((d.usage->>'seconds')::float8)
FROM annotator_score s JOIN annotator_scorerversion v ON v.id = s.version_id
JOIN annotator_scorer r ON r.id = v.scorer_id LEFT JOIN annotator_scoredetail d ON d.score_id = s.id
WHERE r.project_id = %s GROUP BY v.scorer_id
"""
# Rollouts are paid for whether or not their solution has its score yet; their scores carry no usage of their own.
_ROLLOUTS = """
SELECT v.scorer_id,
  sum(coalesce(o.usage->>'input_tokens', o.usage->>'prompt_tokens')::float8),
  sum(coalesce(o.usage->>'output_tokens', o.usage->>'completion_tokens')::float8),
  sum((o.usage->>'seconds')::float8)
FROM annotator_rollouts o JOIN annotator_scorerversion v ON v.id = o.version_id
JOIN annotator_scorer r ON r.id = v.scorer_id WHERE r.project_id = %s GROUP BY v.scorer_id
"""


@dataclass(frozen=True, slots=True)
class SourceCost:
    """One source: people, or a scorer by its name. ``labels`` are solutions with labels that count, ``steps`` judged
    ones in them. ``seconds`` and ``money`` are for all of it; ``missing`` says why money is not known."""

    source: str
    kind: str
    labels: int
    steps: int
    seconds: float | None
    money: float | None
    missing: str = ""

    @property
    def seconds_each(self) -> float | None:
        """Seconds a label."""
        return self.seconds / self.labels if self.labels and self.seconds is not None else None

    @property
    def money_each(self) -> float | None:
        """Money a label."""
        return self.money / self.labels if self.labels and self.money is not None else None


@dataclass(frozen=True, slots=True)
class Costs:
    """All sources, people first, in the project's ``currency``. ``on_checks``: the share of people's time that went
    into gold, exams, practice, repeats and labels that don't count."""

    currency: str
    sources: Sequence[SourceCost]
    on_checks: float | None

    @property
    def people(self) -> SourceCost:
        return self.sources[0]


@dataclass(frozen=True, slots=True)
class Usage:
    """What a scorer used in all: tokens and seconds, None where none was kept."""

    input_tokens: float | None
    output_tokens: float | None
    seconds: float | None


def costs(project: Project) -> Costs:
    """Four queries, whatever the number of labels and scorers."""
    people, on_checks = _people(project)
    return Costs(project.currency, [people, *_scorers(project)], on_checks)


def price_of(usage: Usage, prices: Mapping[str, float]) -> tuple[float | None, str]:
    """Money for what was used, else None and why. Every kind of usage that has a price is paid for.

    >>> price_of(Usage(2e6, 1e5, None), {"input_per_million": 0.5, "output_per_million": 2.0})
    (1.2, '')
    >>> price_of(Usage(None, None, None), {"per_hour": 2.0})
    (None, 'no usage was kept')
    """
    if not prices:
        return None, "no price is set"
    parts = [
        (usage.input_tokens, prices.get("input_per_million"), 1e6),
        (usage.output_tokens, prices.get("output_per_million"), 1e6),
        (usage.seconds, prices.get("per_hour"), 3600.0),
    ]
    paid = [
        amount * price / unit for amount, price, unit in parts if amount is not None and price is not None
    ]
    return (sum(paid), "") if paid else (None, "no usage was kept")


def _people(project: Project) -> tuple[SourceCost, float | None]:
    """Of a solution that was opened again the newest version stands: its time includes that of the ones before."""
    rows = Annotation.objects.filter(
        member__project=project, source=Annotation.Source.HUMAN, current=True
    ).annotate(judged=judged_steps())
    counts = Q(counted=True, solution__gold=None)
    found = rows.aggregate(
        labels=Count("pk", filter=counts),
        steps=Sum("judged", filter=counts),
        seconds=Sum("active_seconds"),
        useful=Sum("active_seconds", filter=counts),
    )
    seconds = found["seconds"]
    hourly = project.hourly_cost
    money = seconds / 3600 * hourly if seconds is not None and hourly is not None else None
    missing = (
        "" if money is not None else "no time was measured" if seconds is None else "no hourly cost is set"
    )
    cost = SourceCost(PEOPLE, PEOPLE, found["labels"], found["steps"] or 0, seconds, money, missing)
    return cost, 1.0 - (found["useful"] or 0.0) / seconds if seconds else None


def _scorers(project: Project) -> list[SourceCost]:
    with connection.cursor() as cursor:
        cursor.execute(_USAGE, [project.pk])
        scored = {row[0]: (row[1], row[2], Usage(*row[3:])) for row in cursor.fetchall()}
        cursor.execute(_ROLLOUTS, [project.pk])
        rolled = {row[0]: Usage(*row[1:]) for row in cursor.fetchall()}
    found = []
    for scorer in Scorer.objects.filter(project=project).order_by("pk"):
        n, steps, usage = scored.get(scorer.pk, (0, 0, Usage(None, None, None)))
        if scorer.pk in rolled:
            usage = rolled[scorer.pk]
        money, missing = price_of(usage, scorer.prices)
        found.append(SourceCost(scorer.name, scorer.kind, n, int(steps), usage.seconds, money, missing))
    return found
