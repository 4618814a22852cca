"""The steps of an MR-Ben row, and the one that its first error names.

**A list of lines.** Where lines begin with "Step k:", such a line begins a step and those below it belong to it,
also blank ones; lines above the first are a step without a number. Else each line that is not blank is a step.
The number counts the numbered steps, and the one it comes to must carry it.

**Code.** Each line that is not blank is a step. The line is looked for without its indentation, which copies
lose; where several lines fit or none does, nobody can tell which was meant. Where it is the only blank line
something is missing there, but a blank line is no step: such a solution has an error and no labels.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from annotator.core.codecs.base import Caps, InvalidRow, LeftOut
from annotator.core.codecs.fields import Fields, describe
from annotator.core.codecs.flat import Flat
from annotator.core.labels import NO_ERROR
from annotator.core.solutions import SolutionRecord, Step, full_text

_MARKER = re.compile(r"\s*step (\d+)\s*:", re.IGNORECASE)
CODE = "code"


def read_steps(fields: Fields, key: str, caps: Caps) -> tuple[Step, ...]:
    """Steps whose texts and separators are the lines again. Raises InvalidRow."""
    given = fields.values[key]
    if isinstance(given, str):
        return _cut(fields.text(key, caps.line_bytes).split("\n"), CODE)
    if not isinstance(given, list) or not any(isinstance(line, str) and line.strip() for line in given):
        fields.fail(key, "a list of lines or one text, not all blank")
    for index, line in enumerate(given):
        if not isinstance(line, str):
            raise InvalidRow(key, f"line {index + 1}: expected a text; got {describe(line)}")
    return _cut(given, "reasoning")


def place_of(field: str, named: str, steps: Sequence[Step]) -> int | None:
    """The 0-based place of the step that is named by its number or its line, None for a blank line.

    Raises InvalidRow where it can't be told.
    """
    return _line(field, named, steps) if steps[0].kind == CODE else _counted(field, named, steps)


def _line(field: str, named: str, steps: Sequence[Step]) -> int | None:
    wanted = named.strip()
    fitting = [line for line in full_text(steps).split("\n") if line.strip() == wanted]
    if len(fitting) != 1:
        expected = "expected the text of exactly one line of the code"
        raise InvalidRow(field, f"{expected}; got {describe(named)}, which {len(fitting)} lines have")
    return next((index for index, step in enumerate(steps) if step.text.strip() == wanted), None)


def _counted(field: str, named: str, steps: Sequence[Step]) -> int:
    numbers = [_number(step.text) for step in steps]
    numbered = [index for index, number in enumerate(numbers) if number is not None]
    counted = numbered or range(len(steps))
    wanted = int(named) if re.fullmatch(r"[0-9]{1,6}", named) else 0
    if not 1 <= wanted <= len(counted):
        raise InvalidRow(
            field, f"expected a number from 1 to {len(counted)}, as a text; got {describe(named)}"
        )
    place = counted[wanted - 1]
    if numbered and numbers[place] != wanted:
        raise InvalidRow(
            field, f"step {named} can't be told: the numbered step at that place is called {numbers[place]}"
        )
    return place


def write_steps(record: SolutionRecord, flat: Flat, place: int) -> tuple[list[str] | str, str | None]:
    """Lines, or one text for code, and the name of the first error, None for none.

    Raises LeftOut where reading would not find the same steps or the same first error.
    """
    texts = [step.text for step in flat.steps]
    as_code = bool(texts) and all(step.kind == CODE for step in record.steps if step.judged)
    lines = _lines(record, texts, as_code)
    named = None
    if place != NO_ERROR:
        number = _number(texts[place])
        named = texts[place].strip("\n") if as_code else str(place + 1 if number is None else number)
    again = _cut(lines, CODE if as_code else "reasoning")
    if [step.text.rstrip() for step in again] != [text.rstrip() for text in texts]:
        raise LeftOut("its lines and step numbers would be read as other steps")
    if named is not None and _found(named, again) != place:
        raise LeftOut("its first error can't be named by a number or a line")
    return ("\n".join(lines) if as_code else lines), named


def _found(named: str, steps: Sequence[Step]) -> int | None:
    try:
        return place_of("", named, steps)
    except InvalidRow:
        return None


def _lines(record: SolutionRecord, texts: Sequence[str], as_code: bool) -> list[str]:
    """The text's own lines where line ends separate all steps, else a line for each step."""
    as_blocks = as_code or any(_number(text) is not None for text in texts)
    *inner, last = record.steps
    by_lines = all("\n" in step.sep and not step.sep.strip() for step in inner) and not last.sep.strip()
    if (
        by_lines
        and len(texts) == len(record.steps)
        and (as_blocks or not any("\n" in text for text in texts))
    ):
        return full_text(record.steps).split("\n")
    return "\n".join(texts).split("\n") if as_blocks else list(texts)


def _number(text: str) -> int | None:
    marker = _MARKER.match(text)
    return int(marker.group(1)[:9]) if marker else None


def _cut(lines: Sequence[str], kind: str) -> tuple[Step, ...]:
    by_number = kind != CODE and any(_MARKER.match(line) for line in lines)
    blocks: list[list[str]] = []
    for line in lines:
        begins = bool(_MARKER.match(line)) if by_number else bool(line.strip())
        started = bool(blocks) and any(held.strip() for held in blocks[-1])
        if not blocks or (begins and started):
            blocks.append([])
        blocks[-1].append(line)
    steps = []
    for index, block in enumerate(blocks):
        whole = "\n".join(block) + ("\n" if index < len(blocks) - 1 else "")
        text = whole.rstrip()
        steps.append(Step(text, kind, sep=whole[len(text) :]))
    return tuple(steps)
