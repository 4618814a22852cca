"""One file per format. `CODECS` is where a format becomes known: to commands, pages and `detect`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from annotator.core.codecs.agent_messages import AgentMessages
from annotator.core.codecs.base import Codec
from annotator.core.codecs.bigbench_mistake import BigBenchMistake
from annotator.core.codecs.math_shepherd import MathShepherd
from annotator.core.codecs.mr_ben import MrBen
from annotator.core.codecs.native import Native
from annotator.core.codecs.openr import OpenR
from annotator.core.codecs.openrlhf import OpenRlhf
from annotator.core.codecs.prm800k import Prm800k
from annotator.core.codecs.prmbench import PrmBench
from annotator.core.codecs.processbench import ProcessBench
from annotator.core.codecs.rlhflow import RlhFlow
from annotator.core.codecs.trl import Trl
from annotator.core.codecs.versaprm import VersaPrm

_ALL: tuple[Codec, ...] = (
    Native(),
    Prm800k(),
    MathShepherd(),
    ProcessBench(),
    PrmBench(),
    Trl(),
    RlhFlow(),
    OpenRlhf(),
    VersaPrm(),
    OpenR(),
    BigBenchMistake(),
    MrBen(),
    AgentMessages(),
)

CODECS: Mapping[str, Codec] = MappingProxyType({codec.name: codec for codec in _ALL})


class UnknownFormat(ValueError):
    """A format that no codec is known for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no format is called {name!r}; the known ones are: {', '.join(CODECS)}")


def codec_named(name: str) -> Codec:
    """The codec of that name. Raises UnknownFormat."""
    try:
        return CODECS[name]
    except KeyError:
        raise UnknownFormat(name) from None
