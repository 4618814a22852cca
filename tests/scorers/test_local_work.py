"""A local model from the form to the scores in the database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from annotator import jobs
from annotator.actions import scorers, scoring, training
from annotator.models import Project, Role, Score, Scorer, ScorerVersion, ScorerWeights
from annotator.queries.training_state import state_of
from tests import factories as make
from tests.actions.lessons import pool, trained
from tests.scorers import tiny_models as tiny

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Path:
    """A tiny Qwen PRM in a folder that is open to scorers."""
    settings.STEPMARK_MODEL_FOLDERS = [str(tmp_path)]
    tokenizer = tiny.qwen_tokenizer()
    return tiny.save(tmp_path / "prm", tiny.qwen(tokenizer), tokenizer, tiny.head("qwen_prm"))


@pytest.fixture
def heads(folder: Path) -> Path:
    """A tiny ActPRM beside it."""
    tokenizer = tiny.qwen_tokenizer()
    made = tiny.save(folder.with_name("act"), tiny.qwen(tokenizer), tokenizer, tiny.head("actprm"))
    config = json.loads((made / "config.json").read_text())
    (made / "config.json").write_text(json.dumps({**config, "num_ensemble": tiny.MEMBERS}))
    return made


def add(project: Project, **config: Any) -> Scorer:
    manager = make.actor(project, Role.MANAGER)
    return scorers.add(
        actor=manager, name="prm", kind="local", config={"path": "prm", "device": "cpu", **config}
    )


def work_off(scorer: Scorer) -> None:
    while (job := jobs.claim(scoring.QUEUE)) is not None:
        {scoring.PLAN: scoring.plan, scoring.SCORE: scoring.score_batch}[job.kind](job=job)
        jobs.finish(job)


def test_a_worker_scores_with_a_model_of_this_machine(folder: Path) -> None:
    project = make.project()
    solution = make.solution(project)
    scorer = add(project)

    work_off(scorer)

    score = Score.objects.get(version__scorer=scorer)
    assert score.solution == solution
    assert len(score.values) == solution.n_steps
    assert score.version.version.startswith("local:qwen_prm/1:")
    assert score.version.version.endswith(":prm")


def test_a_folder_outside_the_list_can_not_be_added(folder: Path, settings: Any) -> None:
    settings.STEPMARK_MODEL_FOLDERS = [str(folder / "elsewhere")]

    with pytest.raises(scorers.Refused, match="STEPMARK_MODEL_FOLDERS"):
        add(make.project(), path=str(folder))


def test_a_page_loads_no_model(folder: Path) -> None:
    project = make.project()
    solution = make.solution(project)
    scorer = add(project)

    with pytest.raises(scorers.Unanswered, match="workers alone"):
        scorers.try_on(
            actor=make.actor(project, Role.MANAGER), scorer_id=scorer.pk, solution=f"#{solution.pk}"
        )


@pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")
def test_a_model_of_this_machine_learns_from_a_projects_labels(heads: Path) -> None:
    pytest.importorskip("peft", reason=tiny.WANTED)
    project = make.project()
    scorer = add(project, path="act", family="actprm")
    pool(project, 30)
    training.ask(actor=make.actor(project, Role.MANAGER), scorer_id=scorer.pk)
    trained()

    version = ScorerVersion.objects.get(scorer=scorer, status="challenger")
    kept = ScorerWeights.objects.get(version=version)
    model = Path(bytes(kept.data).decode())
    assert kept.format == "folder"
    assert (model / "model.safetensors").exists()
    assert model.is_relative_to(heads.parent)
    assert version.training["metrics"]["solutions"] == 30
    made = scoring.made_of("local", {**scorer.config, "path": str(model)})
    assert made.version == version.version
    assert not list(model.parents[1].glob("part-*")), "models that were only looked at are gone"


def test_a_model_with_another_head_is_not_trained(folder: Path) -> None:
    project = make.project()
    scorer = add(project)
    pool(project, 30)
    training.ask(actor=make.actor(project, Role.MANAGER), scorer_id=scorer.pk)
    trained()

    state = state_of(project, scorer.pk)
    assert state is not None
    assert state.state == "failed"
    assert "family actprm" in state.said
