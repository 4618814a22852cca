"""SmolLM2-135M behind an OpenAI-compatible endpoint, in a process of its own: a real, if small, model for the critics.

Started as a script, it prints its port. Generates greedily on one processor with a cache of keys and values.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from annotator.scorers.builtin import language_model

START, END = 1, 2  # <|im_start|>, <|im_end|>
MOST_PROMPT = 1_600


class Reader:
    """A language model that goes on from what it has read; keys and values of earlier tokens are kept."""

    def __init__(self, model: language_model.LanguageModel) -> None:
        self.model = model
        self.kept: list[tuple[Any, Any]] = [(None, None)] * len(model.layers)
        self.length = 0

    def read(self, tokens: list[int]) -> Any:
        """The logits behind the last of these tokens."""
        model = self.model
        state = model.embedding[np.asarray(tokens)]
        cosine, sine = model._rotation(self.length + len(tokens))
        cosine, sine = cosine[self.length :], sine[self.length :]
        for number, layer in enumerate(model.layers):
            inner = model._normal(state, layer.attention_norm)
            state = state + self._attention(number, layer, inner, cosine, sine)
            inner = model._normal(state, layer.feed_norm)
            gate = inner @ layer.gate.T
            state = state + (gate / (1 + np.exp(-gate)) * (inner @ layer.up.T)) @ layer.down.T
        self.length += len(tokens)
        return model._normal(state[-1:], model.norm)[0] @ model.embedding.T

    def _attention(self, number: int, layer: Any, inner: Any, cosine: Any, sine: Any) -> Any:
        model, (new, width) = self.model, inner.shape
        size, shared = width // model.heads, model.heads // model.key_heads
        rotated = language_model._rotated
        query = rotated((inner @ layer.query.T).reshape(new, model.heads, size), cosine, sine)
        key = rotated((inner @ layer.key.T).reshape(new, model.key_heads, size), cosine, sine)
        value = (inner @ layer.value.T).reshape(new, model.key_heads, size)
        if self.kept[number][0] is not None:
            key = np.concatenate([self.kept[number][0], key])
            value = np.concatenate([self.kept[number][1], value])
        self.kept[number] = (key, value)
        place = np.arange(len(key)) > np.arange(self.length, self.length + new)[:, None]
        out = np.empty((new, model.heads, size), dtype=np.float32)
        for head in range(model.heads):
            weight = query[:, head] @ key[:, head // shared].T * np.float32(size**-0.5)
            weight = np.where(place, -np.inf, weight)
            weight = np.exp(weight - weight.max(axis=1, keepdims=True))
            out[:, head] = weight / weight.sum(axis=1, keepdims=True) @ value[:, head // shared]
        return out.reshape(new, width) @ layer.output.T


def prompt(words: language_model.Words, text: str) -> list[int]:
    """A chat of one turn. What is too long is cut in the middle: the question stands at the end."""
    said, _ = words.encode(text)
    if len(said) > MOST_PROMPT:
        said = said[: MOST_PROMPT // 2] + said[-MOST_PROMPT // 2 :]
    turn, _ = words.encode("user\n")
    answer, _ = words.encode("assistant\n")
    line, _ = words.encode("\n")
    return [START, *turn, *said, END, *line, START, *answer]


def generate(body: dict[str, Any]) -> dict[str, Any]:
    """One answer, greedily, with the alternatives to each token."""
    model, words = language_model.loaded()
    reader = Reader(model)
    content = body["messages"][0]["content"]
    logits = reader.read(prompt(words, content))
    told: list[dict[str, Any]] = []
    made: list[int] = []
    for _ in range(body["max_tokens"]):
        shifted = logits - logits.max()
        logprobs = shifted - np.log(np.exp(shifted).sum())
        best = np.argsort(-logprobs)[: body.get("top_logprobs") or 1]
        token = int(best[0])
        if token == END:
            break
        alternatives = [{"token": text_of(words, [int(t)]), "logprob": float(logprobs[t])} for t in best]
        told.append({"token": alternatives[0]["token"], "logprob": alternatives[0]["logprob"]})
        told[-1]["top_logprobs"] = alternatives
        made.append(token)
        logits = reader.read([token])
    message = {"role": "assistant", "content": text_of(words, made)}
    choice = {"index": 0, "message": message, "logprobs": {"content": told}, "finish_reason": "stop"}
    usage = {"prompt_tokens": reader.length - len(made), "completion_tokens": len(made)}
    return {"object": "chat.completion", "model": "smollm2", "choices": [choice], "usage": usage}


def text_of(words: language_model.Words, tokens: list[int]) -> str:
    from tokenizers import decoders

    decoder = decoders.ByteLevel()
    pieces = [words.tokenizer.id_to_token(token) for token in tokens]
    return str(decoder.decode(pieces))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        model = {"id": "smollm2", "object": "model", "root": "SmolLM2-135M-Instruct"}
        self.answer({"object": "list", "data": [model]})

    def do_POST(self) -> None:
        self.answer(generate(json.loads(self.rfile.read(int(self.headers["Content-Length"])))))

    def answer(self, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nothing."""


def main() -> None:
    language_model.loaded()
    server = HTTPServer(("127.0.0.1", 0), Handler)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    server.serve_forever()


def _end_with_parent(parent: int) -> None:
    import time

    while os.getppid() == parent:
        time.sleep(1)
    os._exit(0)


if __name__ == "__main__":
    main()
