"""Training K heads on a backbone from a folder: they learn, go on where they were killed, and are scored alike."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from annotator.core.solutions import Step
from annotator.scorers import make
from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.builtin.fit import Example, NothingToLearn
from annotator.scorers.local.folders import InvalidModel
from annotator.scorers.local.training import CHECKPOINT, Trained, TrainingCancelled, settings_of, train
from annotator.scorers.remote import InvalidSettings
from tests.scorers import tiny_models as tiny

pytest.importorskip("peft", reason=tiny.WANTED)
torch = tiny.torch
#: peft asks a model by a name that transformers is giving up.
pytestmark = pytest.mark.filterwarnings("ignore:.is_gradient_checkpointing:FutureWarning")

FULL = {
    "heads": 3,
    "inner": 8,
    "distance": 0.1,
    "epochs": 3,
    "rate": 0.02,
    "solutions": 4,
    "lora_rank": 0,
    "validation": 0.2,
    "checkpoint_steps": 4,
    "device": "cpu",
}


class Killed(BaseException):
    """The process is gone."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Qwen 2 as it comes from its pretraining: no marker's meaning, no heads."""
    tokenizer = tiny.qwen_tokenizer()
    return tiny.save(tmp_path_factory.mktemp("base") / "qwen", tiny.qwen(tokenizer), tokenizer)


def examples(count: int = 24) -> list[Example]:
    """Sums of which some are wrong; what follows a wrong one is undefined."""
    draw = random.Random(5)
    made = []
    for number in range(count):
        steps, targets = [Step("given: sums", kind="tool", judged=False)], [None]
        wrong = draw.randrange(4)
        for place in range(3):
            steps.append(Step("!!!" if place == wrong else "ok."))
            targets.append(None if place > wrong else float(place != wrong))
        made.append(Example(f"Add {number % 12}.", tuple(steps), tuple(targets), group=str(number % 12)))
    return made


def learnt(base: Path, folder: Path, given: Sequence[Example] | None = None, **config: Any) -> Trained:
    return train(
        examples() if given is None else given,
        {**FULL, "base": str(base), **config},
        folder,
        cancelled=lambda: False,
        progress=lambda *_said: None,
    )


def curves(trained: Trained) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in trained.curves.read_text().splitlines()]
    return [{name: value for name, value in line.items() if name != "seconds"} for line in lines]


def weights(trained: Trained) -> dict[str, Any]:
    return dict(tiny.load_file(trained.folder / "model.safetensors"))


def scores(folder: Path, given: Sequence[Example]) -> list[Scored]:
    config = {"family": "actprm", "path": str(folder), "device": "cpu"}
    found = make("local", config, model_folders=[str(folder.parent)]).score(
        [ScoringInput(one.problem, one.steps) for one in given], cancelled=lambda: False
    )
    assert all(isinstance(one, Scored) for one in found), found
    return [one for one in found if isinstance(one, Scored)]


def said_of(found: Sequence[Scored], wanted: float) -> list[float]:
    """Values of all steps whose label is this."""
    return [
        value
        for one, example in zip(found, examples(), strict=True)
        for value, target in zip(one.values, example.targets, strict=True)
        if target == wanted and value is not None
    ]


@pytest.mark.parametrize("rank", [0, 4])
def test_it_learns_what_the_labels_say_and_the_exported_model_scores_the_same(
    base: Path, tmp_path: Path, rank: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from annotator.scorers.local import backbones

    said: list[list[float]] = []
    export = backbones.export

    def before(backbone: Any, heads: Any, *rest: Any) -> None:
        """What the model in training says of each example, alone in its batch."""
        backbone.model.eval()
        for one in examples():
            prompt = backbone.tokens.encode(ScoringInput(one.problem, one.steps))
            with torch.no_grad():
                logits = heads.logits(backbone.states([prompt]))
            said.append(torch.sigmoid(logits).mean(dim=1).tolist())
        export(backbone, heads, *rest)

    monkeypatch.setattr(backbones, "export", before)
    trained = learnt(base, tmp_path / "run", lora_rank=rank, epochs=7, validation=0.0)

    lines = [line for line in curves(trained) if "loss" in line]
    assert lines[-1]["entropy"] < 0.7 * lines[0]["entropy"]
    found = scores(trained.folder, examples())
    pairs = [
        (value, wanted)
        for one, row in zip(found, said, strict=True)
        for value, wanted in zip([v for v in one.values if v is not None], row, strict=True)
    ]
    most = max(abs(value - wanted) for value, wanted in pairs)
    logging.getLogger(__name__).info("largest difference %.1e", most)  # --log-cli-level=INFO shows it
    assert most < 2e-5
    right, wrong = said_of(found, 1.0), said_of(found, 0.0)
    assert min(right) > max(wrong)
    assert all(width is not None and width > 0 for width in found[0].spread[1:])


def killed_at(step: int) -> Callable[[str, int, int], None]:
    def progress(what: str, done: int, _total: int) -> None:
        if what == "learning" and done == step:
            raise Killed

    return progress


@pytest.mark.parametrize("rank", [0, 4])
def test_a_run_that_was_killed_comes_to_the_same_numbers(base: Path, tmp_path: Path, rank: int) -> None:
    whole = learnt(base, tmp_path / "whole", lora_rank=rank, share=0.7)
    config = {**FULL, "base": str(base), "lora_rank": rank, "share": 0.7}

    for step in (6, 10):  # checkpoints stand at 4 and 8
        with pytest.raises(Killed):
            train(examples(), config, tmp_path / "cut", cancelled=lambda: False, progress=killed_at(step))
    assert (tmp_path / "cut" / CHECKPOINT).exists()
    steps: list[int] = []
    resumed = train(
        examples(),
        config,
        tmp_path / "cut",
        cancelled=lambda: False,
        progress=lambda what, done, _total: steps.append(done) if what == "learning" else None,
    )

    assert steps[0] == 8
    assert curves(resumed) == curves(whole)
    one, other = weights(resumed), weights(whole)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)
    assert not (tmp_path / "cut" / CHECKPOINT).exists()


