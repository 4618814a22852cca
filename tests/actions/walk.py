"""A project with one of everything, and how to come to do each verb that leaves an event."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from annotator.actions import (
    adjudication,
    aids,
    alerts,
    calibration,
    exports,
    gold,
    import_jobs,
    kept_weights,
    labeling,
    members,
    pictures,
    projects,
    promotion,
    questions,
    recutting,
    relabeling,
    resegmenting,
    reserving,
    scoring,
    second_pass,
    standing,
    training,
)
from annotator.actions.access import Actor
from annotator.actions.adjudication import Decision
from annotator.actions.reserving import Where
from annotator.core.screening import Override
from annotator.core.segmentation import changes
from annotator.core.solutions import Step
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Alert,
    Assignment,
    Gold,
    Guidelines,
    ImportBatch,
    Membership,
    Problem,
    Project,
    QueueRow,
    Role,
    Scorer,
    ScorerVersion,
    Solution,
)
from tests import factories as make
from tests.actions.flow import claim, label
from tests.core.test_pictures import drawn


@dataclass
class Room:
    """A project with one of everything."""

    project: Project
    manager: Actor
    reviewer: Actor
    annotator: Actor
    other: Membership

    @property
    def row(self) -> QueueRow:
        return make.work(self.project)

    def held(self) -> Assignment:
        make.work(self.project)
        return claim(self.annotator)

    def submitted(self) -> Assignment:
        make.work(self.project)
        return label(self.annotator, 1, -1, None)

    def case(self) -> AdjudicationCase:
        row = self.row
        case = AdjudicationCase.objects.create(solution_id=row.pk, project=self.project, reason="tie")
        return adjudication.take(actor=self.reviewer, case_id=case.pk)

    def decided(self) -> int:
        row = self.row
        Adjudication.objects.create(
            solution_id=row.pk,
            member_id=self.reviewer.member,
            n_steps=3,
            labels=[1, 1, 1],
            stop=-1,
            reason="x",
        )
        return row.pk

    def gold(self) -> Gold:
        return make.gold(self.project)

    def subject(self) -> Where:
        row = self.row
        Problem.objects.filter(pk=row.solution.problem_id).update(subject="Sets")
        return Where(subject="Sets")

    def outdated(self) -> Where:
        Guidelines.objects.create(project=self.project, version=1, text="old")
        solution = self.submitted().solution
        Guidelines.objects.create(project=self.project, version=2, text="new")
        return Where(batch_id=solution.batch_id)

    def batch(self, state: str = "queued") -> int:
        """An import that a worker is to run."""
        made = make.batch(self.project)
        ImportBatch.objects.filter(pk=made.pk).update(state=state, upload=uuid.uuid4())
        return made.pk

    def small_rounds(self) -> None:
        Project.objects.filter(pk=self.project.pk).update(calibration_size=1)
        make.gold(self.project)


def _closed_alert(room: Room) -> Callable[[], object]:
    alerts.open_alert(project_id=room.project.pk, kind="k", subject="s", sentence="Look.")
    return lambda: alerts.close(actor=room.manager, alert_id=Alert.objects.get().pk)


def _open_round(room: Room) -> Callable[[], object]:
    room.small_rounds()
    calibration.start(actor=room.manager)
    return lambda: calibration.close(actor=room.manager)


def _new_round(room: Room) -> Callable[[], object]:
    room.small_rounds()
    return lambda: calibration.start(actor=room.manager)


def _revoked(room: Room) -> Callable[[], object]:
    made = members.invite(actor=room.manager, role=Role.ANNOTATOR).invitation
    return lambda: members.revoke(actor=room.manager, invitation_id=made.pk)


def _decision(room: Room) -> Callable[[], object]:
    case = room.case()
    decision = Decision([1, 1, 1], "Because.")
    return lambda: adjudication.decide(actor=room.reviewer, case_id=case.pk, decision=decision)


def _taken(room: Room) -> Callable[[], object]:
    case = AdjudicationCase.objects.create(solution_id=room.row.pk, project=room.project, reason="tie")
    return lambda: adjudication.take(actor=room.reviewer, case_id=case.pk)


def _next_taken(room: Room) -> Callable[[], object]:
    AdjudicationCase.objects.create(solution_id=room.row.pk, project=room.project, reason="tie")
    return lambda: adjudication.take_next(actor=room.reviewer)


def _put_back(room: Room) -> Callable[[], object]:
    case = room.case()
    return lambda: adjudication.put_back(actor=room.reviewer, case_id=case.pk)


def _on_gold(do: Callable[..., object], **fields: Any) -> Callable[[Room], Callable[[], object]]:
    def prepared(room: Room) -> Callable[[], object]:
        item = room.gold()
        Gold.objects.filter(pk=item.pk).update(suspect=do is gold.clear, retired=do is gold.bring_back)
        return lambda: do(actor=room.manager, solution_id=item.pk, **fields)

    return prepared


def _gold_made(room: Room) -> Callable[[], object]:
    solution_id = room.decided()
    return lambda: gold.make(actor=room.reviewer, solution_id=solution_id)


def _submit(room: Room) -> Callable[[], object]:
    held = room.held()
    return lambda: labeling.submit(actor=room.annotator, assignment_id=held.pk, work=make.marked(1, 1, 1))


def _reopened(room: Room) -> Callable[[], object]:
    done = room.submitted()
    return lambda: labeling.reopen(actor=room.annotator, assignment_id=done.pk)


def _skip(room: Room) -> Callable[[], object]:
    held = room.held()
    return lambda: labeling.skip(actor=room.annotator, assignment_id=held.pk, reason="x")


def _aid(room: Room) -> Callable[[], object]:
    held = room.held()
    return lambda: aids.open_aid(actor=room.annotator, assignment_id=held.pk, name="answer")


def _question(room: Room) -> Callable[[], object]:
    held = room.held()
    return lambda: questions.ask(actor=room.annotator, assignment_id=held.pk, text="Why?")


def _answer(room: Room) -> Callable[[], object]:
    asked = questions.ask(actor=room.annotator, assignment_id=room.held().pk, text="Why?")
    return lambda: questions.answer(actor=room.reviewer, question_id=asked.pk, text="So.", publish=True)


def _on_member(do: Callable[..., object], **fields: Any) -> Callable[[Room], Callable[[], object]]:
    return lambda room: lambda: do(actor=room.manager, member_id=room.other.pk, **fields)


def _reserve(room: Room) -> Callable[[], object]:
    where = room.subject()
    return lambda: reserving.reserve(actor=room.manager, where=where, skill="sets")


def _relabel(room: Room) -> Callable[[], object]:
    where = room.outdated()
    return lambda: relabeling.relabel(actor=room.manager, where=where)


def _picture(room: Room) -> Callable[[], object]:
    return lambda: pictures.keep(actor=room.manager, data=drawn())


def _attached(room: Room) -> Callable[[], object]:
    Problem.objects.filter(pk=room.row.solution.problem_id).update(external_id="p1")
    kept = pictures.keep(actor=room.manager, data=drawn())
    return lambda: pictures.attach(actor=room.manager, problem="p1", sha256=kept.sha256, alt="A cat")


def _recut(room: Room) -> Callable[[], object]:
    made = make.work(room.project, texts=("One. Two.", "three")).solution
    where = Where(batch_id=made.batch_id)
    return lambda: recutting.recut(actor=room.manager, where=where, rule="sentence")


def _resegment(room: Room) -> Callable[[], object]:
    old = room.row.solution
    steps = changes.merged([Step.from_json(step) for step in old.steps], 0)
    return lambda: resegmenting.resegment(actor=room.manager, solution_id=old.pk, steps=steps)


def _uncut(room: Room) -> Callable[[], object]:
    _resegment(room)()
    new = Solution.objects.get(derived_from__isnull=False)
    return lambda: resegmenting.undo(actor=room.manager, solution_id=new.pk)


def _scores(room: Room) -> Callable[[], object]:
    make.solution(room.project)
    return lambda: scoring.request(actor=room.manager)


def _refined(room: Room) -> Callable[[], object]:
    second = Scorer.objects.create(project=room.project, name="second", kind="builtin", ranks=False)
    first = room.project.scorers.get(ranks=True)
    return lambda: second_pass.refine(actor=room.manager, scorer_id=second.pk, refines_id=first.pk)


def _of_scorer(do: Callable[..., object]) -> Callable[[Room], Callable[[], object]]:
    return lambda room: lambda: do(actor=room.manager, scorer_id=room.project.scorers.get().pk)


def _under_way(room: Room) -> Callable[[], object]:
    training.ask(actor=room.manager, scorer_id=room.project.scorers.get().pk)
    return _of_scorer(training.cancel)(room)


def _challenged(room: Room) -> tuple[Scorer, ScorerVersion]:
    scorer = room.project.scorers.get()
    _, present = scoring.current_version(scorer)
    new = ScorerVersion.objects.create(
        scorer=scorer, version="new", threshold=0.5, status="challenger", parent=present
    )
    kept_weights.keep(new, b"{}")
    return scorer, new


def _used_anyway(room: Room) -> Callable[[], object]:
    scorer, new = _challenged(room)
    return lambda: promotion.use_anyway(actor=room.manager, scorer_id=scorer.pk, version_id=new.pk)


def _rolled_back(room: Room) -> Callable[[], object]:
    scorer, new = _challenged(room)
    Scorer.objects.filter(pk=scorer.pk).update(champion=new)
    return lambda: promotion.roll_back(actor=room.manager, scorer_id=scorer.pk)


CHANGES = members.Changes(role=Role.REVIEWER, skills=["sets"], cap=3)
#: verb → (its event, whether it says what was before and after, how to come to do it)
WALK: dict[str, tuple[str, bool, Callable[[Room], Callable[[], object]]]] = {
    "adjudication.decide": ("case:decided", True, _decision),
    "adjudication.put_back": ("case:put_back", True, _put_back),
    "adjudication.take": ("case:taken", True, _taken),
    "adjudication.take_next": ("case:taken", True, _next_taken),
    "aids.open_aid": ("aid:opened", False, _aid),
    "alerts.close": ("alert:closed", True, _closed_alert),
    "calibration.close": ("calibration:closed", True, _open_round),
    "calibration.start": ("calibration:started", True, _new_round),
    "exports.ask": (
        "export:started",
        False,
        lambda room: lambda: exports.ask(actor=room.manager, recipe=exports.Recipe()),
    ),
    "exports.start": (
        "export:started",
        False,
        lambda room: lambda: exports.start(actor=room.manager, recipe=exports.Recipe()),
    ),
    "gold.bring_back": ("gold:brought_back", True, _on_gold(gold.bring_back)),
    "gold.clear": ("gold:cleared", True, _on_gold(gold.clear)),
    "gold.make": ("gold:made", True, _gold_made),
    "gold.retire": ("gold:retired", True, _on_gold(gold.retire, reason="easy")),
    "gold.set_use": ("gold:use_changed", True, _on_gold(gold.set_use, use=Gold.Use.EXAM)),
    "import_jobs.cancel": (
        "import:cancel_asked",
        False,
        lambda room: lambda: import_jobs.cancel(actor=room.manager, batch_id=room.batch()),
    ),
    "import_jobs.pause": (
        "import:pause_asked",
        False,
        lambda room: lambda: import_jobs.pause(actor=room.manager, batch_id=room.batch()),
    ),
    "import_jobs.resume": (
        "import:resumed",
        False,
        lambda room: lambda: import_jobs.resume(actor=room.manager, batch_id=room.batch("paused")),
    ),
    "labeling.reopen": ("annotation:reopened", False, _reopened),
    "labeling.skip": ("assignment:skipped", False, _skip),
    "labeling.submit": ("annotation:submitted", False, _submit),
    "members.change": ("member:changed", True, _on_member(members.change, changes=CHANGES)),
    "members.invite": (
        "member:invited",
        False,
        lambda room: lambda: members.invite(actor=room.manager, role=Role.REVIEWER),
    ),
    "members.remove": ("member:removed", True, _on_member(members.remove, reason="left")),
    "members.revoke": ("invitation:revoked", False, _revoked),
    "members.set_exam": ("exam:set", True, _on_member(members.set_exam, passed=True, reason="known")),
    "pictures.attach": ("picture:attached", True, _attached),
    "pictures.keep": ("picture:kept", False, _picture),
    "projects.change_settings": (
        "project:changed",
        True,
        lambda room: lambda: projects.change_settings(actor=room.manager, values={"siblings": 1}),
    ),
    "projects.write_guidelines": (
        "guidelines:written",
        True,
        lambda room: lambda: projects.write_guidelines(actor=room.manager, text="Be strict."),
    ),
    "promotion.roll_back": ("scorer:rolled_back", True, _rolled_back),
    "promotion.use_anyway": ("scorer:promoted", True, _used_anyway),
    "questions.answer": ("question:answered", True, _answer),
    "questions.ask": ("question:asked", False, _question),
    "relabeling.relabel": ("annotations:outdated", True, _relabel),
    "reserving.reserve": ("queue:reserved", True, _reserve),
    "recutting.recut": ("solution:resegmented", True, _recut),
    "resegmenting.resegment": ("solution:resegmented", True, _resegment),
    "resegmenting.undo": ("solution:segmentation_restored", True, _uncut),
    "scoring.request": ("scoring:requested", False, _scores),
    "second_pass.refine": ("scorer:refines", True, _refined),
    "training.ask": ("scorer:training_asked", False, _of_scorer(training.ask)),
    "training.cancel": ("scorer:training_cancelled", False, _under_way),
    "training.set_prices": (
        "scorer:priced",
        True,
        lambda room: (
            lambda: training.set_prices(
                actor=room.manager, scorer_id=room.project.scorers.get().pk, prices={"per_hour": 2.0}
            )
        ),
    ),
    "training.set_triggers": (
        "project:changed",
        True,
        lambda room: lambda: training.set_triggers(actor=room.manager, every=50, hours=None, automatic=True),
    ),
    "standing.override": (
        "member:paused",
        True,
        _on_member(standing.override, word=Override.PAUSE, reason="ill"),
    ),
}
