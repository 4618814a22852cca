"""A project whose people are simulated: generated solutions, labels with mistakes, training in between.

Everything goes through the actions that people and workers use; only the people themselves are made up. Needs Django
set up and a database that may be filled. `bench_loop.py` runs it at full size, a test in small.
"""

from __future__ import annotations

import io
import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import orjson
from django.contrib.auth.models import User

from annotator import jobs, tasks
from annotator.actions import (
    access,
    consensus,
    imports,
    kept_weights,
    labeling,
    projects,
    queueing,
    scoring,
    training,
)
from annotator.actions.access import Actor
from annotator.actions.imports import Source
from annotator.actions.labeling import Work
from annotator.actions.queueing import NothingForYou
from annotator.core.codecs import codec_named
from annotator.core.codecs.base import ExportRow
from annotator.core.codecs.policies import Policies
from annotator.core.demo import generate
from annotator.core.labels import NO_ERROR
from annotator.core.promotion import Duel, Heard, duel
from annotator.core.sampling import in_holdout
from annotator.core.solutions import SolutionRecord, Step
from annotator.core.targets import stop_targets
from annotator.models import (
    Annotation,
    Assignment,
    Project,
    QueueRow,
    ReferenceLabels,
    Role,
    Scorer,
    ScorerVersion,
    Solution,
    Split,
)
from annotator.queries.training_labels import Lesson, holdout, labels_of
from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.builtin.features import FEATURES
from annotator.scorers.builtin.fit import Weights, features

#: Solutions whose features say how wide each one is; no label of theirs is looked at.
STANDARD = 500
#: Submits between two looks of the workers, who follow people within seconds.
AT_ONCE = 25
#: Seconds that a simulated person takes for a step.
SECONDS_A_STEP = 6.0


@dataclass
class Person:
    """Somebody who calls a sound step wrong now and then, and misses errors; who missed one goes on less surely."""

    actor: Actor
    random: random.Random
    false_alarm: float
    miss: float

    def labels(self, stop: int, judged: Sequence[bool]) -> list[int | None]:
        """What they mark where the first error is at ``stop`` (-1: none)."""
        said: list[int | None] = [None] * len(judged)
        for at in [at for at, takes in enumerate(judged) if takes]:
            rate = 1.0 - self.miss if at == stop else self.false_alarm
            if stop != NO_ERROR and at > stop:
                rate = 3 * self.false_alarm
            if self.random.random() < rate:
                said[at] = -1
                break
            said[at] = 1
        return said


@dataclass
class Loop:
    """One simulated project. ``say`` is told what happens; ``marks`` collects each generation's figures."""

    project: Project
    scorer: Scorer
    people: list[Person]
    truth: dict[int, int]
    say: Callable[[str], None]
    chance: random.Random
    marks: list[dict[str, Any]] = field(default_factory=list)


def begin(
    train: int,
    holdout: int,
    *,
    people: int = 6,
    miss: float = 0.12,
    false_alarm: float = 0.01,
    seed: int = 1,
    slug: str = "loop",
    say: Callable[[str], None] = lambda _: None,
) -> Loop:
    """A project with so many generated solutions on either side, people who err, and a scorer that knows nothing."""
    project = projects.create(new=projects.NewProject(slug=slug, gold_rate=0.0))
    chosen = {"repeat_rate": 0.0, "siblings": 1, "split_key": f"{slug}-{seed}"}
    Project.objects.filter(pk=project.pk).update(**chosen)
    project.refresh_from_db()
    _import(project, records(train, holdout, project.split_key, seed))
    scorer = Scorer.objects.get(project=project)
    Scorer.objects.filter(pk=scorer.pk).update(config={"weights": _knowing_nothing(project).to_json()})
    chance = random.Random(seed)  # noqa: S311  a simulation
    crew = []
    for number in range(people):
        user = User.objects.create(username=f"{slug}-{number}")
        member = projects.add_member(project=project, user=user, role=Role.ANNOTATOR)
        actor = access.enter(user_id=user.pk, slug=member.project.slug)
        own = random.Random(f"{seed}-{number}")  # noqa: S311  a simulation
        crew.append(Person(actor, own, false_alarm, miss * own.uniform(0.5, 1.5)))
    truth = dict(
        ReferenceLabels.objects.filter(solution__project=project).values_list("solution_id", "first_error")
    )
    scoring.request(actor=access.operator(project))
    work()
    project.refresh_from_db()
    scorer.refresh_from_db()
    return Loop(project, scorer, crew, truth, say, chance)


