"""The report as plain data for programs."""

from __future__ import annotations

from dataclasses import asdict, fields
from typing import Any

from annotator.core.agreement import StopAgreement
from annotator.core.intervals import Figure
from annotator.queries.quality.shapes import Person, Report


def values(report: Report) -> dict[str, Any]:
    """The report for programs. Each part carries its main figure's keys, with the others under their names."""
    steps = report.steps
    return {
        "mode": report.mode,
        "sample": asdict(report.sample),
        "stop": _stop(report.stop),
        "has_error": {
            **_figure(report.stop.has_error_ac1),
            "ac1": _figure(report.stop.has_error_ac1),
            "specific": _figure(report.stop.has_error_specific),
        },
        "steps": {
            **_figure(steps.neutral_correct),
            "neutral_correct": _figure(steps.neutral_correct),
            "neutral_incorrect": _figure(steps.neutral_incorrect),
            "alpha_neutral_correct": _figure(steps.alpha_neutral_correct),
            "alpha_neutral_incorrect": _figure(steps.alpha_neutral_incorrect),
            "by_depth": [
                {
                    "step": each.name,
                    "neutral_correct": _figure(each.neutral_correct),
                    "neutral_incorrect": _figure(each.neutral_incorrect),
                }
                for each in steps.by_depth
            ],
        },
        "finish": {"exact": _figure(report.finish.exact), "ac1": _figure(report.finish.ac1)},
        "gold": {
            **_figure(report.gold.gold.exact),
            "against": _everything(report.gold.gold),
            "people": _everything(report.gold.people),
        },
        "people": [_person(each) for each in report.people],
    }


def _figure(figure: Figure) -> dict[str, Any]:
    return asdict(figure)


def _stop(agreement: StopAgreement) -> dict[str, Any]:
    names = ("exact", "chance", "corrected", "within_one", "same_error")
    return {**_figure(agreement.exact), **{name: _figure(getattr(agreement, name)) for name in names}}


def _everything(agreement: StopAgreement) -> dict[str, Any]:
    return {each.name: _figure(getattr(agreement, each.name)) for each in fields(agreement)}


def _person(person: Person) -> dict[str, Any]:
    return {
        "annotator": person.pseudonym,
        "state": person.state,
        "standing": person.standing,
        "n": person.n,
        "hours": person.hours,
        "checks": person.checks,
        "sensitivity": _figure(person.sensitivity),
        "false_alarms": _figure(person.false_alarms),
        "items": _figure(person.items),
        "recent": _figure(person.recent),
        "consistency": _figure(person.consistency),
        "cusum": person.statistic,
        "only_correct": person.only_correct,
        "pace": person.pace,
        "against_the_rest": person.effect,
    }
