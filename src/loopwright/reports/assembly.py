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
_FLOATING = re.compile(
    r"v?(fn?m(?:add|sub)\w*|add|sub|mul|div|sqrt|max|min)(?P<element>ps|pd|ss|sd)$"
)
_INTEGER = re.compile(r"v?p(?:add|sub|avg|max|min|abs|sad|mul[^t])[a-z]*?([bwdq])[bwd]?$")
_PRODUCTS = {"pmaddwd": (3, 4), "pmaddubsw": (3, 2), "pdpwssd": (4, 4), "pdpbusd": (8, 4)}
"""Operations for each element of the result, and its bytes: products, and sums of neighbours."""
_WIDTHS = {"%zmm": 64, "%ymm": 32, "%xmm": 16}
_BYTES = {"b": 1, "w": 2, "d": 4, "q": 8}
_CLASSES = {
    "add": "additions",
    "sub": "additions",
    "max": "additions",
    "min": "additions",
    "mul": "multiplications",
    "div": "divisions",
    "sqrt": "square_roots",
}
_NARROWER_IS_FASTER = ("divisions", "square_roots", "others")
"""Classes of which vectors that are narrower than the widest may take less."""


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
        return sum(_floating_operations(*each) for each in self.instructions)

    @property
    def integer_operations(self) -> int:
        """Of vectors, in one iteration."""
        return sum(_integer_operations(*each) for each in self.instructions)

    def bounds(self, machine: Machine) -> dict[str, float]:
        """Cycles of one iteration at least, by the ports that need them."""
        counts = self.kinds
        arithmetic = sum(_cycles(*each, machine) for each in self.instructions)
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
    operations = loop.floating_point_operations + loop.integer_operations
    return operations * (1 + loop.depth), len(loop.lines)


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
    is_arithmetic = bool(_FLOATING.match(name) or _INTEGER.match(name) or _product(name))
    if is_arithmetic:
        yield "arithmetic"
    if is_memory:
        yield "store" if operands.endswith(")") and not name.startswith("cmp") else "load"
    if not is_arithmetic and not is_memory:
        yield "other"


def _width(operands: str) -> int:
    """Bytes of the widest register."""
    return next((size for text, size in _WIDTHS.items() if text in operands), 16)


def _floating_operations(name: str, operands: str) -> int:
    match = _FLOATING.match(name)
    if match is None:
        return 0
    element = 8 if match["element"][1] == "d" else 4
    lanes = _width(operands) // element if match["element"][0] == "p" else 1
    return lanes * (2 if match[1].startswith("f") else 1)


def _integer_operations(name: str, operands: str) -> int:
    if (product := _product(name)) is not None:
        operations, element = product
        return operations * _width(operands) // element
    match = _INTEGER.match(name)
    return 0 if match is None else _width(operands) // _BYTES[match[1]]


def _product(name: str) -> tuple[int, int] | None:
    """What a dot product of neighbours is, saturated or not."""
    return _PRODUCTS.get(name.removeprefix("v").removesuffix("s"))


def _cycles(name: str, operands: str, machine: Machine) -> float:
    if match := _FLOATING.match(name):
        if match[1].startswith("f"):
            return 1 / machine.multiply_adds_per_cycle
        kind = _CLASSES[match[1]]
    elif _product(name) or (_INTEGER.match(name) and "mul" in name):
        kind = "integer_multiplications"
    elif _INTEGER.match(name):
        kind = "others"
    else:
        return 0.0
    share = 8 * _width(operands) / machine.vector_bits if kind in _NARROWER_IS_FASTER else 1.0
    return machine.cycles[kind] * min(1.0, share)
