"""Tiny random models of the architectures that published PRMs have, with tokenizers that hold their real markers.

Built in the test, saved as safetensors. Nothing is downloaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

WANTED = "PRMs on this machine need an extra: STEPMARK_EXTRAS=torch make setup"
torch = pytest.importorskip("torch", reason=WANTED)
pytest.importorskip("transformers", reason=WANTED)

from safetensors.torch import load_file, save_file
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForTokenClassification,
    BertModel,
    InternVLConfig,
    InternVLForConditionalGeneration,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen2ForTokenClassification,
)

torch.set_num_threads(1)  # the suite has its own processes for the other cores
SMALL = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 512,
}
#: How Qwen 2 and Llama 3 cut text before they merge bytes (but for digits, which Llama 3 takes in threes).
CUT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
MERGES = [
    "Ċ Ċ",
    "ĊĊ ĊĊ",
    "ĊĊĊĊ Ċ",
    "Ġ ĊĊĊĊĊ",
    "Ġ ĊĊĊĊ",
    "Ġ ĊĊ",
    "Ġ Ċ",
    "Ġ +",
    "Ġ -",
    ". Ċ",
    "Y e",
    "Ye s",
    "N o",
    "Ġ t",
    "Ġt h",
    "Ġth e",
]
QWEN_CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA_CHAT = (
    "{{ bos_token }}{% for message in messages %}<|start_header_id|>{{ message['role'] }}<|end_header_id|>\n\n"
    "{{ message['content'] | trim }}<|eot_id|>{% endfor %}"
)


def byte_tokenizer(
    special: Sequence[str], *, bos: str | None = None, chat: str | None = None, framed: bool = False
) -> PreTrainedTokenizerFast:
    """Byte-level merges as in Qwen 2 and Llama 3. ``framed``: it puts its first token before a text by itself."""
    vocabulary = {text: index for index, text in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    for merge in MERGES:
        vocabulary.setdefault(merge.replace(" ", ""), len(vocabulary))
    made = Tokenizer(models.BPE(vocabulary, [tuple(merge.split(" ")) for merge in MERGES]))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(CUT), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in special])
    if framed and bos is not None:
        made.post_processor = processors.TemplateProcessing(
            single=f"{bos} $A", pair=f"{bos} $A $B", special_tokens=[(bos, made.token_to_id(bos))]
        )
    return PreTrainedTokenizerFast(tokenizer_object=made, bos_token=bos, chat_template=chat)


def sentencepiece_tokenizer() -> PreTrainedTokenizerFast:
    """Merges over characters with ▁ for a space, as in Mistral 7B, with ▁ки, ▁+ and ▁- as tokens of their own."""
    texts = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    texts += [*map(chr, range(33, 127)), "▁", "к", "и", "ки", "▁ки", "▁+", "▁-"]
    merges = [("к", "и"), ("▁", "ки"), ("▁", "+"), ("▁", "-")]
    made = Tokenizer(
        models.BPE(
            {text: index for index, text in enumerate(texts)},
            merges,
            unk_token="<unk>",
            fuse_unk=True,
            byte_fallback=True,
        )
    )
    made.normalizer = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in texts[:3]])
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="</s>", unk_token="<unk>"
    )


__all__ = ["BertModel", "load_file", "save_file", "torch"]
QWEN_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<extra_0>", "<prm>")
LLAMA_SPECIAL = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")


def qwen_tokenizer(bos: str | None = None) -> PreTrainedTokenizerFast:
    return byte_tokenizer(QWEN_SPECIAL, bos=bos, chat=QWEN_CHAT)


def llama_tokenizer() -> PreTrainedTokenizerFast:
    return byte_tokenizer(LLAMA_SPECIAL, bos="<|begin_of_text|>", chat=LLAMA_CHAT, framed=True)


def _spread_out(model: Any) -> Any:
    """The same model with larger random weights, so that scores differ clearly from step to step."""
    torch.manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(std=0.25)
    return model.float().eval()


def qwen(tokenizer: PreTrainedTokenizerFast, **sizes: Any) -> Any:
    config = Qwen2Config(vocab_size=len(tokenizer), tie_word_embeddings=False, **{**SMALL, **sizes})
    return _spread_out(Qwen2ForCausalLM(config))


def mistral(tokenizer: PreTrainedTokenizerFast, **sizes: Any) -> Any:
    return _spread_out(MistralForCausalLM(MistralConfig(vocab_size=len(tokenizer), **{**SMALL, **sizes})))


def llama(tokenizer: PreTrainedTokenizerFast, *, tied: bool = False, **sizes: Any) -> Any:
    config = LlamaConfig(vocab_size=len(tokenizer), tie_word_embeddings=tied, **{**SMALL, **sizes})
    return _spread_out(LlamaForCausalLM(config))


def internvl(tokenizer: PreTrainedTokenizerFast, **sizes: Any) -> Any:
    vision = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "image_size": [8, 8],
        "patch_size": [4, 4],
    }
    text = Qwen2Config(vocab_size=len(tokenizer), **{**SMALL, **sizes}).to_dict()
    config = InternVLConfig(
        vision_config=vision, text_config=text, image_token_id=0, tie_word_embeddings=False
    )
    return _spread_out(InternVLForConditionalGeneration(config))


def classifier(tokenizer: PreTrainedTokenizerFast, *, classes: int = 2, **sizes: Any) -> Any:
    config = Qwen2Config(vocab_size=len(tokenizer), num_labels=classes, **{**SMALL, **sizes})
    return _spread_out(Qwen2ForTokenClassification(config))


def encoder(tokenizer: PreTrainedTokenizerFast) -> Any:
    """A token classifier whose tokens see those behind them too."""
    sizes = {name: SMALL[name] for name in ("hidden_size", "intermediate_size", "num_hidden_layers")}
    config = BertConfig(vocab_size=len(tokenizer), num_labels=2, num_attention_heads=4, **sizes)
    return _spread_out(BertForTokenClassification(config))


MEMBERS = 3


def head(family: str, width: int = SMALL["hidden_size"], inner: int = 8) -> dict[str, Any]:
    """Random tensors of a family's head over states of this width, by their published names."""
    layers = {"nn1": (width, inner), "nn2": (inner, inner), "nn_out": (inner, 1)}
    shapes: dict[str, dict[str, tuple[int, ...]]] = {
        "qwen_prm": {
            "score.0.weight": (width, width),
            "score.0.bias": (width,),
            "score.2.weight": (2, width),
            "score.2.bias": (2,),
        },
        "skywork": {"v_head.summary.weight": (1, width), "v_head.summary.bias": (1,)},
        "actprm": {
            **{f"score.model.{name}.weight": (MEMBERS, *shape) for name, shape in layers.items()},
            **{f"score.model.{name}.bias": (MEMBERS, shape[1]) for name, shape in layers.items()},
        },
    }
    generator = torch.Generator().manual_seed(2)
    return {name: torch.randn(shape, generator=generator) * 0.4 for name, shape in shapes[family].items()}


def save(
    folder: Path,
    model: Any,
    tokenizer: PreTrainedTokenizerFast,
    more: Mapping[str, Any] | None = None,
) -> Path:
    """The model as it is published: config, tokenizer, and weights with the head's tensors among them."""
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if more is not None:
        weights = load_file(folder / "model.safetensors")
        save_file({**weights, **more}, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    # the code that authors put beside their weights: named here, never run
    config["auto_map"] = {"AutoModel": "modeling_evil.Evil"}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "modeling_evil.py").write_text("raise SystemExit('this code was run')\n")
    return folder
