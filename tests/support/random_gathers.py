"""Random Python functions that gather and scatter, with right and wrong subscripts in memory.

Each is compared with its undecorated run on arrays that refuse subscripts outside of them, as
written and under several schedules, on arrays between pages that cannot be accessed. Elements are
small integers, so every order of additions has the same result.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from loopwright.errors import OutOfBounds, TransformationError
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.bounds import BoundsError

from .choice import SeededChooser
from .guarded_memory import guarded
from .random_python import load_source
from .random_schedules import random_schedule

INDEX_TYPES = ("i8", "u8", "i16", "u16", "i32", "u32", "i64")
ELEMENT_TYPES = ("f64", "f32", "u8", "i16", "i32")
SHAPES = {
    "X": ("n",),
    "Y": ("m",),
    "Z": ("n", "m"),
    "W": ("n",),
    "T": ("p", "q"),
    "U": ("r",),
    "V": ("p", "s", "3"),
    "O": ("n", "m"),
    "P": ("n", "m"),
    "Q": ("n",),
    "H": ("h",),
}
SUBSCRIPTS = "XYZW"
"""Arrays whose elements are subscripts; the others have elements of one other type."""

SIZES = ((7, 7), (1, 6), (13, 9), (17, 33), (8, 16), (6, 40), (0, 5), (5, 0))
"""Of n and m: loops shorter and longer than vectors, and some that never run."""

# Affine subscripts are inside: conditions on data excuse those that are computed from data alone.
EXTENTS = {"p": (40, 55), "q": (125, 140), "r": (41, 80, 300), "s": (45,), "h": (9, 41)}

WRONG = (-1, 9, 50, 127, -128, 2**15, 2**31 - 1, 2**33, -(2**40), -(2**63), 2**63 - 1)

ROWS = ("range(n)", "range(n)", "range(1, n)", "range(0, n, 2)", "range(n - 1)")
COLUMNS = ("range(m)", "range(m)", "range(1, m)", "range(0, m, 3)")
TRIANGLES = ("range(min(i + 1, m))", "range(i, m)")
CONDITIONS = (
    *("i > 2", "i + j > 4", "j < 3", "i != j"),
    *("P[i, j] > 1", "X[i] > 1", "Z[i, j] != 2", "X[i] > 0 and Y[j] < 3"),
)
LOOKED_UP = ("X[i]", "Y[j]", "Z[i, j]", "W[i]", "X[i // 2]", "X[n - 1 - i]", "Y[2]")
TWICE = ("Y[X[i]]", "X[Y[j]]", "Z[X[i], j]", "W[Z[i, j]]")
COMPUTED = (
    *("{} + 1", "{} - 1", "5 - {}", "{} * 2 + 1", "{} * 64", "{} + j", "{} // 2", "{} % 4"),
    *("min({}, 3)", "max({}, 1)", "{} & 3", "{} << 1", "abs({})", "{} * {}", "int({})"),
    *("({} if {} > 2 else 2)", "({} if i > 2 else 0)", "X[i] + {}"),
)
AFFINE = ("j", "j", "j + 1", "j * 3 + 1", "m - 1 - j", "i", "0", "k")
WRITTEN = ("X[i] = X[i] + 0", "X[i] = {}(W[i] % 4)")
STEPS = (
    *("tile", "interchange", "strip-mine", "unroll", "parallel", "pack", "unroll-and-jam"),
    *("vectorize", "vectorize", "vectorize", "fuse", "split"),
)


class Outside(Exception):
    """An access outside of an array."""


@dataclass(frozen=True)
class Checked:
    """An array that refuses subscripts outside of it, negative ones as well."""

    array: Any

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, key: Any) -> Any:
        return self.array[self._inside(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[self._inside(key)] = value

    def _inside(self, key: Any) -> tuple[int, ...]:
        place = tuple(map(int, key if isinstance(key, tuple) else (key,)))
        if not all(0 <= k < size for k, size in zip(place, self.array.shape, strict=True)):
            raise Outside(place)
        return place


class Generator:
    """Writes one function."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        element = self.random.choice(ELEMENT_TYPES)
        self.types = {
            name: self.random.choice(INDEX_TYPES) if name in SUBSCRIPTS else element
            for name in SHAPES
        }
        self.lines: list[str] = []
        self.has_sum = self.random.random() < 0.15

    def source(self) -> str:
        """The whole file."""
        if self.has_sum:
            self._line(1, "total = 0.0")
        for _ in range(self.random.choice((1, 1, 2))):
            if self.random.random() < 0.15:
                self._line(1, "for i in range(n):")
                self._line(2, self.random.choice(WRITTEN).format(self.types["X"]))
            self._nest()
        if self.has_sum:
            self._line(1, "return total")
        names = ", ".join(sorted({*self.types.values(), "f64"}))
        arrays = ", ".join(f"{name}: {self._annotation(name)}" for name in SHAPES)
        head = f"import loopwright\nfrom loopwright import {names}\n\n\n@loopwright.kernel\n"
        signature = f"def f(n: int, m: int, k: int, {arrays}):\n"
        return head + signature + "".join(f"{line}\n" for line in self.lines)

    def _annotation(self, name: str) -> str:
        shape = (each if each.isdigit() else f'"{each}"' for each in SHAPES[name])
        return f"{self.types[name]}[{', '.join(shape)}]"

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _nest(self) -> None:
        depth = 1
        if self.random.random() < 0.15:
            self._line(depth, "for t in range(2):")
            depth += 1
        is_swapped = self.random.random() < 0.15
        columns = COLUMNS if is_swapped else (*COLUMNS, *COLUMNS, *TRIANGLES)
        heads = [
            f"for i in {self.random.choice(ROWS)}:",
            f"for j in {self.random.choice(columns)}:",
        ]
        for head in reversed(heads) if is_swapped else heads:
            self._line(depth, head)
            depth += 1
            if head is heads[0] and not is_swapped and self.random.random() < 0.2:
                at = self.random.choice(("X[i]", "W[i] + 1", "X[i] * 2"))
                self._line(depth, f"Q[i] = U[{at}]")
        if self.random.random() < 0.3:
            self._line(depth, f"if {self.random.choice(CONDITIONS)}:")
            depth += 1
        for _ in range(self.random.choice((1, 1, 2))):
            self._statement(depth)

    def _statement(self, depth: int) -> None:
        kind = self.random.random()
        operator = self.random.choice(("=", "+=", "="))
        if kind < 0.15:
            at = self.random.choice(("X[i]", "int(Y[j]) - 2", "Z[i, j] * 2"))
            self._line(depth, f"if {at} >= 0 and {at} < len(U):")
            self._line(depth + 1, f"O[i, j] {operator} U[{at}]")
        elif kind < 0.25:
            self._line(depth, f"H[{self._looked_up()}] {operator} {self._value()}")
        elif kind < 0.3:
            self._line(depth, f"O[{self._looked_up()}, j] += {self._value()}")
        elif kind < 0.4 and self.has_sum:
            self._line(depth, f"total += f64({self._value()})")
        else:
            target = self.random.choice(("O[i, j]", "O[i, j]", "O[i, j]", "P[i, j]"))
            self._line(depth, f"{target} {operator} {self._value()}")

    def _value(self) -> str:
        terms = [self._term() for _ in range(self.random.choice((1, 1, 2, 3)))]
        return self.random.choice((" + ", " - ")).join(terms)

    def _term(self) -> str:
        column = self.random.choice((*AFFINE, self._looked_up()))
        forms: Sequence[Callable[[], str]] = (
            lambda: f"T[{self._looked_up()}, {column}]",
            lambda: f"T[{self._looked_up()}, {column}]",
            lambda: f"T[{self.random.choice('ij')}, {self._looked_up()}]",
            lambda: f"U[{self._looked_up()}]",
            lambda: f"V[{self._looked_up()}, {self._looked_up()}, {self.random.choice('012')}]",
            lambda: "P[i, j]",
        )
        return self.random.choice(forms)()

    def _looked_up(self) -> str:
        place = self.random.choice((*LOOKED_UP, *LOOKED_UP, *TWICE))
        return place if self.random.random() < 0.5 else self._computed(place)

    def _computed(self, place: str) -> str:
        form = self.random.choice(COMPUTED)
        return form.format(*[place] * form.count("{}"))


