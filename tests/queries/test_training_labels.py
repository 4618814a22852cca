"""What a scorer may learn from, and what it is judged by."""

from __future__ import annotations

from typing import Any

import pytest

from annotator.core.labels import Mode
from annotator.models import (
    Adjudication,
    AdjudicationCase,
    Annotation,
    Consensus,
    Gold,
    Membership,
    Project,
    Score,
    Scorer,
    ScorerVersion,
    Solution,
)
from annotator.queries.training_labels import holdout, labels_of, snapshot
from tests import factories as make
from tests.actions.lessons import agree, crew, labelled

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make.project()


def decided(solution: Solution, *labels: int | None, stop: int | None) -> None:
    Adjudication.objects.create(
        solution=solution,
        member=crew(solution.project, 1)[0],
        n_steps=solution.n_steps,
        labels=list(labels),
        stop=stop,
    )


def judge(project: Project, kind: str = "critic") -> ScorerVersion:
    scorer = Scorer.objects.create(project=project, name=f"j{Scorer.objects.count()}", kind=kind, ranks=False)
    return ScorerVersion.objects.create(scorer=scorer, version="v", measures="correctness", threshold=0.5)


def thinks(version: ScorerVersion, solution: Solution, stop: int) -> None:
    Score.objects.create(
        solution=solution,
        version=version,
        n_steps=solution.n_steps,
        values=[0.9] * solution.n_steps,
        spread=[None] * solution.n_steps,
        priority=0.0,
        tiebreak=0.0,
        predicted_stop=stop,
    )


def test_what_people_agree_on_is_learnt_up_to_the_error(project: Project) -> None:
    labelled(project, 1)
    (lesson,) = snapshot(project).people
    assert (lesson.targets, lesson.weight, lesson.source) == ((1.0, 0.0, None), 1.0, "human")


def test_a_reviewers_word_stands_above_the_consensus(project: Project) -> None:
    solution = labelled(project, 1, n=2)
    decided(solution, 1, 0, 1, stop=-1)
    (lesson,) = snapshot(project).people
    assert (lesson.targets, lesson.source) == ((1.0, 1.0, 1.0), "adjudicated")


def test_a_checked_posterior_softens_and_an_unchecked_one_does_not(project: Project) -> None:
    checked = labelled(project, 1, n=3, posterior=0.8)
    unchecked = labelled(project, 1, n=3)
    Consensus.objects.filter(solution=unchecked).update(posterior=0.8)  # what the plurality's model claims
    targets = {one.solution_id: one.targets for one in snapshot(project).people}
    assert targets == {checked.pk: (0.933, 0.143, None), unchecked.pk: (1.0, 0.0, None)}


def test_in_all_steps_each_judged_step_is_learnt_from() -> None:
    project = make.project(mode=Mode.ALL_STEPS)
    solution = labelled(project, 1)
    Consensus.objects.filter(solution=solution).update(labels=[0, -1, 1])
    (lesson,) = snapshot(project).people
    assert lesson.targets == (1.0, 0.0, 1.0)


def _gold(project: Project, solution: Solution) -> None:
    Gold.objects.create(solution=solution, project=project, n_steps=3, accept=[4, 4, 4], source="import")


def _disputed(project: Project, solution: Solution) -> None:
    AdjudicationCase.objects.create(solution=solution, project=project, reason="dispute")


def _tied(project: Project, solution: Solution) -> None:
    Consensus.objects.filter(solution=solution).update(state="tied", labels=[None] * 3, stop=None)


def _uncounted(project: Project, solution: Solution) -> None:
    Annotation.objects.filter(solution=solution).update(counted=False, uncounted_reason="quarantine")
    Consensus.objects.filter(solution=solution).delete()  # as the job after a quarantine does


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (_gold, "gold"),
        (_disputed, "waits_for_a_reviewer"),
        (_tied, "tied"),
        (_uncounted, "no_label_counts"),
    ],
)
def test_left_out_and_counted_as(project: Project, change: Any, reason: str) -> None:
    change(project, labelled(project))
    found = snapshot(project)
    assert (list(found.people), found.left_out) == ([], {reason: 1})


def test_a_case_drawn_at_random_does_not_hold_a_label_back(project: Project) -> None:
    solution = labelled(project)
    AdjudicationCase.objects.create(solution=solution, project=project, reason="random")
    assert len(snapshot(project).people) == 1


def test_a_problem_called_bad_by_a_reviewer_teaches_nothing(project: Project) -> None:
    decided(labelled(project), None, None, None, stop=None)
    assert not snapshot(project).people


def test_the_holdout_is_never_learnt_from(project: Project) -> None:
    solution = labelled(project, n=3, holdout=True)
    thinks(judge(project), solution, -1)
    found = snapshot(project)
    assert (list(found.people), list(found.automatic), labels_of(project)) == ([], [], 0)
    assert found.left_out == {"holdout": 1}


def test_the_holdout_counts_from_three_labels_or_a_reviewers_word(project: Project) -> None:
    three = labelled(project, 1, n=3, holdout=True, posterior=0.8)
    labelled(project, n=2, holdout=True)
    reviewed = labelled(project, n=1, holdout=True)
    decided(reviewed, 1, -1, None, stop=1)
    assert {one.solution_id: one.targets for one in holdout(project)} == {
        three.pk: (1.0, 0.0, None),
        reviewed.pk: (1.0, 0.0, None),
    }


def test_other_projects_teach_nothing(project: Project) -> None:
    labelled(make.project())
    assert not snapshot(project).people


def test_the_snapshots_hash_changes_with_a_label_and_with_nothing_else(project: Project) -> None:
    solution = labelled(project, 1)
    first = snapshot(project).sha256
    Membership.objects.update(pseudonym="someone-else")
    assert snapshot(project).sha256 == first
    Consensus.objects.filter(solution=solution).update(stop=-1, labels=[1, 1, 1])
    assert snapshot(project).sha256 != first


def test_a_judge_teaches_what_no_person_has_labelled_with_less_weight(project: Project) -> None:
    version = judge(project)
    people, rest = labelled(project), make.solution(project)
    for solution in (people, rest):
        thinks(version, solution, 1)
    found = snapshot(project)
    (lesson,) = found.automatic
    assert (lesson.solution_id, lesson.targets, lesson.source) == (rest.pk, (1.0, 0.0, None), "judge")
    assert lesson.weight < found.people[0].weight
    assert not snapshot(project, automatic=False).automatic


def test_where_judge_and_monte_carlo_differ_neither_teaches(project: Project) -> None:
    first, second = judge(project), judge(project, "monte_carlo")
    same, other = make.solution(project), make.solution(project)
    for version, solution, stop in [
        (first, same, 1),
        (second, same, 1),
        (first, other, 1),
        (second, other, -1),
    ]:
        thinks(version, solution, stop)
    (lesson,) = snapshot(project).automatic
    assert (lesson.solution_id, lesson.source) == (same.pk, "judge+monte_carlo")


def test_what_the_scorers_in_use_say_is_no_label(project: Project) -> None:
    thinks(judge(project, "vllm"), make.solution(project), 1)
    assert not snapshot(project).automatic


def test_chunks_lose_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.queries.training_labels.CHUNK", 2)
    made = [labelled(project) for _ in range(5)]
    agree(make.solution(project), -1)
    signs: list[int] = []
    found = snapshot(project, progress=lambda: signs.append(1))
    assert len(found.people) == len(made) + 1
    assert len(signs) == 3
