"""What the built-in scorer sees of a step: features of the step, the steps before it and the problem.

Causal: the features of step i never depend on a later step, so a score does not change as a solution grows.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from annotator.core.checks import Check, Verdict, check_tokens
from annotator.core.mathtext import NotNumeric, Token, literal, tokenize
from annotator.core.solutions import Step
from annotator.scorers.builtin.derivations import DERIVATIONS, Derivation
from annotator.scorers.builtin.wording import WORDINGS, counted

#: Buckets for hashed words.
HASH_BUCKETS = 256
#: Known quantities that a new one is compared with; older ones drop out, so that the time stays linear.
MAX_KNOWN = 60
MAX_STEP_CHARS = 8_000

_WORD = re.compile(r"[a-z]{2,}")
_COMPUTED_FEATURES = (
    "is_first_step",
    "log_index",
    "log_length",
    "log_problem_length",
    "checks_hold",
    "checks_fail",
    "check_error_size",
    "equations_unchecked",
    "share_of_equations_checked",
    "failed_before",
    "log_numbers",
    "share_given",
    "share_from_before",
    "share_computed",
    "share_one_operation_away",
    "share_from_nowhere",
    "from_nowhere_before",
    "given_still_unused",
    "new_decimals",
    "negative_results",
    "share_of_results_used",
    "repeats_earlier_step",
    "overlap_with_problem",
    "overlap_with_last_step",
    "new_words_share",
    "has_final_answer",
    "final_answer_is_new",
    "answers_again",
    "latex_share",
)
FEATURES = (*_COMPUTED_FEATURES, *WORDINGS, *DERIVATIONS)

_FINAL_ANSWER = re.compile(r"\\boxed|\b(?:final )?answer(?: is|:)|####")


@dataclass(slots=True)
class _Memory:
    """What is known before a step: everything in it comes from the problem and earlier steps."""

    given: set[float]
    given_words: frozenset[str]
    log_problem_length: float
    seen: dict[float, None] = field(default_factory=dict)
    unused: set[float] = field(default_factory=set)
    results: set[float] = field(default_factory=set)
    used_results: set[float] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    last_words: frozenset[str] = frozenset()
    sentences: set[str] = field(default_factory=set)
    failed: int = 0
    from_nowhere: int = 0
    answered: int = 0
    derivation: Derivation = field(default_factory=Derivation)


def solution_features(problem: str, steps: Sequence[Step], *, hashed: bool) -> npt.NDArray[np.float64]:
    """Features of every step, context included: shape (steps, len(FEATURES) [+ HASH_BUCKETS])."""
    memory = _remember_problem(problem)
    width = len(FEATURES) + (HASH_BUCKETS if hashed else 0)
    rows = np.zeros((len(steps), width))
    for index, step in enumerate(steps):
        text = step.text[:MAX_STEP_CHARS]
        lower = text.lower()
        words = _WORD.findall(lower)
        rows[index, : len(FEATURES)] = list(_step_features(index, text, lower, words, memory))
        if hashed:
            for bucket in hashed_words(words):
                rows[index, len(FEATURES) + bucket] = 1.0
    return rows


def hashed_words(words: Sequence[str]) -> set[int]:
    """Buckets of the words in a step.

    >>> hashed_words(["two", "apples", "two"]) == hashed_words(["apples", "two"])
    True
    """
    return {zlib.crc32(word.encode()) % HASH_BUCKETS for word in words}


def _remember_problem(problem: str) -> _Memory:
    text = problem[:MAX_STEP_CHARS]
    given = set(_numbers(tokenize(text)))
    derivation = Derivation()
    derivation.read(text)
    derivation.failed = False
    return _Memory(
        derivation=derivation,
        given=given,
        given_words=frozenset(_WORD.findall(text.lower())),
        log_problem_length=math.log1p(len(text)),
        seen=dict.fromkeys(sorted(given)),
        unused=set(given),
    )


def _numbers(tokens: Sequence[Token]) -> Iterator[float]:
    for token in tokens:
        if token.kind == "n":
            try:
                yield float(literal(token.text))
            except NotNumeric:
                continue


def _step_features(index: int, text: str, lower: str, words: list[str], memory: _Memory) -> Iterator[float]:
    """One number for each of FEATURES, in order; then the step becomes part of what is known."""
    tokens = tokenize(text)
    checks = check_tokens(tokens)
    yield float(index == 0)
    yield math.log1p(index)
    yield math.log1p(len(text))
    yield memory.log_problem_length
    yield from _equation_features(checks, memory)
    yield from _quantity_features(list(_numbers(tokens)), checks, memory)
    yield from _wording_features(text, words, memory)
    yield from _answer_features(lower, tokens, memory)
    yield text.count("\\") / (1 + len(text)) * 20
    yield from counted(lower)
    yield from memory.derivation.read(text)
    memory.words.update(words)
    memory.last_words = frozenset(words)


def _equation_features(checks: Sequence[Check], memory: _Memory) -> Iterator[float]:
    holds = sum(check.verdict is Verdict.HOLDS for check in checks)
    failing = [check.relative_error or 0.0 for check in checks if check.verdict is Verdict.DOES_NOT_HOLD]
    unchecked = len(checks) - holds - len(failing)
    yield math.log1p(holds)
    yield float(bool(failing))
    yield max(failing, default=0.0)
    yield math.log1p(unchecked)
    yield (holds + len(failing)) / (1 + len(checks))
    yield float(memory.failed > 0)
    memory.failed += len(failing)


def _quantity_features(numbers: list[float], checks: Sequence[Check], memory: _Memory) -> Iterator[float]:
    """Where the step's numbers come from. Small counts (0, 1, 2) and 100 need no source."""
    distinct = list(dict.fromkeys(numbers))
    computed = {
        float(check.right) for check in checks if check.verdict is Verdict.HOLDS and check.right is not None
    }
    kinds = {"given": 0, "before": 0, "computed": 0, "near": 0, "nowhere": 0}
    known = list(memory.seen)[-MAX_KNOWN:]
    for number in distinct:
        kinds[_source(number, computed, memory, known)] += 1
    total = max(1, len(distinct))
    yield math.log1p(len(numbers))
    for kind in ("given", "before", "computed", "near", "nowhere"):
        yield kinds[kind] / total
    yield math.log1p(memory.from_nowhere)
    memory.unused -= set(distinct)
    yield len(memory.unused) / max(1, len(memory.given))
    whole = all(number.is_integer() for number in memory.given)
    yield float(whole and any(not number.is_integer() for number in computed))
    yield float(any(number < 0 for number in computed))
    memory.used_results |= memory.results & set(distinct)
    yield len(memory.used_results) / max(1, len(memory.results))
    memory.results |= computed
    memory.from_nowhere += kinds["nowhere"]
    for number in (*distinct, *computed):
        memory.seen.pop(number, None)
        memory.seen[number] = None


