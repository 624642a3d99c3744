"""Interpreter of the texts of certificates: what program and nest do, for concrete sizes.

It shares nothing with the checker. Numbers are those of a prime field, where sums have no
order; all other operations are hashes of their operands.
"""

from __future__ import annotations

import operator
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import Any

PRIME = 1_000_003
_VALUES = range(-2, 24)
_RINGS: dict[str, Callable[[int, int], int]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
}
_SSA = re.compile(r"%[\w$.-]+")


def run(
    data: Mapping[str, Any], part: str, sizes: Mapping[str, int], *, backward: bool = False
) -> dict[tuple[str, tuple[int, ...]], int]:
    """The elements of arguments that are written, with parallel loops backward if asked for."""
    nest = _Nest(data, backward)
    names = {**sizes, **dict.fromkeys(data["tile_sizes"], 3), "floor": int, "max": max, "min": min}
    nest.block(data[part], 0, len(data[part]), names, 0, {})
    return {key: value for key, value in nest.memory.items() if isinstance(key[0], str)}


class _Nest:
    def __init__(self, data: Mapping[str, Any], backward: bool):
        self.scalars = {name: _hash(name) for name in data["scalars"]}
        self.memory: dict[Any, int] = {}
        self.backward = backward
        self.fresh = count()
        self.extended: dict[int, tuple[str, str, int]] = {}
        self.codes: dict[str, Any] = {}

    def block(
        self,
        lines: list[str],
        first: int,
        end: int,
        names: dict[str, Any],
        depth: int,
        arrays: dict[str, Any],
    ) -> None:
        """Runs some lines, which are in `depth` loops."""
        arrays, values = dict(arrays), dict(self.scalars)
        while first < end:
            line = lines[first].strip()
            indent = len(lines[first]) - len(line)
            inner = first + 1
            while inner < end and len(lines[inner]) - len(lines[inner].lstrip()) > indent:
                inner += 1
            head, _, condition = line.partition(" : ")
            if head.startswith(("for", "if")):
                for each in self.iterations(head, condition, names, depth):
                    self.block(lines, first + 1, inner, each, depth + head.startswith("f"), arrays)
                first = inner
                continue
            if line.startswith("array"):
                arrays[line.split()[1]] = next(self.fresh)
            elif line.startswith("run"):
                values = dict(self.scalars)
            else:
                self.operation(line, names, values, arrays)
            first += 1

    def iterations(
        self, head: str, condition: str, names: dict[str, Any], depth: int
    ) -> Iterator[dict[str, Any]]:
        if head == "if":
            yield from [names] if self.value(condition, names) else []
            return
        size = re.search(r"tiles of (\w+)", head)
        step = names[size[1]] if size else 1
        found = [
            {**names, f"i{depth}": value}
            for value in _VALUES
            if value % step == 0 and self.value(condition, {**names, f"i{depth}": value})
        ]
        yield from reversed(found) if self.backward and "parallel" in head else found

    def operation(
        self, line: str, names: dict[str, Any], values: dict[str, int], arrays: dict[str, Any]
    ) -> None:
        access = re.fullmatch(r"(?:(%\S+) = load|store (%\S+),) (\w+)\[(.*)\] : \w+", line)
        if access:
            result, stored, name, text = access.groups()
            key = arrays.get(name, name), tuple(self.value(f"({text},)" if text else "()", names))
            if stored:
                self.memory[key] = values[stored]
            elif name == "index":
                values[result] = _hash(key)
            else:
                values[result] = self.memory.get(key, _hash(key))
            return
        result, _, text = line.partition(" = ")
        operands = [values[name] for name in _SSA.findall(text)]
        ring = _RINGS.get(text.split()[0])
        if "constant" in text:
            number = float(text.split()[1])
            values[result] = 0 if number == 0 else _hash(number)
        elif extension := re.fullmatch(r"(arith.ext[su]i) \S+ : (i\d+) to (i\d+)", text):
            values[result] = self.extension(extension[1], extension[2], extension[3], operands[0])
        else:
            other = _hash(_SSA.sub("{}", text), *operands)
            values[result] = ring(*operands) % PRIME if ring else other

    def extension(self, kind: str, narrow: str, wide: str, value: int) -> int:
        """More bits of a number; where it had more put in front already, as from what it was."""
        first, middle, source = self.extended.get(value, ("", "", 0))
        if middle.endswith(f" {narrow}") and first in (kind, "arith.extui"):
            kind, narrow, value = first, middle.split()[0], source
        result = _hash(kind, narrow, wide, value)
        self.extended[result] = kind, f"{narrow} {wide}", value
        return result

    def value(self, text: str, names: dict[str, Any]) -> Any:
        if text not in self.codes:
            python = text.replace(")/", ")//").replace(" mod ", " % ")
            self.codes[text] = compile(re.sub(r"(?<![<>=])=(?!=)", "==", python), text, "eval")
        return eval(self.codes[text], {}, names)


def _hash(*key: object) -> int:
    return zlib.crc32(repr(key).encode()) % PRIME
