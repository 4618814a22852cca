"""From a prompt's text to token ids and the places where scores are read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

from annotator.scorers.base import ScoringInput
from annotator.scorers.local.families import Family
from annotator.scorers.local.folders import InvalidModel
from annotator.scorers.local.prompts import Piece, Unscorable, broken


@dataclass(frozen=True, slots=True)
class Encoded:
    """A prompt as token ids, and for each judged step the index of the token at which its score is read."""

    ids: tuple[int, ...]
    places: tuple[int, ...]


class Tokens:
    """A family's prompts in one model's tokens. ``tokenizer`` is a fast tokenizer of transformers."""

    def __init__(self, tokenizer: Any, family: Family) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise InvalidModel(
                "The model's tokenizer can't say where in a text its tokens stand; it needs tokenizer.json."
            )
        self._tokenizer, self.family = tokenizer, family
        self.marker = None if family.marker is None else self.single(family.marker)
        self.labels = tuple(self.single(label) for label in family.labels or ())
        if len(set(self.labels)) != len(self.labels):
            raise InvalidModel(f"The labels {family.labels} are one and the same token of this tokenizer.")

    def single(self, text: str) -> int:
        """The id of a text that must be one token. Raises InvalidModel, naming the tokens, where it is not."""
        ids = self._tokenizer.encode(text, add_special_tokens=False)
        if len(ids) != 1 or ids[0] == self._tokenizer.unk_token_id:
            got = self._tokenizer.convert_ids_to_tokens(ids)
            raise InvalidModel(
                f"{self.family.name} needs {text!r} as one token, but this model's tokenizer makes {got} of it. "
                "Is it the model that the family is for?"
            )
        return int(ids[0])

    @property
    def bos(self) -> str:
        """The text of the token that begins a sequence; empty where there is none."""
        return self._tokenizer.bos_token or ""

    @property
    def pad(self) -> int:
        """What fills a row up. Never read, so any id will do."""
        found = self._tokenizer.pad_token_id
        return int(found) if found is not None else 0

    @property
    def longest(self) -> int:
        """Tokens of the longest sequence by the tokenizer's settings; very large where nobody set any."""
        return int(self._tokenizer.model_max_length)

    def chat(self, messages: Sequence[Mapping[str, str]]) -> str:
        """The messages in the model's own chat template, rendered in a sandbox. Raises Unscorable where there is none,
        or where it does not take them."""
        from jinja2 import TemplateError

        if not self._tokenizer.chat_template:
            raise Unscorable("The model's folder holds no chat template, which this family needs.")
        try:
            told = self._tokenizer.apply_chat_template(
                list(messages), tokenize=False, add_generation_prompt=False
            )
        except TemplateError as error:
            raise Unscorable(f"The model's chat template does not take this solution: {error}") from error
        return str(told)

    def encode(self, item: ScoringInput) -> Encoded:
        """The solution's prompt in tokens. Raises Unscorable where it has no place for a step."""
        pieces = self.family.lay_out(broken(item, self._special), self)
        ids: list[int] = []
        places: list[int] = []
        for framed, group in groupby(pieces, key=lambda piece: piece.framed):
            self._add(list(group), framed, ids, places)
        judged = sum(step.judged for step in item.steps)
        if len(places) != judged:
            raise Unscorable(
                f"The solution has {judged} steps to score, but its prompt has {len(places)} places."
            )
        return Encoded(tuple(ids), tuple(place - self.family.before for place in places))

    def _add(self, pieces: Sequence[Piece], framed: bool, ids: list[int], places: list[int]) -> None:
        told = self._tokenizer(
            [piece.text for piece in pieces],
            add_special_tokens=framed,
            return_offsets_mapping=True,
            return_attention_mask=False,
        )
        for piece, own, spans in zip(pieces, told["input_ids"], told["offset_mapping"], strict=True):
            if piece.ends:
                places += [len(ids) + place for place in self._places(piece, own, spans)]
            ids += own

    def _places(self, piece: Piece, ids: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[int]:
        """The index of the token that ends at each place. Raises Unscorable where none does."""
        last = {end: index for index, (start, end) in enumerate(spans) if start < end}
        for end in piece.ends:
            if end not in last or (self.marker is not None and ids[last[end]] != self.marker):
                raise Unscorable(
                    "The tokenizer joins the end of a step to what stands beside it: no score can be read."
                )
        return [last[end] for end in piece.ends]

    @cached_property
    def _special(self) -> re.Pattern[str]:
        """All that the tokenizer, or the family, would read as more than text."""
        added = [token.content for token in self._tokenizer.added_tokens_decoder.values()]
        texts = {text for text in added if len(text) > 1 and not text.isspace() and not text.isalnum()}
        marker = self.family.marker
        if marker is not None and len(marker) > 1 and not marker.isspace():
            texts.add(marker)
        longest_first = sorted(texts, key=len, reverse=True)
        return re.compile("|".join(map(re.escape, longest_first)) or r"(?!)")
