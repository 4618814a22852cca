"""Every PRM behind one interface. `make` turns a kind and its settings into a scorer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from annotator.scorers import builtin, critic, generative, judge, local, monte_carlo, sglang, vllm
from annotator.scorers.base import Scorer, ScorerFactory

#: Scorers that run in the worker, and those behind a server: what makes one from its stored settings.
LOCAL: Mapping[str, ScorerFactory] = {"builtin": builtin.make, "builtin_refined": builtin.refine}
REMOTE: Mapping[str, Callable[..., Scorer]] = {
    "vllm": vllm.make,
    "sglang": sglang.make,
    "critic": critic.make,
    "generative": generative.make,
    "judge": judge.make,
    "monte_carlo": monte_carlo.make,
}
#: Scorers whose weights are read from a folder of this machine.
FOLDERS: Mapping[str, Callable[..., Scorer]] = {"local": local.make}
#: Chat models, whose answers are words that may hold no verdict.
CHAT_KINDS = frozenset({"critic", "generative", "judge"})
#: Scorers whose question names the project's kinds of error.
RUBRIC_KINDS = frozenset({"generative", "judge"})
#: Scorers whose values are no probabilities of being correct: they order no queue.
UTILITY_KINDS = frozenset({"monte_carlo"})
KINDS = frozenset({*LOCAL, *REMOTE, *FOLDERS})


#: Work by where it can be done: this machine's processors, its graphics card, or servers elsewhere; a language model
#: on processors apart, since it is slow and large. A worker names the queues that it takes.
LOCAL_QUEUE, LM_QUEUE, REMOTE_QUEUE = "scoring", "lm", "remote"
#: Kinds behind a server, and slow ones that run on processors.
REMOTE_KINDS = frozenset(REMOTE)
SLOW_KINDS = frozenset({"builtin_refined"})


def queue_of(kind: str, config: Mapping[str, Any]) -> str:
    """The queue for a scorer of this kind and settings: scoring, lm, gpu or remote."""
    if kind in REMOTE:
        return REMOTE_QUEUE
    if kind in FOLDERS:
        return local.queue(config)
    return LM_QUEUE if kind in SLOW_KINDS else LOCAL_QUEUE


class UnknownScorer(LookupError):
    """No scorer of that kind is known."""


def make(
    kind: str,
    config: Mapping[str, Any] | None = None,
    *,
    allowed_hosts: Collection[str] = (),
    allowed_keys: Collection[str] = (),
    model_folders: Collection[str] = (),
) -> Scorer:
    """The scorer of that kind. Raises UnknownScorer, or what its factory raises for its settings.

    ``allowed_hosts``, ``allowed_keys`` and ``model_folders`` are the installation's: servers that may be talked to,
    environment variables whose keys may be sent there, and folders that weights may be read from.
    """
    if kind in LOCAL:
        return LOCAL[kind](config or {})
    if kind in REMOTE:
        return REMOTE[kind](config or {}, allowed_hosts=allowed_hosts, allowed_keys=allowed_keys)
    if kind in FOLDERS:
        return FOLDERS[kind](config or {}, model_folders=model_folders)
    raise UnknownScorer(f"there is no scorer of kind {kind!r}; known: {', '.join(sorted(KINDS))}")