def label_holdout(loop: Loop) -> int:
    """Three labels for each holdout solution. Returns how many solutions may be judged by."""
    _shares(loop, holdout=1.0, audit=0.0)
    open_ = QueueRow.objects.filter(project=loop.project, holdout=True).open()
    _label(loop, lambda assignment: not open_.exists() or assignment.solution.problem.split != Split.HOLDOUT)
    labelled = len(holdout(loop.project))
    loop.say(f"holdout: {labelled:,} labelled solutions")
    return labelled


def fill_holdout(loop: Loop) -> int:
    """The same labels written at once, as if people had claimed and handed them in; consensus by its own action."""
    rows = QueueRow.objects.filter(project=loop.project, holdout=True).select_related("solution")
    given, said = [], []
    for at, row in enumerate(rows.order_by("pk")):
        for slot in range(3):
            person = loop.people[(at + slot) % len(loop.people)]
            solution = row.solution
            labels = person.labels(loop.truth[solution.pk], [step["judged"] for step in solution.steps])
            given.append(
                Assignment(
                    project=loop.project,
                    solution=solution,
                    member_id=person.actor.member,
                    state=Assignment.State.SUBMITTED,
                    slot=slot,
                    lease_expires_at=solution.project.created_at,
                )
            )
            said.append(_annotation(given[-1], labels))
    Assignment.objects.bulk_create(given)
    Annotation.objects.bulk_create(said)
    rows.update(taken=3)
    consensus.recompute_all(project_id=loop.project.pk)
    labelled = len(holdout(loop.project))
    loop.say(f"holdout: {labelled:,} labelled solutions")
    return labelled


def label_train(loop: Loop, until: int) -> None:
    """So many counted labels on train solutions in all, one in ten by the audit route, the rest by priority."""
    _shares(loop, holdout=0.0, audit=0.1)
    count = iter(range(until - labels_of(loop.project)))
    _label(loop, lambda _assignment: next(count, None) is None)
    loop.say(f"people have given {labels_of(loop.project):,} labels on train solutions")


def next_generation(loop: Loop) -> dict[str, Any]:
    """A worker trains; the rule decides; where it promotes, all is scored anew and the queue re-ranked."""
    began = time.monotonic()
    training.ask(actor=access.operator(loop.project), scorer_id=loop.scorer.pk)
    work()
    loop.scorer.refresh_from_db()
    newest = ScorerVersion.objects.filter(scorer=loop.scorer).order_by("-pk").first()
    assert newest is not None
    told = newest.training
    mark = {
        "version": newest.version,
        "sources": told["snapshot"]["sources"],
        "labels": told["snapshot"]["labels"],
        "f1_out_of_fold": told["metrics"]["f1"]["value"],
        "answer": told["decision"]["answer"],
        "why": told["decision"]["why"],
        "champion": loop.scorer.champion == newest,
        "seconds": round(time.monotonic() - began, 1),
    }
    loop.marks.append(mark)
    loop.say(f"generation {len(loop.marks)}: {mark['answer']}. {mark['why']}")
    return mark


def compared(loop: Loop, before: ScorerVersion, after: ScorerVersion, *, by_truth: bool) -> dict[str, Any]:
    """Two versions on the labelled holdout, by what people say of it, or by the planted errors."""
    lessons = holdout(loop.project)
    found = _duel(loop, lessons, before, after, by_truth)
    assert found.f1 is not None
    return {
        "solutions": found.n,
        "problems": found.problems,
        "before": asdict(found.champion_f1),
        "after": asdict(found.challenger_f1),
        "difference": found.f1.value,
        "low": found.f1.from_,
        "high": found.f1.to,
    }


def work() -> None:
    """Do what is due on all queues, as workers would; a job that fails fails here."""
    while True:
        job = next(filter(None, (jobs.claim(queue) for queue in ("training", "scoring", "default"))), None)
        if job is None:
            return
        tasks.HANDLERS[job.kind](job)
        jobs.finish(job)