def test_a_cancelled_run_keeps_what_it_learnt(base: Path, tmp_path: Path) -> None:
    asked = 0

    def cancelled() -> bool:
        nonlocal asked
        asked += 1
        return asked > 6

    with pytest.raises(TrainingCancelled):
        train(
            examples(),
            {**FULL, "base": str(base)},
            tmp_path / "run",
            cancelled=cancelled,
            progress=lambda *_: None,
        )
    steps: list[int] = []
    train(
        examples(),
        {**FULL, "base": str(base)},
        tmp_path / "run",
        cancelled=lambda: False,
        progress=lambda what, done, _total: steps.append(done) if what == "learning" else None,
    )

    assert steps[0] > 4, "it began where it was cancelled, not at the last regular checkpoint"


def test_other_labels_are_another_run(base: Path, tmp_path: Path) -> None:
    with pytest.raises(Killed):
        train(
            examples(),
            {**FULL, "base": str(base)},
            tmp_path / "run",
            cancelled=lambda: False,
            progress=killed_at(6),
        )

    again = learnt(base, tmp_path / "run", examples()[:16], epochs=1)

    assert curves(again) == curves(learnt(base, tmp_path / "fresh", examples()[:16], epochs=1))


def test_a_finished_run_is_not_done_again(base: Path, tmp_path: Path) -> None:
    first = learnt(base, tmp_path / "run", epochs=1)
    told: list[str] = []

    second = train(
        examples(),
        {**FULL, "base": str(base), "epochs": 1},
        tmp_path / "run",
        cancelled=lambda: False,
        progress=lambda what, *_rest: told.append(what),
    )

    assert second == first
    assert not told


def test_what_came_out_can_be_trained_further(base: Path, tmp_path: Path) -> None:
    """Two stages: automatic labels first, people's after them, heads and all."""
    first = learnt(base, tmp_path / "first", epochs=1)
    second = learnt(first.folder, tmp_path / "second", epochs=1, rate=1e-6)

    one, other = weights(first), weights(second)
    name = "score.model.nn1.weight"
    assert torch.allclose(one[name], other[name], atol=1e-3)
    assert torch.equal(one[name], other["score.reg_model.nn1.weight"])
    with pytest.raises(InvalidModel, match="3 heads, not 5"):
        learnt(first.folder, tmp_path / "third", heads=5)


def test_the_penalty_keeps_heads_near_where_they_began(base: Path, tmp_path: Path) -> None:
    def moved(trained: Trained) -> float:
        found = weights(trained)
        ways = [
            (found[name] - found[name.replace("score.model", "score.reg_model")]).square().mean()
            for name in found
            if name.startswith("score.model")
        ]
        return float(sum(ways))

    loose = moved(learnt(base, tmp_path / "loose", distance=0.0, epochs=1))
    held = moved(learnt(base, tmp_path / "held", distance=1000.0, epochs=1))

    assert held < 0.5 * loose


def test_a_backbone_without_marker_and_chat_template_gets_them(tmp_path: Path) -> None:
    tokenizer = tiny.byte_tokenizer(["<|endoftext|>"])
    base = tiny.save(tmp_path / "bare", tiny.llama(tokenizer), tokenizer)

    trained = learnt(base, tmp_path / "run", epochs=1)

    assert scores(trained.folder, examples()[:2])


def test_validation_problems_are_looked_at_and_not_learnt_from(base: Path, tmp_path: Path) -> None:
    trained = learnt(base, tmp_path / "run")

    assert trained.examples == 20  # 2 of 12 problems, two examples each, are held back
    assert 0 < trained.validation["brier"] < 0.25
    assert [line["epoch"] for line in curves(trained) if "validation" in line] == [1, 2, 3]


def test_examples_that_can_not_be_learnt_from_are_counted(base: Path, tmp_path: Path) -> None:
    long = Example("Add.", (Step("1 + 1 = 2. " * 100),), (1.0,), group="long")
    silent = Example("Add.", (Step("1 + 1 = 2."),), (None,), group="silent")

    trained = learnt(base, tmp_path / "run", [*examples(), long, silent], epochs=1)

    assert trained.left_out == {"too long": 1, "no judged step": 1}


def test_labels_of_one_kind_teach_nothing(base: Path, tmp_path: Path) -> None:
    with pytest.raises(NothingToLearn, match="one kind only"):
        learnt(base, tmp_path / "run", [Example("Add.", (Step("1 + 1 = 2."),), (1.0,), group="a")])


def test_a_model_that_sees_later_tokens_is_not_trained(tmp_path: Path) -> None:
    tokenizer = tiny.qwen_tokenizer()
    base = tiny.save(tmp_path / "encoder", tiny.BertModel(tiny.encoder(tokenizer).config), tokenizer)

    with pytest.raises(InvalidModel, match="causal"):
        learnt(base, tmp_path / "run")


@pytest.mark.parametrize(
    "config", [{"heads": 0}, {"rate": "fast"}, {"epochs": 1.5}, {"device": "tpu"}, {"learning_rate": 1e-4}]
)
def test_settings_that_do_not_fit_are_refused(config: dict[str, Any]) -> None:
    with pytest.raises(InvalidSettings):
        settings_of(config)


def test_training_names_its_base(tmp_path: Path) -> None:
    with pytest.raises(InvalidSettings, match="'base' is missing"):
        train(examples(), {}, tmp_path, cancelled=lambda: False, progress=lambda *_: None)
