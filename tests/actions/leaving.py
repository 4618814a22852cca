"""Labels that leave: what the tests of exports share."""

from __future__ import annotations

from typing import Any

import orjson

from annotator.actions import consensus, exports
from annotator.actions.access import operator
from annotator.actions.exports import Export, Recipe
from annotator.core.labels import Mode, stop
from annotator.models import Adjudication, Annotation, Project, ReferenceLabels, Solution
from tests import factories as make


def export(project: Project, **recipe: Any) -> Export:
    return exports.start(actor=operator(project), recipe=Recipe(**recipe))


def rows(project: Project, **recipe: Any) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in export(project, **recipe)]


def left_out(project: Project, **recipe: Any) -> dict[str, int]:
    made = export(project, **recipe)
    assert not list(made), "something was written"
    return made.all_left_out


def said(solution: Solution, *labels: int | None, **fields: Any) -> Annotation:
    """Somebody's annotation, with its follow-up done."""
    implied = "found_error" if -1 in labels and solution.project.mode == Mode.FIRST_ERROR else "solution"
    made = Annotation.objects.create(
        solution=solution,
        n_steps=len(labels),
        labels=list(labels),
        stop=stop(labels, [step["judged"] for step in solution.steps]),
        **{
            "finish_reason": implied,
            **fields,
            "member": fields.get("member") or make.member(solution.project),
        },
    )
    consensus.update(solution_id=solution.pk)
    return made


def decided(solution: Solution, *labels: int | None) -> None:
    Adjudication.objects.create(
        solution=solution, member=make.member(solution.project), n_steps=len(labels), labels=list(labels)
    )


def brought(solution: Solution, *labels: int | None) -> None:
    ReferenceLabels.objects.create(solution=solution, n_steps=len(labels), labels=list(labels))
