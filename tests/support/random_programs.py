"""Random valid affine programs as MLIR text, in bounds by construction.

`seeded_program(seed)` gives the same text for the same seed; `programs()` is the Hypothesis
strategy that makes the same kind of programs and shrinks them. Floats hold small integers, so
that results are exact whatever is fused into a multiply-add; `Interpreter.exact` tells when that
failed.
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from . import arithmetic
from .choice import Chooser, DrawnChooser, SeededChooser, chance, choose, distinct
from .random_bodies import BodyGenerator
from .random_kinds import NESTS, NESTS_SINCE, Nest
from .random_memory import ELEMENT_TYPES, NARROW_FLOATS, ArraySpec, Memory, is_float, width
from .random_values import helper
from .ranges import Linear

NUMPY_TYPES = {
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
}


MISPLACED = (-1, -2, 1000, 2**31 - 1, -(2**31))
"""Subscripts that no array has."""

NARROW_SEEDS = 10_000_000
"""The first seed of programs with f16, bf16, and reductions of affine.parallel."""

KIND_SEEDS = min(NESTS_SINCE)
"""The first seed of programs with nests of the kinds that code generation has forms for."""

DEFAULT_SEEDS = 29_000_000
"""The first seed of programs whose schedules are default ones."""

LATEST_SEEDS = max(NESTS_SINCE)
"""The first seed of programs with all of these kinds."""

WIDE_SEEDS = 30_000_000
"""The first seed of programs with all operations, of special values and the greatest integers."""

SPECIAL_FLOATS = (np.nan, np.inf, -np.inf, -0.0)
SPECIAL_SHARE = 0.05
"""The part of the elements, for each special value, that have it."""


@dataclass(frozen=True)
class Argument:
    """One argument: a size (`kind` "size"), a number ("scalar") or an array ("array").

    Elements of an array of subscripts are from 0 to `below`.
    """

    name: str
    kind: str
    element_type: str = "index"
    shape: tuple[Linear, ...] = ()
    below: Linear | None = None


@dataclass(frozen=True, repr=False)
class RandomProgram:
    """A module with one function `@f`.

    `sizes` are the names of its free sizes, `depth` the deepest loop nest; most nests of one
    `of_kinds` are those of `random_kinds`, arrays of one that `is_wide` have special values.
    """

    text: str
    sizes: tuple[str, ...]
    arguments: tuple[Argument, ...]
    depth: int
    of_kinds: bool = False
    is_wide: bool = False

    @property
    def has_floats(self) -> bool:
        """Whether results depend on the order of operations, where they do not stay exact."""
        return bool(re.search(r"\bb?f(16|32|64)\b", self.text))

    @property
    def has_only_narrow_floats(self) -> bool:
        """Whether it computes in f16 or bf16 and no wider float: no operations are fused."""
        return self.has_floats and not re.search(r"f(32|64)\b", self.text)

    def make_arguments(
        self,
        sizes: Mapping[str, int],
        seed: int = 0,
        *,
        rounded: bool = False,
        misplaced: int | None = None,
    ) -> list[Any]:
        """Arguments for `@f`, in order: ints, floats and fresh NumPy arrays.

        Floats are small integers, so that most results are exact; with `rounded`, most are not.
        With the number of `misplaced`, one subscript in an array of these is outside of what it is
        for.
        """
        source = np.random.default_rng(seed)
        values = [self._argument(each, sizes, source, rounded) for each in self.arguments]
        lookups = [
            value
            for value, each in zip(values, self.arguments, strict=True)
            if each.below is not None and value.size
        ]
        if misplaced is not None and lookups:
            source = np.random.default_rng(misplaced)
            array = lookups[source.integers(len(lookups))]
            # The last elements are more often read than the first ones.
            place, value = max(source.integers(array.size, size=2)), source.choice(MISPLACED)
            if array.dtype.kind == "f":  # Those beyond fit no integer.
                value = max(-1000, min(value, 1000))
            array.flat[place] = value
        return values

    @property
    def has_lookups(self) -> bool:
        """Whether subscripts come from arrays."""
        return any(each.below is not None for each in self.arguments)

    def _argument(
        self,
        argument: Argument,
        sizes: Mapping[str, int],
        source: np.random.Generator,
        rounded: bool,
    ) -> Any:
        if argument.kind == "size":
            return sizes[argument.name]
        if rounded and is_float(argument.element_type):
            shape = [max(0, extent.evaluate(sizes)) for extent in argument.shape]
            low, high = (-4, 5) if argument.below is None else (0, argument.below.evaluate(sizes))
            values = source.uniform(low, high, size=shape)
            scalar = argument.kind == "scalar"
            return float(values) if scalar else _stored(values, argument.element_type)
        low, high = (-4, 5) if is_float(argument.element_type) else (-50, 51)
        if argument.kind == "scalar":
            value = int(source.integers(low, high))
            return float(value) if is_float(argument.element_type) else value
        shape = [max(0, extent.evaluate(sizes)) for extent in argument.shape]
        if argument.below is not None:
            low, high = 0, argument.below.evaluate(sizes) + 1
        values = source.integers(low, high, size=shape)
        if self.is_wide and argument.below is None:
            values = _with_special(values, argument.element_type, source)
        return _stored(values, argument.element_type)

    def __repr__(self) -> str:
        return f"RandomProgram with sizes {', '.join(self.sizes)}:\n{self.text}"


def _with_special(
    values: np.ndarray[Any, Any], element_type: str, source: np.random.Generator
) -> np.ndarray[Any, Any]:
    """Values of which some are not numbers, infinite, or the greatest and least integers."""
    special: Sequence[float] = SPECIAL_FLOATS
    if is_float(element_type):
        values = values.astype(np.float64)
    else:
        limit = 2 ** (width(element_type) - 1)
        special = (-limit, limit - 1)
    for value in special:
        values[source.random(values.shape) < SPECIAL_SHARE] = value
    return values


def _stored(values: np.ndarray[Any, Any], element_type: str) -> np.ndarray[Any, Any]:
    """An array of the type; of bf16, the bits of each number in a field."""
    if element_type == "bf16":
        bits = [int(arithmetic.bfloat16(value).view(np.uint32)) >> 16 for value in values.flat]
        return np.array(bits, np.uint16).reshape(values.shape).view(arithmetic.BFLOAT16)
    return values.astype(NUMPY_TYPES[element_type])


def generate(
    chooser: Chooser,
    *,
    calls: bool = False,
    element_types: Sequence[str] = ELEMENT_TYPES,
    reductions: bool = False,
    nests: Sequence[Nest] = (),
    wide: bool = False,
) -> RandomProgram:
    """A program made of the decisions of `chooser`; with `calls`, of several functions.

    With `reductions`, many loops are affine.parallel with several results; with `nests`, most nests
    are of those that code generation has forms for; with `wide`, all operations are drawn.
    """
    memory = Memory(chooser, element_types)
    body = BodyGenerator(chooser, memory, reductions, nests)
    body.code.may_call = calls
    body.code.is_wide = wide
    nests, results = body.function_body()
    specs = [memory.arrays[name] for name in sorted(memory.arrays)]
    arguments = _arguments(memory, specs)
    lines = memory.prologue() + nests + memory.epilogue()
    if results:
        values = ", ".join(name for name, _ in results)
        types = ", ".join(kind for _, kind in results)
        lines.append(f"return {values} : {types}")
    else:
        lines.append("return")
    returned = ", ".join(kind for _, kind in results)
    signature = f" -> ({returned})" if results else ""
    formal = ", ".join(_formal(argument, memory) for argument in arguments)
    helpers = [line for kind in sorted(body.code.called) for line in helper(kind)]
    text = _indent([*helpers, f"func.func @f({formal}){signature} {{", *lines, "}"])
    return RandomProgram(text, memory.size_names(), arguments, body.deepest, bool(nests), wide)


def _arguments(memory: Memory, specs: list[ArraySpec]) -> tuple[Argument, ...]:
    arguments = [Argument(size, "size", kind) for size, kind in memory.size_arguments()]
    arguments += [Argument(name, "scalar", kind) for name, kind in memory.scalars.items()]
    for spec in specs:
        if not spec.local:
            shape = memory.shape(spec)
            arguments.append(Argument(spec.name, "array", spec.element_type, shape, spec.below))
    return tuple(arguments)


def _formal(argument: Argument, memory: Memory) -> str:
    if argument.kind == "array":
        return f"{argument.name}: {memory.type(memory.arrays[argument.name])}"
    name = f"{argument.name}_i32" if argument.element_type == "size i32" else argument.name
    kind = "i32" if argument.element_type == "size i32" else argument.element_type
    return f"{name}: {kind}"


def _indent(lines: list[str]) -> str:
    text, depth = "", 0
    for line in lines:
        depth -= line.startswith("}")
        text += "  " * depth + line + "\n"
        depth += line.endswith("{")
    return text


def seeded_program(seed: int, *, calls: bool = False) -> RandomProgram:
    """The program with number `seed`: from `NARROW_SEEDS` and the others on, as they say."""
    chooser = SeededChooser(random.Random(seed))
    if seed >= WIDE_SEEDS:
        types = distinct(chooser, (*ELEMENT_TYPES, *NARROW_FLOATS), choose(chooser, (1, 2, 3)))
        nests = NESTS if chance(chooser, 50) else ()
        return generate(chooser, calls=calls, element_types=types, nests=nests, wide=True)
    if seed >= KIND_SEEDS:
        nests = NESTS_SINCE[max(first for first in NESTS_SINCE if first <= seed)]
        if seed >= DEFAULT_SEEDS and chance(chooser, 20):
            nests = ()
        return generate(chooser, calls=calls, nests=nests)
    if seed < NARROW_SEEDS:
        return generate(chooser, calls=calls)
    narrow = (choose(chooser, NARROW_FLOATS),) if chance(chooser, 50) else NARROW_FLOATS
    types = (*narrow, *distinct(chooser, ELEMENT_TYPES, choose(chooser, (0, 1, 2))))
    return generate(chooser, calls=calls, element_types=types, reductions=True)


@st.composite
def programs(
    draw: st.DrawFn, *, calls: bool = False, element_types: Sequence[str] = ELEMENT_TYPES
) -> RandomProgram:
    """Hypothesis strategy of programs."""
    return generate(DrawnChooser(draw), calls=calls, element_types=element_types)


def seeded_sizes(program: RandomProgram, source: random.Random, limit: int = 40) -> dict[str, int]:
    """Random values of the sizes, smaller for deep nests."""
    choices = size_choices(program, limit)
    return {name: source.choice(choices) for name in program.sizes}


def size_choices(program: RandomProgram, limit: int = 40) -> list[int]:
    """Sizes at which the program runs soon enough in the interpreter, simplest first."""
    largest = min(limit, {0: 40, 1: 40, 2: 13, 3: 7}.get(program.depth, 5))
    return [size for size in (1, 0, 2, 3, 5, 7, 8, 13, 17, 31, 37) if size <= largest]


def sizes_of(program: RandomProgram) -> st.SearchStrategy[dict[str, int]]:
    """Hypothesis strategy of sizes."""
    return st.fixed_dictionaries(
        {name: st.sampled_from(size_choices(program)) for name in program.sizes}
    )
