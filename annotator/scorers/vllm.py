"""PRMs behind vLLM's pooling interface: one row of probabilities at each step's tag.

``POST /pooling`` with ``task: token_classify``. With STEP pooling the server returns a row for each tag; with ALL
pooling a row for each token of the prompt, so the prompt is tokenized first (``POST /tokenize``), sent as token
ids, and masked here.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from annotator.scorers.base import Scored, ScoringInput
from annotator.scorers.http import BadReply, Client, RequestRefused, ServerUnavailable
from annotator.scorers.remote import RemoteScorer, Settings, rows_for, threshold, token_counts

STEP, ALL = "step", "all"


@dataclass(frozen=True, slots=True)
class Family:
    """How a family of models is prompted: a chat whose last turn holds the steps, a tag after each judged one.

    ``good`` is the index of "correct" in a row; ``special`` matches what the tokenizer would read as a special
    token in somebody's text.
    """

    name: str
    system: str
    tag: str
    tag_id: int
    good: int
    special: re.Pattern[str]

    def escape(self, text: str) -> str:
        """The text without anything that is a special token: a space breaks each.

        >>> FAMILIES["qwen_prm"].escape("a<extra_0>b <|im_end|>")
        'a< extra_0>b < |im_end|>'
        """
        return self.special.sub("< ", text)

    def messages(self, item: ScoringInput) -> list[dict[str, str]]:
        """The chat. Context steps are part of it and carry no tag."""
        told = [self.escape(step.text.strip()) + (self.tag if step.judged else "\n\n") for step in item.steps]
        return [
            {"role": "system", "content": self.system},
            {"role": "user", "content": self.escape(item.problem)},
            {"role": "assistant", "content": "".join(told)},
        ]


#: Qwen2.5-Math-PRM (Zhang et al. 2025): system prompt, tag and index from its model card.
FAMILIES: Mapping[str, Family] = {
    "qwen_prm": Family(
        name="qwen_prm",
        system="Please reason step by step, and put your final answer within \\boxed{}.",
        tag="<extra_0>",
        tag_id=151651,
        good=1,
        special=re.compile(r"<(?=\||/?[a-z]+_[a-z0-9_]*>)"),
    )
}


class VllmScorer(RemoteScorer):
    """One solution a request; the server batches what arrives together."""

    name: ClassVar[str] = "vllm"
    prompt: ClassVar[str] = "1"

    def __init__(
        self, client: Client, *, family: Family, pooling: str, model: str | None, threshold: float
    ) -> None:
        super().__init__(client, model=model, threshold=threshold)
        self._family, self.family, self._pooling = family, family.name, pooling

    def decisive(self) -> Mapping[str, Any]:
        """STEP and ALL pooling read the same numbers, but a server's word for it is not enough."""
        return {"pooling": self._pooling}

    def ask(self, item: ScoringInput, model: str, stop: threading.Event) -> Scored:
        """Scores of one solution. Raises RequestFailed, CircuitOpen or Stopped."""
        chat = {"messages": self._family.messages(item), "add_generation_prompt": False}
        if self._pooling == STEP:
            reply = self._pool(chat, model, stop)
            rows = _rows(reply)
        else:
            tokens = self._tokens(chat, model, stop)
            reply = self._pool({"input": tokens}, model, stop)
            rows = _masked(_rows(reply), tokens, self._family.tag_id)
        return replace(rows_for(item, rows, self._family.good), usage=token_counts(reply))

    def _pool(self, prompt: Mapping[str, Any], model: str, stop: threading.Event) -> Any:
        body = {"model": model, "task": "token_classify", "encoding_format": "float", **prompt}
        reply = self.client.post("/pooling", body, stop=stop)
        answered = reply.get("model") if isinstance(reply, dict) else None
        if answered not in {None, model}:
            raise ServerUnavailable(f"{model} was asked, but {answered!s:.100} answered.")
        return reply

    def _tokens(self, chat: Mapping[str, Any], model: str, stop: threading.Event) -> list[int]:
        reply = self.client.post("/tokenize", {"model": model, **chat}, stop=stop)
        tokens = reply.get("tokens") if isinstance(reply, dict) else None
        if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
            raise BadReply("The server's tokens are not of the documented shape.")
        longest = reply.get("max_model_len")
        if isinstance(longest, int) and len(tokens) > longest:
            raise RequestRefused(f"The solution has {len(tokens):,} tokens; the model takes {longest:,}.")
        return tokens


def _rows(reply: Any) -> list[Any]:
    """The rows of the one prompt that was sent."""
    try:
        (only,) = reply["data"]
        rows = only["data"]
    except (KeyError, TypeError, ValueError) as error:
        raise BadReply("The server's answer is not of the documented shape.") from error
    if not isinstance(rows, list):
        raise BadReply("The server's answer is not of the documented shape.")
    return rows


def _masked(rows: list[Any], tokens: list[int], tag_id: int) -> list[Any]:
    """The rows at the tags. Raises BadReply unless there is one row a token."""
    if len(rows) != len(tokens):
        raise BadReply(
            f"The prompt has {len(tokens)} tokens, but {len(rows)} rows came back; is pooling ALL?"
        )
    return [row for row, token in zip(rows, tokens, strict=True) if token == tag_id]


def make(
    config: Mapping[str, Any], *, allowed_hosts: Collection[str] = (), allowed_keys: Collection[str] = ()
) -> VllmScorer:
    """A scorer from its settings; see docs/scorers.md. Raises InvalidSettings or EndpointRefused."""
    settings = Settings(config)
    scorer = VllmScorer(
        settings.client(allowed_hosts, allowed_keys, seconds=60.0),
        family=FAMILIES[settings.choice("family", FAMILIES.keys(), "qwen_prm")],
        pooling=settings.choice("pooling", (STEP, ALL), STEP),
        model=settings.text("model"),
        threshold=threshold(settings),
    )
    settings.done()
    return scorer
