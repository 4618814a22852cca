"""Figures in words: each block of the page answers its question in a sentence with the number in it."""

from __future__ import annotations

from annotator.core.intervals import Figure
from annotator.core.labels import Mode
from annotator.queries.quality.shapes import GoldHealth, Person, Report

REASONS = {
    "single_category": "everybody always said the same, so chance alone explains it",
    "no_overlap": "no two people judged the same solution",
    "no_pairable_units": "no solution has two labels yet",
    "no_data": "there are no labels yet",
    "no_gold": "no hidden check was judged yet",
    "unequal_raters_use_alpha": "solutions have different numbers of labels",
    "no_spread": "nothing varies",
}


def why(figure: Figure) -> str:
    """Why there is no value."""
    return REASONS.get(figure.reason or "", "it is not defined here")


def percent(value: float) -> str:
    """A share as people say it.

    >>> percent(0.714), percent(-0.02)
    ('71 %', '−2 %')
    """
    whole = round(100 * value)
    return f"{'−' if whole < 0 else ''}{abs(whole)} %"


def ranged(figure: Figure) -> str:
    """A share with its interval, "71 % (66–75 %)"; raises ValueError where there is none."""
    if figure.value is None:
        raise ValueError("the figure has no value")
    if figure.low is None or figure.high is None:
        return percent(figure.value)
    low, high = percent(figure.low), percent(figure.high)
    return f"{percent(figure.value)} ({low.removesuffix(' %')}–{high})"


def count(n: int, one: str, many: str = "") -> str:
    """
    >>> count(1, "solution"), count(1200, "solution")
    ('1 solution', '1,200 solutions')
    """
    return f"{n:,} {one if n == 1 else many or one + 's'}"


def headline(report: Report) -> str:
    """The page's answer."""
    if report.mode == Mode.ALL_STEPS:
        return steps(report)
    stop = report.stop
    if stop.exact.value is None:
        return f"Agreement on the first error can't be told yet: {why(stop.exact)}."
    over = count(stop.exact.n, "solution")
    said = f"Two people name the same first error, or both none, {ranged(stop.exact)} of the time over {over}"
    if stop.corrected.value is None or stop.chance.value is None:
        return f"{said}."
    return (
        f"{said}; shuffled labels would reach {percent(stop.chance.value)}, so people close "
        f"{percent(stop.corrected.value)} of the gap."
    )


def steps(report: Report) -> str:
    figure, strict = report.steps.neutral_correct, report.steps.neutral_incorrect
    if figure.value is None or strict.value is None:
        return f"Agreement on single steps can't be told yet: {why(figure)}."
    return (
        f"On a step that both reached, people agree {ranged(figure)} of the time with neutral taken as correct, "
        f"{percent(strict.value)} with neutral taken as incorrect."
    )


def sample(report: Report) -> str:
    """What the headline stands on."""
    these = report.sample
    if not these.prefix and not these.holdout:
        return "Nothing is in the audit prefix or the holdout yet, so no figure would stand for the pool."
    return (
        f"Figures stand on the audit prefix ({these.prefix:,} of {count(these.pool, 'solution')}) and the holdout "
        f"({these.holdout:,}): random samples. First, independent, counted labels only; "
        f"{these.paired:,} solutions have two."
    )


def over_time(report: Report) -> str:
    known = [row for row in report.groups.month if row.figure.value is not None]
    if not known:
        return "No month has solutions with two labels yet."
    last = known[-1]
    return f"In {last.name} agreement on the first error was {ranged(last.figure)}."


def by_group(report: Report, kind: str) -> str:
    rows = [row for row in getattr(report.groups, kind) if row.figure.value is not None]
    if not rows:
        return f"No {kind} is known for solutions with two labels."
    if len(rows) == 1:
        return f"All solutions with two labels are of one {kind}, {rows[0].name}."
    least = min(rows, key=lambda row: row.figure.value or 0.0)
    return f"People agree least in {least.name}: {ranged(least.figure)} over {count(least.figure.n, 'solution')}."


def gold(report: Report) -> str:
    figure, people = report.gold.gold.exact, report.gold.people.exact
    if figure.value is None:
        return f"Nothing can be said against gold yet: {why(figure)}."
    said = f"People name gold's first error, or its absence, {ranged(figure)} of the time"
    if people.value is None:
        return f"{said}."
    return f"{said}; among themselves they agree on these solutions {ranged(people)}."