def gather_program(seed: int) -> str:
    """The source of the function with this number."""
    return Generator(seed).source()


def check_gathers(seed: int, folder: Path) -> int:
    """A random function computes or refuses what Python does; how many calls were compared."""
    generator = Generator(seed)
    source = generator.source()
    kernel = load_source(source, folder, f"gathers_{seed}").f
    compared = 0
    compiled = list(_compiled(kernel, generator.random))
    for trial in range(5):
        arguments = _arguments(generator, seed + trial, has_wrong=trial > 1)
        expected, result = _python(kernel, arguments)
        for kernel_of_schedule, what in compiled:
            at_start = generator.random.random() < 0.3
            given = [
                guarded(each, at_start=at_start) if isinstance(each, np.ndarray) else each
                for each in arguments
            ]
            note = f"{source}\n{what}, seed {seed}, trial {trial}: "
            try:
                found = kernel_of_schedule(*given)
            except (OutOfBounds, BoundsError) as error:
                assert expected is None, f"{note}{error}"
                compared += 1
                continue
            assert expected is not None, f"{note}no error, but {result}"
            for name, ours, theirs in zip(("n", "m", "k", *SHAPES), given, expected, strict=True):
                assert np.array_equal(ours, theirs), f"{note}{name}\n{ours}\n{theirs}"
            assert found == result, f"{note}{found}, not {result}"
            compared += 1
    return compared


