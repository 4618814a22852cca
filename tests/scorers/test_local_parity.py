"""Each family's scores equal a plain computation of its documented readout: one solution, no padding, whole logits."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from annotator.core.solutions import Step
from annotator.scorers import make
from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.local import prompts
from tests.scorers import tiny_models as tiny

torch = tiny.torch
QUESTION = "Ann has 16 eggs, eats 3 and sells the rest at $2 each. How much does she make?"
SOLUTIONS = (
    ("She has 16 - 3 = 13 eggs left.", "That is 13 * 2 = $26.\nSo she makes $26.", "Answer: \\boxed{26}."),
    ("16 + 3 = 19.",),
    ("Let x be what is left.", "x = 13.", "The price is $2.", "So 13 + 2 = 15.", "No, 13 * 2 = 26."),
)
#: Largest difference that is still rounding: the same sums in another order, in single precision.
ROUNDING = 2e-5


def items() -> list[ScoringInput]:
    return [ScoringInput(QUESTION, tuple(map(Step, steps))) for steps in SOLUTIONS]


def scores(folder: Path, family: str, given: Sequence[ScoringInput], **config: Any) -> list[Scored]:
    settings = {"family": family, "path": folder.name, "device": "cpu", **config}
    scorer = make("local", settings, model_folders=[str(folder.parent)])
    results = scorer.score(given, cancelled=lambda: False)
    assert all(isinstance(one, Scored) for one in results), results
    return [one for one in results if isinstance(one, Scored)]


def difference(found: Sequence[Scored], expected: Sequence[Sequence[float]]) -> float:
    pairs = [
        (value, wanted)
        for one, row in zip(found, expected, strict=True)
        for value, wanted in zip(one.values, row, strict=True)
    ]
    values = [wanted for _, wanted in pairs]
    assert max(values) - min(values) > 0.05, "the model says the same everywhere: nothing is compared"
    most = max(abs(value - wanted) for value, wanted in pairs if value is not None)
    logging.getLogger(__name__).info("largest difference %.1e", most)  # --log-cli-level=INFO shows it
    return most


@pytest.fixture(scope="module")
def qwen() -> tuple[Any, Any]:
    """One backbone for all families that stand on Qwen 2, and its tokenizer."""
    tokenizer = tiny.qwen_tokenizer()
    return tiny.qwen(tokenizer), tokenizer


@pytest.fixture(scope="module")
def llama() -> tuple[Any, Any]:
    tokenizer = tiny.llama_tokenizer()
    return tiny.llama(tokenizer), tokenizer


def states(model: Any, ids: Sequence[int]) -> Any:
    """The last hidden states of one row, (length, width)."""
    with torch.no_grad():
        return model.model(torch.tensor([list(ids)])).last_hidden_state[0]


def qwen_chat(steps: Sequence[str]) -> str:
    system = "Please reason step by step, and put your final answer within \\boxed{}."
    answer = "<extra_0>".join(steps) + "<extra_0>"
    return (
        f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{QUESTION}<|im_end|>\n"
        f"<|im_start|>assistant\n{answer}<|im_end|>\n"
    )


def test_qwen_prm(tmp_path: Path, qwen: tuple[Any, Any]) -> None:
    model, tokenizer = qwen
    head = tiny.head("qwen_prm")
    tiny.save(tmp_path / "model", model, tokenizer, head)
    expected = []
    for steps in SOLUTIONS:
        ids = tokenizer.encode(qwen_chat(steps))
        hidden = states(model, ids)
        inner = torch.relu(hidden @ head["score.0.weight"].T + head["score.0.bias"])
        logits = inner @ head["score.2.weight"].T + head["score.2.bias"]
        mark = tokenizer.convert_tokens_to_ids("<extra_0>")
        expected.append(
            [row.softmax(0)[1].item() for row, one in zip(logits, ids, strict=True) if one == mark]
        )

    found = difference(scores(tmp_path / "model", "qwen_prm", items()), expected)

    assert found < ROUNDING


def test_math_shepherd(tmp_path: Path) -> None:
    tokenizer = tiny.sentencepiece_tokenizer()
    model = tiny.mistral(tokenizer)
    tiny.save(tmp_path / "model", model, tokenizer)
    labels = tokenizer.encode("+ -")[1:]
    tag = tokenizer.encode("ки")[-1]
    assert len(labels) == 2
    expected = []
    for steps in SOLUTIONS:
        output = "\n".join(f"Step {n}: {step} ки" for n, step in enumerate(steps, start=1))
        ids = torch.tensor([tokenizer.encode(f"{QUESTION} {output}")])
        with torch.no_grad():
            good = model(ids).logits[:, :, labels].softmax(dim=-1)[:, :, 0]
        expected.append(good[ids == tag].tolist())

    found = difference(scores(tmp_path / "model", "math_shepherd", items()), expected)

    assert found < ROUNDING


def test_skywork(tmp_path: Path) -> None:
    tokenizer = tiny.qwen_tokenizer(bos="<|endoftext|>")
    model = tiny.qwen(tokenizer)
    head = tiny.head("skywork")
    tiny.save(tmp_path / "model", model, tokenizer, head)
    newline = tokenizer.encode("\n")[-1]
    expected = []
    for steps in SOLUTIONS:
        ids = tokenizer.encode("<|endoftext|>" + QUESTION + "\n")
        flags, last_lines = [], []
        for step in steps:
            for line in step.split("\n"):  # the authors' code takes each line for a step
                ids += [*tokenizer.encode(line), newline]
                flags.append(len(ids) - 1)
            last_lines.append(len(flags) - 1)
        values = states(model, ids) @ head["v_head.summary.weight"].T + head["v_head.summary.bias"]
        rewards = [torch.sigmoid(values[flag, 0]).item() for flag in flags]
        expected.append([rewards[index] for index in last_lines])

    found = difference(scores(tmp_path / "model", "skywork", items()), expected)

    assert found < ROUNDING


def test_rlhflow(tmp_path: Path, llama: tuple[Any, Any]) -> None:
    model, tokenizer = llama
    tiny.save(tmp_path / "model", model, tokenizer)
    labels = [tokenizer.encode("+")[-1], tokenizer.encode("-")[-1]]
    expected = []
    for steps in SOLUTIONS:
        text, row = "<|begin_of_text|>", []
        for index, step in enumerate(steps):
            said = f"{QUESTION} {step}" if index == 0 else step
            text += f"<|start_header_id|>user<|end_header_id|>\n\n{said}<|eot_id|>"
            text += "<|start_header_id|>assistant<|end_header_id|>\n\n+<|eot_id|>"
            ids = tokenizer.encode(text, add_special_tokens=False)
            assert tokenizer.decode(ids[-2]) == "+"
            with torch.no_grad():
                logits = model(torch.tensor([ids])).logits[0, -3, labels]
            row.append(logits.softmax(0)[0].item())
        expected.append(row)

    found = difference(scores(tmp_path / "model", "rlhflow", items()), expected)

    assert found < ROUNDING


def test_versaprm(tmp_path: Path, llama: tuple[Any, Any]) -> None:
    model, tokenizer = llama
    tiny.save(tmp_path / "model", model, tokenizer)
    labels = [tokenizer.encode("-")[-1], tokenizer.encode("+")[-1]]
    tag = tokenizer.encode(" \n\n\n\n")[-1]
    expected = []
    for steps in SOLUTIONS:
        text = QUESTION + " \n\n" + " \n\n\n\n".join(steps) + " \n\n\n\n"
        ids = torch.tensor([tokenizer.encode(text)])
        with torch.no_grad():
            good = model(ids).logits[:, :, labels].softmax(dim=-1)[:, :, 1]
        expected.append(good[ids == tag].tolist())

    found = difference(scores(tmp_path / "model", "versaprm", items()), expected)

    assert found < ROUNDING


def test_openr(tmp_path: Path, qwen: tuple[Any, Any]) -> None:
    model, tokenizer = qwen
    tiny.save(tmp_path / "model", model, tokenizer)
    labels = tokenizer.encode(" + -")
    (tag,) = tokenizer.encode(" \n\n\n\n\n")
    assert len(labels) == 2
    expected = []
    for steps in SOLUTIONS:
        output = " ".join(f"Step {n}: {step} \n\n\n\n\n" for n, step in enumerate(steps, start=1))
        ids = torch.tensor([tokenizer.encode(f"{QUESTION} {output}")])
        with torch.no_grad():
            good = model(ids).logits[:, :, labels].softmax(dim=-1)[:, :, 0]
        expected.append(good[ids == tag].tolist())

    found = difference(scores(tmp_path / "model", "openr", items()), expected)

    assert found < ROUNDING


def test_mm_prm(tmp_path: Path) -> None:
    tokenizer = tiny.qwen_tokenizer()
    model = tiny.internvl(tokenizer)
    tiny.save(tmp_path / "model", model, tokenizer)
    labels = tokenizer.convert_tokens_to_ids(["Yes", "No"])
    tag = tokenizer.convert_tokens_to_ids("<prm>")
    system = (
        "你是书生·万象，英文名是InternVL，"
        "是由上海人工智能实验室、清华大学及多家合作单位联合开发的多模态大语言模型。"
    )
    expected = []
    for steps in SOLUTIONS:
        said = f"Question: {QUESTION}\nProcess: {'<prm>'.join(steps)}<prm>"
        text = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n<|im_start|>assistant\n{said}<|im_end|>\n"
        ids = torch.tensor([tokenizer.encode(text)])
        with torch.no_grad():
            good = model(input_ids=ids).logits[:, :, labels].softmax(dim=-1)[:, :, 0]
        expected.append(good[ids == tag].tolist())

    found = difference(scores(tmp_path / "model", "mm_prm", items()), expected)

    assert found < ROUNDING


def test_actprm(tmp_path: Path, qwen: tuple[Any, Any]) -> None:
    model, tokenizer = qwen
    head = tiny.head("actprm")
    tiny.save(tmp_path / "model", model, tokenizer, head)
    means, widths = [], []
    for steps in SOLUTIONS:
        ids = tokenizer.encode(qwen_chat(steps))
        mark = tokenizer.convert_tokens_to_ids("<extra_0>")
        hidden = states(model, ids)[[index for index, one in enumerate(ids) if one == mark]]
        members = []
        for member in range(tiny.MEMBERS):
            flow = hidden
            for layer in ("nn1", "nn2"):
                weight, bias = head[f"score.model.{layer}.weight"], head[f"score.model.{layer}.bias"]
                flow = torch.relu(flow @ weight[member] + bias[member])
            out = flow @ head["score.model.nn_out.weight"][member] + head["score.model.nn_out.bias"][member]
            members.append(torch.sigmoid(out[:, 0]))
        stacked = torch.stack(members)
        means.append(stacked.mean(dim=0).tolist())
        widths.append(((stacked - stacked.mean(dim=0)) ** 2).mean(dim=0).sqrt().tolist())

    result = scores(tmp_path / "model", "actprm", items())
    found = difference(result, means)

    assert found < ROUNDING
    for one, row in zip(result, widths, strict=True):
        assert list(one.spread) == pytest.approx(row, abs=ROUNDING)


def test_token_classifier(tmp_path: Path) -> None:
    tokenizer = tiny.qwen_tokenizer()
    model = tiny.classifier(tokenizer)
    tiny.save(tmp_path / "model", model, tokenizer)
    expected = []
    for steps in SOLUTIONS:
        ids = tokenizer.encode(QUESTION)
        places = []
        for step in steps:
            ids += [*tokenizer.encode(step), *tokenizer.encode("\n\n")]
            places.append(len(ids) - 1)
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0]
        expected.append([logits[place].softmax(0)[1].item() for place in places])

    found = difference(scores(tmp_path / "model", "token_classifier", items(), separator="\\n\\n"), expected)

    assert found < ROUNDING


def test_output_embeddings_that_are_the_input_ones_are_read_as_such(tmp_path: Path) -> None:
    tokenizer = tiny.llama_tokenizer()
    model = tiny.llama(tokenizer, tied=True)
    tiny.save(tmp_path / "model", model, tokenizer)
    labels = [tokenizer.encode("-")[-1], tokenizer.encode("+")[-1]]
    text = QUESTION + " \n\n16 + 3 = 19. \n\n\n\n"
    ids = torch.tensor([tokenizer.encode(text)])
    with torch.no_grad():
        good = model(ids).logits[0, -1, labels].softmax(dim=-1)[1].item()

    (found,) = scores(tmp_path / "model", "versaprm", items()[1:2])

    assert found.values == pytest.approx((good,), abs=ROUNDING)


def test_runs_of_line_breaks_become_two_and_blanks_alone_stay() -> None:
    given = ScoringInput("a \n \n\n b\n\nc", (Step("d" + "\n" * 9 + "e" + " " * 50_000 + "f"),))

    found = prompts.squeezed(given)

    assert found.problem == "a\n\nb\n\nc"
    assert found.steps[0].text == "d\n\ne" + " " * 50_000 + "f"