def truth(report: Report) -> str:
    audit, naive = report.truth.audit_mean, report.truth.naive_mean
    if audit.value is None:
        return "How many solutions have an error can't be estimated yet: the audit route has handed out none."
    said = f"{ranged(audit)} of the pool's solutions have an error, by the audit prefix"
    if naive.value is None:
        return f"{said}."
    return f"{said}; the plain mean over all labelled ones, which the queue's order bends, is {percent(naive.value)}."


def noise(report: Report) -> str:
    figure, decided = report.truth.noise_reannotation, report.truth.noise_adjudication
    if figure.value is None:
        return "How many labels are wrong can't be estimated yet: no audit item has two labels."
    said = f"At least {ranged(figure)} of labels are wrong, by blind second labels"
    if decided.value is None:
        return f"{said}; reviewers have decided no random item yet."
    return f"{said}; of those that a reviewer decided blind, {ranged(decided)} were."


def confusion(report: Report) -> str:
    table = report.confusion
    total, right = sum(map(sum, table)), sum(table[at][at] for at in range(3))
    if not total:
        return "No hidden check was judged yet, so nothing was taken for anything."
    missed, alarms = table[0][1] + table[0][2], table[1][0] + table[2][0]
    return (
        f"Of {count(total, 'step')} on gold {percent(right / total)} got the label gold accepts; "
        f"{count(missed, 'error')} passed, {count(alarms, 'sound step')} called incorrect."
    )


def heat(report: Report) -> str:
    cells = [
        (report.heat.kappa[row][column], report.heat.names[row], report.heat.names[column])
        for row in range(len(report.heat.names))
        for column in range(row)
        if report.heat.n[row][column] >= 20
    ]
    known = [(value, one, other) for value, one, other in cells if value is not None]
    if not known:
        return "No two people share 20 solutions yet."
    value, one, other = min(known)
    return (
        f"{one} and {other} agree least on whether there is an error: kappa {value:.2f}, "
        f"of {count(len(known), 'pair')} with 20 shared solutions or more."
    )


def people(these: list[Person]) -> str:
    """Who needs a look."""
    doubted = [each for each in these if each.standing != "clear" and each.state != "removed"]
    only = [each for each in these if each.only_correct]
    if not these:
        return "Nobody is here yet; invite people."
    if not any(each.checks for each in these):
        return "Nobody has judged a hidden check yet, so nothing speaks for or against anyone."
    if not doubted and not only:
        return "Nobody's hidden checks give reason to doubt."
    parts = []
    if doubted:
        names = ", ".join(f"{each.pseudonym} ({each.standing})" for each in doubted[:5])
        parts.append(f"{count(len(doubted), 'person', 'people')} warned or paused by hidden checks: {names}")
    if only:
        parts.append(f"{', '.join(each.pseudonym for each in only[:5])} passed most errors on gold")
    return f"{'; '.join(parts)}."


def effects(these: list[Person]) -> str:
    apart = [each for each in these if each.effect_high is not None and each.effect_high < 0]
    if not any(each.effect is not None for each in these):
        return "Nobody shares solutions with others yet."
    if not apart:
        return "Nobody agrees with the others clearly less often than people do on the whole."
    least = min(apart, key=lambda each: each.effect or 0.0)
    return (
        f"{count(len(apart), 'person agrees', 'people agree')} with the others less often than usual; "
        f"{least.pseudonym} by {percent(abs(least.effect or 0.0)).removesuffix(' %')} points."
    )


def gold_health(these: GoldHealth) -> str:
    if not these.hidden:
        return "There is no hidden gold, so nobody's work is checked: import some, or let reviewers make it."
    if these.least_unseen is None:
        return f"{count(these.hidden, 'hidden check')} are ready; nobody has had one yet."
    said = f"{these.least_unseen:,} of {count(these.hidden, 'hidden check')} are left for the person who has had most"
    if these.days_left is None:
        return f"{said}; none was handed out lately."
    return f"{said}: enough for {count(round(these.days_left), 'day')} at the present pace."
