"""What a format that can't say everything does with neutral steps and with what follows the first error."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol


class NeutralPolicy(StrEnum):
    """CORRECT, INCORRECT: written as that. DROP: masked where the format has masks, else the prefix ends.

    DROP never takes text out of the context of a later step.
    """

    CORRECT = "correct"
    INCORRECT = "incorrect"
    DROP = "drop"


class AfterFirstErrorPolicy(StrEnum):
    """What is written after the first incorrect step.

    TRUNCATE: nothing. MASK: the text without labels. INCORRECT: every later step labelled incorrect.
    """

    TRUNCATE = "truncate"
    MASK = "mask"
    INCORRECT = "incorrect"


@dataclass(frozen=True, slots=True)
class Policies:
    """The exporter's choices. None for ``neutral``: not chosen, an error where one is needed.

    None for ``after_first_error``: truncate, except in ``all_steps``, where later steps were judged on their
    own and keep their labels. A choice that was made holds in both modes.
    """

    neutral: NeutralPolicy | None = None
    after_first_error: AfterFirstErrorPolicy | None = None


class PolicyError(ValueError):
    """The export can't be written with the policies that were chosen."""


class NeutralPolicyNeeded(PolicyError):
    """A neutral step has to be written in a format without neutrals, and nobody said as what."""

    def __init__(self, format_name: str) -> None:
        super().__init__(
            f"{format_name} has no neutral label and there are neutral steps; choose how they are written: "
            f"{', '.join(NeutralPolicy)}"
        )


class PolicyNotSupported(PolicyError):
    """The format can't do what a policy asks."""

    def __init__(self, format_name: str, option: str, asked: str, supported: Collection[str]) -> None:
        choices = ", ".join(sorted(supported)) or "none, it needs no such choice"
        super().__init__(f"{format_name} can't do {option} {str(asked)!r}; it supports: {choices}")


class SupportsPolicies(Protocol):
    """The part of a codec that says which policies it knows."""

    @property
    def name(self) -> str: ...
    @property
    def neutral_policies(self) -> frozenset[NeutralPolicy]: ...
    @property
    def after_first_error_policies(self) -> frozenset[AfterFirstErrorPolicy]: ...


def check_policies(codec: SupportsPolicies, policies: Policies) -> None:
    """Raise PolicyNotSupported for a chosen policy that the format can't carry out.

    A format that needs no policy at all ignores the choice: its rows say the same either way.
    """
    neutral, after = policies.neutral, policies.after_first_error
    if neutral and codec.neutral_policies and neutral not in codec.neutral_policies:
        raise PolicyNotSupported(codec.name, "neutral", neutral, codec.neutral_policies)
    if after and codec.after_first_error_policies and after not in codec.after_first_error_policies:
        raise PolicyNotSupported(codec.name, "after-first-error", after, codec.after_first_error_policies)
