"""The people: what hidden gold says of each, how each works, and how each compares with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotator.core.agreement import PersonEffect, Stops, against_the_rest, heat_map
from annotator.core.intervals import Floats, Ints, Reason, proportion, totals
from annotator.core.screening import (
    ItemScore,
    Rule,
    follow,
    pace,
    rolling,
    says_only_correct,
    scorecard,
    self_consistency,
)
from annotator.models import Membership, Project
from annotator.queries.quality.choosing import Chosen
from annotator.queries.quality.shapes import Heat, Person
from annotator.queries.quality.tables import OTHER, REPEAT, WORK, Bools, Tables
from annotator.queries.standings import Check, Record

#: Points of a sparkline.
POINTS = 60
#: What the report says of a member as it stands.
_AS_THEY_ARE = ("pseudonym", "role", "state", "state_reason", "standing")
#: Fewer timed annotations than this say nothing of a person's pace.
LEAST_TIMED = 20


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """Of each member, in the order of ``ids``: annotations, hours, usual pace, too fast ones, quarantined ones."""

    ids: Ints
    n: Ints
    hours: Floats
    pace: Floats
    timed: Ints
    too_fast: Ints
    quarantined: Ints


def people(
    tables: Tables, project: Project, records: dict[int, Record], rule: Rule, chosen: Chosen, these: Stops
) -> list[Person]:
    """Everybody who labelled or may label, in the order they came. ``chosen`` and ``these``: independent stops."""
    members = list(Membership.objects.filter(project=project).order_by("pk"))
    ids = np.array([member.pk for member in members], dtype=np.int64)
    work = _work(tables, ids)
    effects = against_the_rest(these.unit, these.rater, these.stop, these.n_steps[these.unit])
    by_member = dict(zip(chosen.members.tolist(), effects, strict=False))
    again = _again(tables)
    found = []
    for at, member in enumerate(members):
        record = records.get(member.pk, Record([], []))
        if work.n[at] or record.checks or member.state != Membership.State.REMOVED:
            found.append(_person(member, at, work, record, rule, by_member.get(member.pk), again))
    return found


def heat(these: Stops, chosen: Chosen, project: Project) -> Heat:
    """Kappa of each two people on whether there is an error."""
    names = dict(Membership.objects.filter(project=project).values_list("pk", "pseudonym"))
    drawn = heat_map(these.has_error())
    kappa = np.round(drawn.kappa, 4)
    return Heat(
        [names[pk] for pk in chosen.members.tolist()],
        drawn.n.tolist(),
        [[None if value != value else value for value in row] for row in kappa.tolist()],
    )


def _person(
    member: Membership,
    at: int,
    work: _Work,
    record: Record,
    rule: Rule,
    effect: PersonEffect | None,
    again: dict[int, list[tuple[int, int]]],
) -> Person:
    checks = record.checks
    card = scorecard(_scores(checks))
    recent = rolling([each.right for each in checks])
    standing = follow(record.events(), rule)
    pairs = np.array(again.get(member.pk, []), dtype=np.int64).reshape(-1, 2)
    return Person(
        member_id=member.pk,
        **{name: getattr(member, name) for name in _AS_THEY_ARE},
        n=int(work.n[at]),
        hours=round(float(work.hours[at]), 2),
        checks=len(checks),
        sensitivity=card.sensitivity,
        false_alarms=card.false_alarms,
        items=card.items,
        recent=recent[-1] if recent else proportion(0, 0, Reason.NO_GOLD),
        rolling=[round(each.value or 0.0, 3) for each in recent[-POINTS:]],
        cusum=[round(moment.statistic, 3) for moment in standing.path[-POINTS:]],
        statistic=round(standing.statistic, 3),
        only_correct=_passes_errors(checks),
        pace=round(float(work.pace[at]), 3) if work.timed[at] >= LEAST_TIMED else None,
        too_fast=int(work.too_fast[at]),
        consistency=self_consistency(pairs[:, 0], pairs[:, 1]),
        effect=effect.shrunken if effect and effect.n >= 2 else None,
        effect_low=effect.low if effect else None,
        effect_high=effect.high if effect else None,
        effect_n=effect.n if effect else 0,
        quarantined=int(work.quarantined[at]),
    )


def _scores(checks: Sequence[Check]) -> list[ItemScore]:
    return [
        ItemScore(each.right, each.errors_reached, each.errors_caught, each.sound_reached, each.false_alarms)
        for each in checks
    ]


def _passes_errors(checks: Sequence[Check]) -> bool:
    caught, reached = sum(each.errors_caught for each in checks), sum(each.errors_reached for each in checks)
    return says_only_correct(caught, reached)


def _work(tables: Tables, ids: Ints) -> _Work:
    annotations, solutions = tables.annotations, tables.solutions
    who, size = np.searchsorted(ids, annotations.member), len(ids)
    now = annotations.current == 1
    length = solutions.n_chars[solutions.index(annotations.solution)].astype(np.float64)
    timed = now & (annotations.purpose != OTHER) & (annotations.seconds > 0) & (length > 0)
    found = pace(
        annotations.seconds[timed], length[timed], annotations.reached()[timed].astype(np.float64), who[timed]
    )
    usual = np.ones(size)
    usual[: len(found.person)] = found.person
    # Work that stopped counting while its person stayed: what a pause put under quarantine among others.
    aside: Bools = now & (annotations.counted == 0) & (annotations.purpose == WORK)
    return _Work(
        ids=ids,
        n=np.bincount(who[now], minlength=size),
        hours=totals(who[now], annotations.seconds[now], size) / 3600.0,
        pace=usual,
        timed=np.bincount(who[timed], minlength=size),
        too_fast=np.bincount(who[timed][found.too_fast], minlength=size),
        quarantined=np.bincount(who[aside], minlength=size),
    )


def _again(tables: Tables) -> dict[int, list[tuple[int, int]]]:
    """By member: the first stop and the one of the blind repeat, of each repeated solution."""
    annotations = tables.annotations
    current = annotations.current == 1
    repeats = np.flatnonzero(current & (annotations.purpose == REPEAT))
    wanted = {(annotations.solution[at], annotations.member[at]): int(annotations.stop[at]) for at in repeats}
    mine = np.isin(annotations.solution, annotations.solution[repeats])
    found: dict[int, list[tuple[int, int]]] = {}
    for at in np.flatnonzero(mine & current & (annotations.purpose != REPEAT) & (annotations.round == 1)):
        key = (annotations.solution[at], annotations.member[at])
        if key in wanted:
            found.setdefault(int(key[1]), []).append((int(annotations.stop[at]), wanted[key]))
    return found