def records(train: int, holdout: int, key: str, seed: int = 7) -> list[SolutionRecord]:
    """At least so many generated solutions for either side, as the project's ``key`` splits problems; what is made
    beyond that is left out, so that nobody waits for ten times as many."""
    wanted, made = {True: holdout, False: train}, list[SolutionRecord]()
    for record in generate(10**6, seed):
        side = in_holdout(key, record.problem.text)
        known = bool(made) and record.problem.external_id == made[-1].problem.external_id
        if wanted[side] > 0 or known:
            made.append(record)
            wanted[side] -= 1
        if max(wanted.values()) <= 0:
            return made
    return made


def _duel(
    loop: Loop, lessons: Sequence[Lesson], before: ScorerVersion, after: ScorerVersion, by_truth: bool
) -> Duel:
    targets = [
        stop_targets(loop.truth[one.solution_id], [step.judged for step in one.steps])
        if by_truth
        else one.targets
        for one in lessons
    ]
    groups = [one.problem_hash for one in lessons]
    return duel(_heard(loop, before, lessons), _heard(loop, after, lessons), targets, groups)


def _heard(loop: Loop, version: ScorerVersion, lessons: Sequence[Lesson]) -> Heard:
    config = dict(loop.scorer.config)
    if version.training:
        config = kept_weights.config_with(config, version)
    running = scoring.made_of(loop.scorer.kind, config)
    said = running.score([ScoringInput(one.problem, one.steps) for one in lessons], cancelled=lambda: False)
    return Heard([each.values for each in said if isinstance(each, Scored)], version.threshold)


def _label(loop: Loop, enough: Callable[[Any], bool]) -> None:
    """People take turns until there is enough, or nothing is left for anybody."""
    left, turn = list(loop.people), 0
    while left:
        person = left[turn % len(left)]
        turn += 1
        try:
            assignment = queueing.next_assignment(actor=person.actor, chance=loop.chance)
        except NothingForYou:
            left.remove(person)
            continue
        if enough(assignment):
            labeling.skip(actor=person.actor, assignment_id=assignment.pk, reason="the day is over")
            left.remove(person)
            continue
        _judge(loop, person, assignment)
        if turn % AT_ONCE == 0:
            work()
    work()


def _annotation(assignment: Assignment, labels: list[int | None]) -> Annotation:
    return Annotation(
        solution=assignment.solution,
        member_id=assignment.member_id,
        assignment=assignment,
        n_steps=len(labels),
        labels=labels,
        stop=labels.index(-1) if -1 in labels else NO_ERROR,
        finish_reason="found_error" if -1 in labels else "solution",
        active_seconds=SECONDS_A_STEP * sum(label is not None for label in labels),
    )


def _judge(loop: Loop, person: Person, assignment: Any) -> None:
    solution = assignment.solution
    labels = person.labels(loop.truth[solution.pk], [step["judged"] for step in solution.steps])
    seconds = SECONDS_A_STEP * sum(label is not None for label in labels)
    reason = "found_error" if -1 in labels else "solution"
    labeling.submit(
        actor=person.actor, assignment_id=assignment.pk, work=Work(labels, {}, reason, active_seconds=seconds)
    )


def _shares(loop: Loop, *, holdout: float, audit: float) -> None:
    Project.objects.filter(pk=loop.project.pk).update(holdout_rate=holdout, audit_rate=audit)
    loop.project.refresh_from_db()


def _import(project: Project, records: Iterable[SolutionRecord]) -> None:
    native = codec_named("native")
    lines = io.BytesIO()
    for record in records:
        for value in native.write(ExportRow(record), Policies()).objects:
            lines.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
    lines.seek(0)
    source = Source(file=lines, filename="generated.jsonl", format="native")
    imports.run(actor=access.operator(project), source=source)


def _knowing_nothing(project: Project) -> Weights:
    """Numbers that call every step correct with the same chance, for features as wide as unlabelled solutions show."""
    rows = np.concatenate(
        [
            features(one.problem.text, tuple(map(Step.from_json, one.steps)))
            for one in Solution.objects.filter(project=project)
            .select_related("problem")
            .order_by("pk")[:STANDARD]
        ]
    )[:, : len(FEATURES)]
    scale = rows.std(axis=0)
    return Weights(
        hashed=False,
        mean=rows.mean(axis=0),
        scale=np.where(scale < 1e-6, 1.0, scale),
        coefficients=np.zeros((12, len(FEATURES))),
        intercepts=np.full(12, 2.0),
        threshold=0.5,
    )