def _compiled(kernel: Any, choose: random.Random) -> Iterator[tuple[Any, str]]:
    """Kernels of some schedules, and how they were made."""
    chooser = SeededChooser(choose)
    original = kernel.function.schedule("")
    schedules = [None, "", "default", "default"]
    schedules += [random_schedule(chooser, original, 5, names) for names in (STEPS, STEPS, None)]
    for number, schedule in enumerate(schedules):
        options = {
            "threads": choose.choice((1, 2)),
            "fast_math": number == 3 or choose.random() < 0.2,
            "target": choose.choice((None, None, Target.named("zen3"))),
            "verify": schedule is not None and choose.random() < 0.2,
            "check_bounds": choose.random() < 0.1,
        }
        try:
            yield kernel.function.compile(schedule, **options), f"{schedule}, {options}"
        except TransformationError:
            continue


def _arguments(generator: Generator, seed: int, *, has_wrong: bool) -> list[Any]:
    """Sizes and arrays; with a subscript that is likely to be wrong, if so."""
    choose, values = generator.random, np.random.default_rng(seed)
    n, m = choose.choice(SIZES)
    sizes = {name: choose.choice(each) for name, each in EXTENTS.items()} | {"n": n, "m": m}
    below = choose.choice((2, 4, 8))
    arrays: dict[str, Any] = {}
    for name, shape in SHAPES.items():
        extents = [int(each) if each.isdigit() else sizes[each] for each in shape]
        letter, *bits = generator.types[name]
        kind = f"{letter}{int(''.join(bits)) // 8}"
        arrays[name] = values.integers(0, below if name in SUBSCRIPTS else 4, extents).astype(kind)
    changed = choose.choice([name for name in SUBSCRIPTS if arrays[name].size] or ["X"])
    if has_wrong and arrays[changed].size:
        limits = np.iinfo(arrays[changed].dtype)
        wrong = min(max(choose.choice(WRONG), limits.min), limits.max)
        arrays[changed].flat[choose.randrange(arrays[changed].size)] = wrong
    return [n, m, choose.choice((0, 1, 5, 12)), *arrays.values()]


def _python(kernel: Any, arguments: Sequence[Any]) -> tuple[list[Any] | None, Any]:
    """What Python leaves in the arguments, and what it returns; None and why where it refuses."""
    arrays = [Checked(each.copy()) if isinstance(each, np.ndarray) else each for each in arguments]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # Short integers wrap around.
            result = kernel.python(*arrays)
    except Outside as error:
        return None, f"an access at {error}"
    return [each.array if isinstance(each, Checked) else each for each in arrays], result
