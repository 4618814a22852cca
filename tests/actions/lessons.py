"""Projects with labels that a scorer can learn from: arithmetic that is right or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotator.actions import kept_weights, training_run
from annotator.core.labels import NO_ERROR
from annotator.jobs import Claimed, claim
from annotator.models import (
    Annotation,
    Consensus,
    Membership,
    Project,
    Scorer,
    ScorerVersion,
    Solution,
)
from tests import factories as make

RIGHT = ("3 + 4 = 7 apples.", "7 + 2 = 9 apples.", "The answer is 9.")
WRONG = ("3 + 4 = 7 apples.", "7 + 2 = 13 apples.", "The answer is 13.")


def labelled(
    project: Project, stop: int = NO_ERROR, *, n: int = 1, posterior: float | None = None, **fields: Any
) -> Solution:
    """A solution that ``n`` people agree on: with its error in the second step, or with none."""
    made = make.solution(project, WRONG if stop == 1 else RIGHT, **fields)
    agree(made, stop, n=n, posterior=posterior)
    return made


def agree(solution: Solution, stop: int, *, n: int = 1, posterior: float | None = None) -> Consensus:
    """``n`` people stop here, and so does the consensus."""
    labels = _labels(solution.n_steps, stop)
    for member in crew(solution.project, n):
        Annotation.objects.create(
            solution=solution,
            member=member,
            n_steps=solution.n_steps,
            labels=labels,
            stop=stop,
            finish_reason="solution" if stop == NO_ERROR else "found_error",
        )
    return Consensus.objects.create(
        solution=solution,
        n_steps=solution.n_steps,
        method="plurality" if posterior is None else "latent_stop",
        state=Consensus.State.AGREED,
        labels=labels,
        stop=stop,
        n_annotations=n,
        posterior=posterior,
    )


def crew(project: Project, n: int) -> list[Membership]:
    """The first ``n`` people of the project, made where they are missing."""
    known = list(project.memberships.order_by("pk")[:n])
    return [*known, *(make.member(project) for _ in range(n - len(known)))]


def pool(project: Project, n: int = 40, *, holdout: int = 0) -> None:
    """So many labelled solutions to learn from, every other one wrong; and of the holdout, three labels each."""
    for at in range(n):
        labelled(project, 1 if at % 2 else NO_ERROR)
    for at in range(holdout):
        labelled(project, 1 if at % 2 else NO_ERROR, n=3, holdout=True)


def taken() -> Claimed:
    """The training job, as a worker holds it."""
    job = claim("training")
    assert job is not None
    return job


def trained(job: Claimed | None = None) -> None:
    """A worker does the run."""
    training_run.run(job=job or taken())


def _figure(value: float) -> dict[str, Any]:
    return {"value": value, "n": 1200, "reason": None, "low": value - 0.02, "high": value + 0.02}


def generation(scorer: Scorer, people: int, f1: float, status: str = "challenger") -> ScorerVersion:
    """One version that was trained, as a run and its decision leave it."""
    parent = ScorerVersion.objects.filter(scorer=scorer).in_force().first()
    decision = {
        "answer": "promoted" if status == "live" else "not enough evidence",
        "why": "It could be worse, so the champion stays.",
        "by": "the rule",
        "overlap": 0,
        "duel": {
            "n": 1200,
            "challenger_f1": _figure(f1),
            "champion_f1": _figure(f1 - 0.01),
            "f1": {"value": 0.01, "low": -0.012, "high": 0.03, "from_": -0.015, "to": 0.034},
        },
    }
    training = {
        "run": f"r{people}",
        "snapshot": {"sources": {"human": people, "judge": 7}},
        "metrics": {"f1": _figure(f1 - 0.05)},
        "decision": decision,
    }
    if status == "live":
        ScorerVersion.objects.filter(scorer=scorer).update(status="retired")
    version = ScorerVersion.objects.create(
        scorer=scorer,
        version=f"builtin-{people}",
        measures="correctness",
        threshold=0.5,
        status=status,
        parent=parent,
        training=training,
    )
    kept_weights.keep(version, b"{}")
    if status == "live":
        Scorer.objects.filter(pk=scorer.pk).update(champion=version)
    return version


def _labels(n_steps: int, stop: int) -> Sequence[int | None]:
    end = n_steps if stop == NO_ERROR else stop
    return [1] * end + [-1] * (end < n_steps) + [None] * (n_steps - end - 1)
