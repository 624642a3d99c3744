"""Exclusion of evaluation kernels from the training data.

Statements are compared by their shape: the loops around them and what these run over, the arrays'
subscripts, the operations; names, constants and sizes do not count.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from importlib import resources

from ... import kernels

SUITES = ("polybench",)

_LOOP = re.compile(r"affine\.for (%\w+) = (.*) \{")
_ACCESS = re.compile(r"affine\.(load|store) .*?%(\w+)\[([^\]]*)\]")
_OPERATION = re.compile(r"= (arith|math)\.(\w+)")
_NAME = re.compile(r"%\w+")


def contains_benchmark(text: str) -> bool:
    """Whether all statements of one of the kernels are among those of the program."""
    shapes = statement_shapes(text)
    return any(not kernel - shapes for kernel in _benchmarks())


@cache
def _benchmarks() -> tuple[Counter[str], ...]:
    root = resources.files(kernels)
    return tuple(
        statement_shapes(file.read_text(encoding="utf-8"))
        for suite in SUITES
        for file in root.joinpath(suite).iterdir()
        if file.name.endswith(".mlir")
    )


def statement_shapes(text: str) -> Counter[str]:
    """The shape of every statement (what ends with a store), and how often it is there."""
    shapes: Counter[str] = Counter()
    loops: list[tuple[str, str]] = []
    accesses: list[str] = []
    operations: list[str] = []
    for line in text.splitlines():
        stripped = line.partition("//")[0].strip()
        if match := _LOOP.match(stripped):
            loops.append((match[1], match[2]))
        elif stripped == "}" and loops:
            loops.pop()
        elif match := _ACCESS.search(stripped):
            accesses.append(f"{match[1]}[{match[3]}]")
            if match[1] == "store":
                shapes[_shape(loops, accesses, operations)] += 1
                accesses, operations = [], []
        elif (match := _OPERATION.search(stripped)) and match[2] != "constant":
            operations.append(match[2])
    return shapes


def _shape(loops: list[tuple[str, str]], accesses: list[str], operations: list[str]) -> str:
    """One text for all ways to name the loops and sizes, and to order the loads."""
    numbers = {name: f"L{depth}" for depth, (name, _) in enumerate(loops)}

    def rename(expression: str) -> str:
        return _NAME.sub(lambda match: numbers.get(match[0], "n"), expression)

    bounds = [rename(bounds) for _, bounds in loops]
    return f"{bounds} {sorted(map(rename, accesses))} {sorted(operations)}"
