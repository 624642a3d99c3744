"""Random programs that use values far from where they were loaded, run as statements."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from support.interpreter import Interpreter
from support.polyhedral_programs import scop_of
from support.scop_execution import ScopExecution

from loopwright.dialects.parse import parse_module

ARRAYS = {"A": 2, "B": 1, "T": 0}
EXTENT = 5
TYPES = {name: f"memref<{f'{EXTENT}x' * rank}i64>" for name, rank in ARRAYS.items()}

KINDS = {"load": 4, "sum": 1, "store": 5, "loop": 1, "if": 1}


@dataclass
class Generator:
    """Writes blocks of loads, sums, stores, loops and branches; any visible value may be used."""

    source: random.Random
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def access(self, loops: list[str]) -> tuple[str, str]:
        array = self.source.choice(list(ARRAYS))
        subscripts = [self.subscript(loops) for _ in range(ARRAYS[array])]
        return f"%{array}[{', '.join(subscripts)}]", TYPES[array]

    def subscript(self, loops: list[str]) -> str:
        if not loops or self.source.random() < 0.3:
            return str(self.source.randrange(3))
        return self.source.choice(loops) + self.source.choice(["", "", " + 1"])

    def block(self, loops: list[str], values: list[str], depth: int) -> None:
        """Values that are defined in a block are visible in the blocks in it."""
        values = list(values)
        for _ in range(self.source.randint(4, 8)):
            (kind,) = self.source.choices(list(KINDS), weights=list(KINDS.values()))
            if kind == "load":
                where, type_ = self.access(loops)
                values.append(self.name())
                self.lines.append(f"{values[-1]} = affine.load {where} : {type_}")
            elif kind == "sum":
                left, right = self.source.choices(values, k=2)
                values.append(self.name())
                self.lines.append(f"{values[-1]} = arith.addi {left}, {right} : i64")
            elif kind == "store":
                where, type_ = self.access(loops)
                self.lines.append(f"affine.store {self.source.choice(values)}, {where} : {type_}")
            elif depth < 3:
                self.nested(kind, loops, values, depth)

    def nested(self, kind: str, loops: list[str], values: list[str], depth: int) -> None:
        if kind == "loop":
            variable = f"%i{self.count}_"
            self.count += 1
            self.lines.append(f"affine.for {variable} = 0 to 3 {{")
            self.block([*loops, variable], values, depth + 1)
        else:
            variable = self.source.choice(loops) if loops else "%N"
            condition = f"affine_set<(d0) : (d0 - {self.source.randrange(3)} >= 0)>"
            self.lines.append(f"affine.if {condition}({variable}) {{")
            self.block(loops, values, depth + 1)
        self.lines.append("}")


def program(seed: int) -> str:
    generator = Generator(random.Random(seed))
    generator.block([], ["%x"], 0)
    lines = "\n".join(generator.lines)
    arguments = ", ".join(f"%{name}: {type_}" for name, type_ in TYPES.items())
    return f"func.func @f(%N: index, %x: i64, {arguments}) {{\n{lines}\nreturn\n}}"


def check(seed: int) -> None:
    text = program(seed)
    scop = scop_of(text)
    runs: list[list[np.ndarray]] = []
    for execute in (
        lambda *arguments: Interpreter(parse_module(text)).run("f", *arguments),
        lambda *arguments: ScopExecution(scop, arguments).run(scop.tree),
    ):
        arrays = [
            np.array((7 + number) * np.arange(EXTENT**rank).reshape((EXTENT,) * rank))
            for number, rank in enumerate(ARRAYS.values())
        ]
        execute(2, 1000, *arrays)
        runs.append(arrays)
    for expected, actual in zip(*runs, strict=True):
        np.testing.assert_array_equal(expected, actual, err_msg=text)


@pytest.mark.parametrize("seed", range(60))
def test_statements_do_what_the_program_does(seed: int) -> None:
    check(seed)


@pytest.mark.campaign
def test_statements_do_what_the_program_does_campaign() -> None:
    for seed in range(60, 3000):
        check(seed)
