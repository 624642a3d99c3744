"""Hot loops of assembly: innermost loops, and what their instructions ask of the ports.

Reads x86-64 in AT&T syntax, as LLVM prints it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from ..passes.machine.machine import Machine

_LABEL = re.compile(r"^(\.?L\w+):")
_JUMP = re.compile(r"^\s+j\w+\s+(\.?L\w+)\s*$")
_INSTRUCTION = re.compile(r"^\s+([a-z]\w*)\s*(.*?)\s*(?:#.*)?$")
_ARITHMETIC = re.compile(
    r"v?(fn?m(?:add|sub)\w*|add|sub|mul|div|sqrt|max|min)(ps|pd|ss|sd)$|vp(?:add|sub|mull|maddw|dp)\w+$"
)
_WIDTHS = {"%zmm": 64, "%ymm": 32, "%xmm": 16}
_CLASSES = {
    "add": "additions",
    "sub": "additions",
    "max": "additions",
    "min": "additions",
    "mul": "multiplications",
    "div": "divisions",
    "sqrt": "square_roots",
}


@dataclass(frozen=True)
class HotLoop:
    """An innermost loop of the code: its lines, and how many loops are around it."""

    lines: tuple[str, ...]
    depth: int

    @property
    def instructions(self) -> list[tuple[str, str]]:
        """Mnemonics and operands."""
        found = (_INSTRUCTION.match(line) for line in self.lines)
        return [(match[1], match[2]) for match in found if match and not match[1].startswith(".")]

    @property
    def kinds(self) -> Counter[str]:
        """How many instructions there are of each kind; one may load and compute."""
        return Counter(kind for each in self.instructions for kind in kinds(*each))

    @property
    def floating_point_operations(self) -> int:
        """Of one iteration."""
        return sum(_operations(*each) for each in self.instructions)

    def bounds(self, machine: Machine) -> dict[str, float]:
        """Cycles of one iteration at least, by the ports that need them."""
        counts = self.kinds
        arithmetic = sum(_cycles(name, machine) for name, _ in self.instructions)
        return {
            "arithmetic": arithmetic,
            "loads": counts["load"] / machine.loads_per_cycle,
            "stores": counts["store"] / machine.stores_per_cycle,
        }


def hot_loops(assembly: str, most: int) -> list[HotLoop]:
    """The innermost loops that compute most, as far as the text shows it."""
    lines = assembly.splitlines()
    spans = sorted(set(_spans(lines)))
    innermost = [
        (first, last)
        for first, last in spans
        if not any(first <= a and b <= last and (a, b) != (first, last) for a, b in spans)
    ]
    loops = [
        HotLoop(
            tuple(lines[first : last + 1]),
            sum(a <= first and last <= b for a, b in spans) - 1,
        )
        for first, last in innermost
    ]
    return sorted(loops, key=_weight, reverse=True)[:most]


def _weight(loop: HotLoop) -> tuple[int, int]:
    """Loops that are inside of more others run more often; vectors compute more."""
    return loop.floating_point_operations * (1 + loop.depth), len(loop.lines)


def _spans(lines: list[str]) -> Iterator[tuple[int, int]]:
    """First and last line of what is between a label and a jump back to it."""
    labels: dict[str, int] = {}
    for number, line in enumerate(lines):
        if label := _LABEL.match(line):
            labels[label[1]] = number
        elif (jump := _JUMP.match(line)) and jump[1] in labels:
            yield labels[jump[1]], number


def kinds(name: str, operands: str) -> Iterator[str]:
    """What an instruction is: arithmetic, load, store, other."""
    is_memory = "(" in operands and not name.startswith(("lea", "prefetch"))
    is_arithmetic = _ARITHMETIC.match(name) is not None
    if is_arithmetic:
        yield "arithmetic"
    if is_memory:
        yield "store" if operands.endswith(")") and not name.startswith("cmp") else "load"
    if not is_arithmetic and not is_memory:
        yield "other"


def _operations(name: str, operands: str) -> int:
    match = _ARITHMETIC.match(name)
    if match is None or match[2] is None:
        return 0
    width = next((size for text, size in _WIDTHS.items() if text in operands), 16)
    element = 8 if match[2][1] == "d" else 4
    lanes = width // element if match[2][0] == "p" else 1
    return lanes * (2 if match[1].startswith("f") else 1)


def _cycles(name: str, machine: Machine) -> float:
    match = _ARITHMETIC.match(name)
    if match is None:
        return 0.0
    if match[1] is None or match[1].startswith("f"):
        return 1 / machine.multiply_adds_per_cycle
    return machine.cycles[_CLASSES[match[1]]]
