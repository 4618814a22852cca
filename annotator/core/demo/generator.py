"""Makes any number of demo problems with several solutions each, the same ones for the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random
from string import ascii_lowercase

from annotator.core.demo.families import (
    areas,
    arrangements,
    conditional,
    divisibility,
    extrema_and_limits,
    functions,
    integrals,
    linear_equations,
    loops,
    powers,
    puzzles,
    quadratics,
    rates,
    selections,
    trade,
    triangles,
    urns_and_dice,
)
from annotator.core.demo.writer import ErrorKind, Plan, Problem, Route, Writer
from annotator.core.labels import NO_ERROR, Mode
from annotator.core.solutions import ProblemText, SolutionRecord, Step

FAMILIES: tuple[type[Problem], ...] = (
    *trade.FAMILIES,
    *rates.FAMILIES,
    *linear_equations.FAMILIES,
    *quadratics.FAMILIES,
    *triangles.FAMILIES,
    *areas.FAMILIES,
    *powers.FAMILIES,
    *divisibility.FAMILIES,
    *selections.FAMILIES,
    *arrangements.FAMILIES,
    *integrals.FAMILIES,
    *extrema_and_limits.FAMILIES,
    *urns_and_dice.FAMILIES,
    *conditional.FAMILIES,
    *loops.FAMILIES,
    *functions.FAMILIES,
    *puzzles.FAMILIES,
)

#: The invented models and how often a solution of theirs has an error.
ERROR_RATES = {"demo-small": 0.68, "demo-medium": 0.5, "demo-large": 0.32}
#: Of the planted calculation errors, the share that is noticed and taken back at once.
RECOVERY_RATE = 0.2
REPETITION_RATE = 0.15
PROMPT = "Solve the problem step by step and put the final answer in \\boxed{}."
TRIES = 16
FEWEST_STEPS = 3
MOST_SHARED = 0.5


@dataclass(frozen=True, slots=True)
class _Planned:
    route: Route
    plan: Plan


def generate(n_problems: int, seed: int) -> Iterator[SolutionRecord]:
    """Solutions of ``n_problems`` distinct problems, two to five for each, problem by problem.

    Labels are of mode first_error: +1 or 0 before the planted error, -1 at it, None after it. ``meta`` says what
    was planted and must not be shown to those who label.
    """
    rng = Random(seed)  # noqa: S311 - reproducible content, nothing secret
    seen: set[str] = set()
    queue: list[type[Problem]] = []
    for number in range(n_problems):
        if not queue:
            queue = rng.sample(FAMILIES, len(FAMILIES))
        problem = _fresh(queue.pop(), rng, seen)
        yield from _solutions(problem, number, rng)


def _fresh(family: type[Problem], rng: Random, seen: set[str]) -> Problem:
    while True:
        problem = family(rng)
        if problem.text not in seen:
            seen.add(problem.text)
            return problem


def _solutions(problem: Problem, number: int, rng: Random) -> Iterator[SolutionRecord]:
    text = ProblemText(
        text=problem.text,
        external_id=f"demo-{problem.subject.replace(' ', '-')}-{number:04d}",
        answer=problem.answer,
        solution=problem.reference,
        domain=problem.domain,
        subject=problem.subject,
    )
    wrong = [(r, name, kind) for r in problem.routes for name, kind in r.slips.items()]
    rng.shuffle(wrong)
    right = rng.sample(problem.routes, len(problem.routes))
    earlier: list[Writer] = []
    for letter in ascii_lowercase[: rng.choice((2, 3, 3, 4, 5))]:
        model = rng.choice(tuple(ERROR_RATES))
        errs = rng.random() < ERROR_RATES[model]
        for attempt in range(TRIES):
            # Sound solutions of one problem can run out of differences; ones with an error hardly do.
            planned = _plan(rng, errs or attempt >= TRIES // 2, wrong, right)
            writer = _write(problem, planned, rng)
            if len(writer.steps) >= FEWEST_STEPS and not any(_alike(writer, other) for other in earlier):
                earlier.append(writer)
                yield _record(text, letter, model, planned, writer, rng)
                break


def _alike(one: Writer, other: Writer) -> bool:
    """Two sound solutions that share most of their sentences, or any two with the same text."""
    if one.first_error != NO_ERROR or other.first_error != NO_ERROR:
        return one.sentences == other.sentences
    shared = set(one.sentences) & set(other.sentences)
    return len(shared) > MOST_SHARED * min(len(one.sentences), len(other.sentences))


def _write(problem: Problem, planned: _Planned, rng: Random) -> Writer:
    writer = Writer(rng, planned.plan)
    planned.route.write(problem, writer)
    if len(writer.steps) < FEWEST_STEPS:
        writer = Writer(rng, replace(planned.plan, opens=True))
        planned.route.write(problem, writer)
    return writer


def _plan(rng: Random, errs: bool, wrong: list[tuple[Route, str, ErrorKind]], right: list[Route]) -> _Planned:
    """Takes the next unused error, or the next route in turn."""
    if wrong and errs:
        chosen, name, kind = wrong.pop()
        recovers = kind is ErrorKind.CALCULATION and rng.random() < RECOVERY_RATE
        return _Planned(chosen, Plan(name, kind, recovers=recovers))
    chosen = right.pop()
    right.insert(0, chosen)
    return _Planned(chosen, Plan(repeats=rng.random() < REPETITION_RATE))


def _record(
    problem: ProblemText, letter: str, model: str, planned: _Planned, writer: Writer, rng: Random
) -> SolutionRecord:
    kind = planned.plan.kind or (ErrorKind.REDUNDANT if writer.repeated else None)
    last = len(writer.steps) - 1
    steps = tuple(
        step if index == last else Step(step.text, kind=step.kind, sep="\n\n")
        for index, step in enumerate(writer.steps)
    )
    return SolutionRecord(
        problem=problem,
        steps=steps,
        external_id=f"{problem.external_id}-{letter}",
        generator={
            "model": model,
            "prompt": PROMPT,
            "sampling": {"temperature": 0.7, "top_p": 0.95, "seed": rng.randrange(1_000_000)},
        },
        final_answer=writer.final_answer,
        answer_correct=writer.final_answer == problem.answer,
        labels=tuple(writer.labels),
        first_error=writer.first_error,
        mode=Mode.FIRST_ERROR.value,
        meta={
            "error_kind": kind.value if kind else None,
            "self_corrected": writer.recovered_at is not None,
            "recovered_at": writer.recovered_at,
        },
    )
