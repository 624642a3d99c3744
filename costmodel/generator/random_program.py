"""Random programs in the affine dialect, of the papers' distributions and beyond.

A program is a function of sizes, a scalar and arrays, and the sizes that it is to run with.
Programs are in bounds, and their floats stay finite however often they run. Sources: Tiramisu 2021,
section 3; LOOPer 2024, section 5.3.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from . import distribution
from .distribution import GENERAL, Mix, draw
from .exclusions import contains_benchmark
from .program_parts import Dimension, ProgramCosts
from .random_accesses import Accesses
from .random_expressions import Code
from .random_nests import NestBuilder
from .random_statements import Statements
from .sizing import choose_sizes

SYMBOLS = ("n", "m", "p", "q")
FUNCTION = "program"
TIME_STEPS = Dimension("tsteps")


@dataclass(frozen=True)
class RandomProgram:
    """A module with one function `@program`, and a value for each of its size arguments."""

    text: str
    sizes: Mapping[str, int]


def write_program(random: Random, mix: Mix = GENERAL) -> RandomProgram:
    """A program made of the decisions of `random`."""
    element_type = draw(random, distribution.ELEMENT_TYPES)
    symbols = [Dimension(name) for name in SYMBOLS[: draw(random, distribution.SIZE_SYMBOLS)]]
    code, statistics = Code(random, element_type), ProgramCosts()
    accesses = Accesses(random, code, statistics.arrays)
    statements = Statements(random, code, accesses, statistics)
    is_repeated = random.random() < mix.time_loop
    if is_repeated:
        statistics.time_loop = TIME_STEPS
        accesses.is_repeated = True
        code.lines.append("affine.for %t = 0 to %tsteps {")
    outer = [TIME_STEPS] if is_repeated else []
    builder = NestBuilder(random, statements, symbols, mix, len(outer))
    for _ in range(draw(random, mix.nests)):
        builder.write()
    body = "\n".join(code.lines)
    used = [symbol for symbol in symbols if re.search(rf"%{symbol.name}\b", body)]
    if is_repeated:
        code.lines.append("}")
        used.insert(0, TIME_STEPS)
    return RandomProgram(
        _function(code, accesses, used),
        choose_sizes(random, used, statistics, int(element_type[1:]) // 8, mix.seconds),
    )


def _function(code: Code, accesses: Accesses, sizes: Sequence[Dimension]) -> str:
    """The text of the function around the lines of its body, indented."""
    arguments = [f"%{size.name}: index" for size in sizes]
    body = "\n".join(code.lines)
    if re.search(r"%alpha\b", body):
        arguments.append(f"%alpha: {code.element_type}")
    arguments += [f"%{array.name}: {accesses.type(array)}" for array in accesses.arrays]
    constants = [
        f"{name} = arith.constant {_literal(value, code)} : {code.element_type}"
        for value, name in code.constants.items()
    ]
    header = f"func.func @{FUNCTION}({', '.join(arguments)}) {{"
    text, depth = "", 0
    for line in [header, *constants, *code.lines, "return", "}"]:
        depth -= line == "}"
        text += f"{'  ' * depth}{line}\n"
        depth += line.endswith("{")
    return text


def _literal(value: float, code: Code) -> str:
    return f"{value:e}" if code.is_float else str(int(value))


def random_program(seed: int, mix: Mix = GENERAL) -> RandomProgram:
    """The program of a seed and a mix: the same text and sizes in every version of the same number.

    Programs that contain a kernel of PolyBench, which models are judged by, are passed over.
    """
    for attempt in range(distribution.RETRIES):
        program = write_program(Random(f"{seed} {attempt}"), mix)
        if not contains_benchmark(program.text):
            return program
    raise AssertionError(f"seed {seed} gives benchmarks only")