def _source(number: float, computed: set[float], memory: _Memory, known: list[float]) -> str:
    if number in memory.given:
        return "given"
    if number in memory.seen or number in (0.0, 1.0, 2.0, 100.0):
        return "before"
    if number in computed:
        return "computed"
    values = memory.seen
    for other in known:
        if number - other in values or other - number in values or number + other in values:
            return "near"
        if other and (number / other in values or number * other in values):
            return "near"
    return "nowhere"


def _wording_features(text: str, words: list[str], memory: _Memory) -> Iterator[float]:
    distinct = frozenset(words)
    size = max(1, len(distinct))
    sentences = {sentence.strip() for sentence in text.split(".") if len(sentence.strip()) > 15}
    yield len(sentences & memory.sentences) / max(1, len(sentences))
    yield len(distinct & memory.given_words) / size
    yield len(distinct & memory.last_words) / size
    yield len(distinct - memory.words - memory.given_words) / size
    memory.sentences |= sentences


def _answer_features(lower: str, tokens: Sequence[Token], memory: _Memory) -> Iterator[float]:
    """Whether the step states a final answer, and whether that number was ever derived."""
    match = _FINAL_ANSWER.search(lower)
    yield float(match is not None)
    if match is None:
        yield from (0.0, 0.0)
        return
    answers = [token for token in tokens if token.start >= match.start() and token.kind == "n"]
    stated = list(_numbers(answers))[:1]
    yield float(bool(stated) and stated[0] not in memory.results and stated[0] not in memory.given)
    yield float(memory.answered > 0)
    memory.answered += 1
