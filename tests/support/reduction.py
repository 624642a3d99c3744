"""Smaller programs and pipelines that fail in the same way.

Steps of the pipeline, blocks and lines of the program are left out one after the other, values are
replaced by operands, loops and conditions by their bodies, as long as the rest still fails.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

_STEP = re.compile(r"[a-z-]+(?:\{[^}]*\})?")
_VALUE = re.compile(r"%\w+")


@dataclass(frozen=True)
class Case:
    """The text of a program, an operation a line, and a pipeline."""

    text: str
    pipeline: str


def reduced(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case that fails, too, and of which nothing more can be left out."""
    smaller = True
    while smaller:
        smaller = False
        for candidates in (_shorter_pipelines, _shorter_programs):
            # After each success, the candidates of what is left.
            while found := next((each for each in candidates(case) if fails(each)), None):
                case, smaller = found, True
    return case


def _shorter_pipelines(case: Case) -> Iterator[Case]:
    steps = _STEP.findall(case.pipeline)
    for number in range(len(steps)):
        yield Case(case.text, ",".join(steps[:number] + steps[number + 1 :]))


def _shorter_programs(case: Case) -> Iterator[Case]:
    lines = case.text.splitlines()
    for text in (*_without_blocks(lines), *_without_lines(lines)):
        yield Case("\n".join(text) + "\n", case.pipeline)


def _without_blocks(lines: Sequence[str]) -> Iterator[list[str]]:
    """Each block left out, or replaced by what is in it; outermost blocks first."""
    for start, line in enumerate(lines):
        if not line.endswith("{") or "func.func" in line or line.lstrip().startswith("}"):
            continue
        middle, end = _end(lines, start)
        yield [*lines[:start], *lines[end + 1 :]]
        yield [*lines[:start], *lines[start + 1 : middle], *lines[end + 1 :]]
        if middle != end:
            yield [*lines[:start], *lines[middle + 1 : end], *lines[end + 1 :]]
            yield [*lines[:middle], *lines[end:]]


def _end(lines: Sequence[str], start: int) -> tuple[int, int]:
    """The lines at which the first region of a block and the whole block end."""
    depth, middle = 0, None
    for number in range(start, len(lines)):
        line = lines[number].strip()
        depth -= line.startswith("}")
        if number > start and not depth:
            middle = number if middle is None else middle
            if not line.endswith("{"):
                return middle, number
        depth += line.endswith("{")
    raise ValueError("a block without an end")


def _without_lines(lines: Sequence[str]) -> Iterator[list[str]]:
    """Each operation left out; its result is one of its operands then."""
    for number in range(len(lines) - 1, -1, -1):
        line = lines[number]
        if line.endswith("{") or line.lstrip().startswith(("}", "return")):
            continue
        rest = [*lines[:number], *lines[number + 1 :]]
        yield rest
        name, equals, value = line.partition(" = ")
        if equals:
            pattern = re.compile(rf"{re.escape(name.strip())}\b")
            for operand in dict.fromkeys(_VALUE.findall(value)):
                yield [pattern.sub(operand, each) for each in rest]
