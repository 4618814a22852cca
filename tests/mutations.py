"""Rows and lines that something went wrong with, for tests that read whatever they are given."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import orjson

JUNK: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 0.5, 1e300, 2**63, "", " ", "x", "ки", "Step 1: x", "N/A", "0", "99", "+",
    [], [[]], [None], ["x"], [1], {}, {"text": "x"}, {"0": 1}, {"role": "user", "content": "x"},
)  # fmt: skip


def mutated(sample: Any, chance: random.Random) -> bytes:
    """The sample with a few values replaced, removed, repeated or moved; one line in four with bytes changed."""
    value = deepcopy(sample)
    for _ in range(chance.randint(1, 3)):
        mutate(value, chance)
    line = bytearray(orjson.dumps(value))
    if chance.random() < 0.25:
        for _ in range(chance.randint(1, 4)):
            line[chance.randrange(len(line))] = chance.choice(b'\x00\xff"{}[]:,\\u0-e\n')
    return bytes(line)


def mutate(root: Any, chance: random.Random) -> None:
    places = list(_places(root))
    if not places:
        return
    parent, key = chance.choice(places)
    kind = chance.randrange(5)
    if kind == 0:
        del parent[key]
    elif kind == 1 and isinstance(parent, list):
        parent.insert(key, deepcopy(parent[key]))
    elif kind == 2 and isinstance(parent[key], str) and parent[key]:
        at = chance.randrange(len(parent[key]))
        parent[key] = (
            parent[key][:at] + chance.choice(["ки", "\n", "\n\n", "Step 1: ", "", " +"]) + parent[key][at:]
        )
    elif kind == 3:
        other, name = chance.choice(places)
        parent[key] = deepcopy(other[name])
    else:
        parent[key] = deepcopy(chance.choice(JUNK))


def _places(node: Any) -> Any:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, child in items:
        yield node, key
        yield from _places(child)


def broken(sample: Any, chance: random.Random) -> bytes:
    """As `mutated`, and one line in five is no JSON, or JSON that no database keeps: cut short, nested without end,
    a key twice, NaN, half a surrogate pair, a number of 400 digits, another encoding."""
    line = mutated(sample, chance)
    if chance.random() < 0.8:
        return line
    at = chance.randrange(len(line) + 1)
    return chance.choice(
        (
            line[:at],
            line[at:],
            b"[" * 200 + line + b"]" * 200,
            b'{"steps": null, "problem": NaN, ' + line[1:],
            line.replace(b": ", b":").replace(b'"', b'"\\ud800', 1),
            line.replace(b"1", b"9" * 400, 1),
            line.replace(b"0", b"-Infinity", 1),
            line.replace(b'"', b'"\\u0000', 5),
            line.replace(b'"', b"'"),
            b"\xef\xbb\xbf" + line,
            line.decode(errors="replace").encode("utf-16"),
            line + b"," + line,
            b" " * 300 + b"\r" + line + b"\r",
        )
    )
