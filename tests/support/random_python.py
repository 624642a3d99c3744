"""Random Python functions of array statements, and checks against their undecorated run.

Elements are small integers, so that results are exact whatever the order of sums is. Shapes are
tuples of extents, each the name of a size and what is cut off at both ends.
"""

from __future__ import annotations

import importlib.util
import random
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

import loopwright
from loopwright.costmodel.generator.random_program import random_program
from loopwright.frontends.python.printing import print_python
from loopwright.passes.polyhedral.extents import infer_extents

from .random_python_idioms import (
    BRANCHES,
    FIRST_WITH_COMPLEX,
    FIRST_WITH_IDIOMS,
    FIRST_WITH_MASKS,
    FIRST_WITH_NEW_ARRAYS,
    FIRST_WITH_SHAPES,
    IDIOMS,
    MASKS,
    NEW_ARRAYS,
    NEW_ORDERED,
    ORDERED,
    SHAPES,
)

HEADER = (
    "import math\n\nimport numpy as np\n\nimport loopwright\n"
    "from loopwright import c128, f64, i64\n\nWEIGHTS = [1, -1, 2]\n\n\n"
    "def helper(u, w):\n    return u - w\n\n\n"
)

LARGEST_EXACT = 2.0**50
"""Products of larger numbers may be rounded, or overflow."""

Extent = tuple[str, int]
Shape = tuple[Extent, ...]

ARRAYS: dict[str, tuple[str, ...]] = {
    "A": ("n", "m"),
    "B": ("n", "m"),
    "C": ("m", "n"),
    "D": ("n", "n"),
    "E": ("m", "m"),
    "x": ("n",),
    "y": ("m",),
}


class PythonFunction:
    """A random function: its source, and arguments to call it with."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.element = self.random.choice(["f64", "f64", "i64"])
        self.lines: list[str] = []
        self.loop = False
        self.arrays = dict(ARRAYS)
        self.sizes = {"n": self.random.randint(4, 7), "m": self.random.randint(4, 7)}
        self.seed = seed
        choices = random.Random(-seed)
        self.untyped, self.permuted = choices.random() < 0.2, choices.random() < 0.3
        self.is_complex = seed >= FIRST_WITH_COMPLEX and choices.random() < 0.3
        if self.is_complex:
            self.element = "c128"
        self.idioms = random.Random(seed + 1)

    @property
    def source(self) -> str:
        """The function, decorated."""
        self.lines = []
        for _ in range(self.random.randint(1, 4)):
            if self.random.random() < 0.4:
                self.loop = True
                low, high = self.random.randint(0, 1), self.random.randint(0, 2)
                down = self.random.random() < 0.3
                bounds = f"n - {high + 1}, {low - 1}, -1" if down else f"{low}, n - {high}"
                self.lines.append(f"    for k in range({bounds}):")
                for _ in range(self.random.randint(1, 2)):
                    self.lines.append("        " + self._statement())
                self.loop = False
            elif self.random.random() < 0.25:
                self._local()
            else:
                self.lines.append("    " + self._statement())
        if self.seed >= FIRST_WITH_IDIOMS:
            for _ in range(self.idioms.randint(0, 3)):
                self.lines += [f"    {line}" for line in self._idiom()]
        if self.random.random() < 0.3:
            self.lines.append(f"    return {self._expression(self._shape(), 2)} * 1")
        kind = self.element
        arrays = [
            f"{name}: {kind}[" + ", ".join(f'"{extent}"' for extent in extents) + "]"
            for name, extents in ARRAYS.items()
        ]
        if self.untyped:
            arrays = list(ARRAYS)
        head = f"@loopwright.kernel\ndef f(n: int, m: int, {', '.join(arrays)}):\n"
        return HEADER + head + "\n".join(self.lines) + "\n"

    @property
    def arguments(self) -> list[Any]:
        """Sizes, and arrays of small integers."""
        generator = np.random.default_rng(self.seed)
        kind = {"f64": np.float64, "i64": np.int64, "c128": np.complex128}[self.element]
        arrays = [
            generator.integers(-3, 4, [self.sizes[extent] for extent in extents]).astype(kind)
            for extents in ARRAYS.values()
        ]
        if self.is_complex:
            arrays = [each + 1j * generator.integers(-3, 4, each.shape) for each in arrays]
        if self.permuted:
            arrays = [np.asfortranarray(a) if generator.random() < 0.5 else a for a in arrays]
        return [self.sizes["n"], self.sizes["m"], *arrays]

    def _idiom(self) -> list[str]:
        """Statements over arrays of random names; each name of theirs is used once."""
        choose = self.idioms.choice
        number = len(self.lines)
        one, other = choose([("A", "B"), ("B", "A"), ("D", "D"), ("E", "E")])
        names = {"x": choose("xy"), "M": one, "N": other}
        kinds = IDIOMS if self.is_complex else IDIOMS + ORDERED
        if self.seed >= FIRST_WITH_MASKS and not self.is_complex:
            kinds += MASKS
        if self.seed >= FIRST_WITH_NEW_ARRAYS:
            kinds += NEW_ARRAYS if self.is_complex else NEW_ARRAYS + NEW_ORDERED
        if self.seed >= FIRST_WITH_SHAPES:
            kinds = SHAPES + kinds if self.is_complex else SHAPES + BRANCHES + kinds
        lines = choose(kinds)
        text = "\n".join(lines).format(**names)
        text = re.sub(r"\b(?![xynm]\b)([a-z]|dy|dx|row)\b", rf"\g<1>{number}", text)
        return text.split("\n")

    def _shape(self) -> Shape:
        extents = self.random.choice([*ARRAYS.values(), ("m",), ("n", "n")])
        return tuple(self._extent(extent) for extent in extents)

    def _extent(self, size: str) -> Extent:
        if size == "n" and self.loop and self.random.random() < 0.3:
            return self.random.choice(["k", "n - k"]), 0
        return size, self.random.choice([0, 0, 1, 2])

    def _local(self) -> None:
        """A local array, or a name for a view."""
        name = f"t{len(self.arrays)}"
        extents = self.random.choice([*ARRAYS.values()])
        shape = tuple((extent, 0) for extent in extents)
        choice = self.random.random()
        if choice < 0.5:
            text = f"{self._expression(shape, 2)} + {self._leaf(shape, broadcasts=False)}"
        elif choice < 0.7:
            text = f"{self._leaf(shape, broadcasts=False)}.copy()"
        elif choice < 0.85:
            text = f"np.full(({', '.join(extents)},), 2, dtype={self.element})"
        else:
            text = self._leaf(shape, broadcasts=False)
        self.lines.append(f"    {name} = {text}")
        self.arrays[name] = extents

    def _statement(self) -> str:
        if self.random.random() < 0.2:
            place = self._element()[1]
            operator = self.random.choice(["=", "+=", "-="])
            return f"{place} {operator} {self._number(2)}"
        shape = self._shape()
        target = self._leaf(shape, broadcasts=False)
        target += "[...]" if target.endswith(".T") else ""
        operator = self.random.choice(["=", "=", "+=", "-="])
        return f"{target} {operator} {self._expression(shape, self.random.randint(1, 3))}"

    def _expression(self, shape: Shape, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.15:
            return self._leaf(shape)
        choice = self.random.random()
        one = self._expression(shape, depth - 1)
        if choice < 0.55:
            operator = self.random.choice(["+", "-", "+", "*"])
            return f"({one} {operator} {self._expression(shape, depth - 2)})"
        if choice < 0.9 and self.is_complex:
            return self._complex(one, shape)
        if choice < 0.65:
            name = self.random.choice(["np.maximum", "np.minimum"])
            return f"{name}({one}, {self._leaf(shape)})"
        if choice < 0.75:
            relation = self.random.choice(["<", ">=", "=="])
            return f"np.where({self._leaf(shape)} {relation} {self._leaf(shape)}, {one}, 1)"
        if choice < 0.9:
            return self._reduction(shape) or f"abs({one})"
        return f"-{one}"

    def _complex(self, one: str, shape: Shape) -> str:
        """An expression of complex numbers, whose parts stay integers."""
        other = self._leaf(shape)
        return self.random.choice(
            [
                f"np.conj({one})",
                f"({one}).real",
                f"(2j * ({one}).imag - {other})",
                f"np.where({other} == {self._leaf(shape)}, {one} * 1j, 1j)",
                f"({one} * (1 - 2j))",
                self._reduction(shape) or f"-{one}",
            ]
        )

    def _reduction(self, shape: Shape) -> str | None:
        """An expression of this shape that sums over something."""
        inner = self._extent(self.random.choice(["n", "m"]))
        if len(shape) == 1:
            if self.random.random() < 0.5:
                name = self.random.choice(["np.sum", "np.max"])
                if self.is_complex or (
                    name == "np.max" and (inner[0] in ("k", "n - k") or inner[1])
                ):
                    name = "np.sum"
                axis = self.random.choice([0, 1])
                operand = (inner, *shape) if axis == 0 else (*shape, inner)
                return f"{name}({self._matrix(operand)}, axis={axis})"
            left = self._leaf((*shape, inner), broadcasts=False)
            return f"({left} @ {self._leaf((inner,), broadcasts=False)})"
        left, right = (shape[0], inner), (inner, shape[1])
        choice = self.random.random()
        if choice < 0.5:
            operands = self._leaf(left, broadcasts=False), self._leaf(right, broadcasts=False)
            return f"({operands[0]} @ {operands[1]})"
        if choice < 0.75:
            return f"np.outer({self._leaf(shape[:1], broadcasts=False)}, {self._vector(shape[1])})"
        return f'np.einsum("ij,kj->ik", {self._matrix(left)}, {self._matrix((shape[1], inner))})'

    def _vector(self, extent: Extent) -> str:
        return self._leaf((extent,), broadcasts=False)

    def _matrix(self, shape: Shape) -> str:
        return self._leaf(shape, broadcasts=False)

    def _number(self, depth: int) -> str:
        if self.random.random() < 0.3:
            return f"np.sum({self._leaf(self._shape(), broadcasts=False)})"
        choice = self.random.random()
        if depth <= 0 or choice < 0.4:
            return self._element()[1]
        if choice < 0.5:
            return str(self.random.randint(-2, 3))
        operator = self.random.choice(["+", "-", "*"])
        return f"({self._number(depth - 1)} {operator} {self._number(depth - 1)})"

    def _element(self) -> tuple[str, str]:
        name = self.random.choice(list(self.arrays))
        inner = [self._position(extent) for extent in self.arrays[name]]
        return name, f"{name}[{', '.join(inner)}]"

    def _position(self, extent: str) -> str:
        choices = ["0", "1", "-1", "-2", f"{extent} - 3"]
        return self.random.choice([*choices, "k", "k"] if self.loop and extent == "n" else choices)

    def _leaf(self, shape: Shape, *, broadcasts: bool = True) -> str:
        """A view of this shape, or where it broadcasts also one of fewer elements."""
        if broadcasts:
            choice = self.random.random()
            if choice < 0.1:
                return str(self.random.randint(1, 3))
            if choice < 0.2:
                return self._element()[1]
            if len(shape) == 2 and choice < 0.35:
                if self.random.random() < 0.5:
                    return self._leaf(shape[1:])
                return f"{self._leaf(shape[:1], broadcasts=False)}[:, None]"
        options = [
            (name, extents, rows)
            for name, extents in self.arrays.items()
            for rows in (False, True)
            if self._fits(extents[rows:], shape) and len(extents) - rows == len(shape)
        ]
        options += [
            (name, extents, None)
            for name, extents in self.arrays.items()
            if len(extents) == len(shape) == 2 and self._fits(extents[::-1], shape)
        ]
        name, extents, rows = self.random.choice(options)
        if rows is None:
            return f"{self._slices(name, extents, shape[::-1])}.T"
        if not rows:
            return self._slices(name, extents, shape)
        if self.random.random() < 0.5 and self._fits(extents[:1], shape):
            return f"{name}[{self._slice(extents[0], shape[0])}, {self._position(extents[1])}]"
        return f"{name}[{self._position(extents[0])}, {self._slice(extents[1], shape[0])}]"

    def _fits(self, extents: tuple[str, ...], shape: Shape) -> bool:
        sizes = [extent if extent not in ("k", "n - k") else "n" for extent, _ in shape]
        return list(extents) == sizes

    def _slices(self, name: str, extents: tuple[str, ...], shape: Shape) -> str:
        inner = [self._slice(e, s) for e, s in zip(extents, shape, strict=True)]
        text = f"{name}[{', '.join(inner)}]"
        if all(each == ":" for each in inner) and self.random.random() < 0.5:
            text = name if len(inner) > 1 else f"{name}[:]"
            text = f"{name}[...]" if self.random.random() < 0.5 else f"{name}[:]"
        return text

    def _slice(self, size: str, extent: Extent) -> str:
        name, cut = extent
        if name == "k":
            return ":k"
        if name == "n - k":
            return "k:"
        first = self.random.randint(0, cut)
        last = cut - first
        if self.random.random() < 0.15 and not cut:
            return "::-1"
        ends = [f"-{last}", f"{size} - {last}"]
        return f"{first or ''}:{self.random.choice(ends) if last else ''}"


def load_source(source: str, folder: Path, name: str) -> ModuleType:
    """The module of a source, in a file of its own."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_arrays(seed: int, folder: Path) -> None:
    """A random function of array statements computes what NumPy does."""
    function = PythonFunction(seed)
    source = function.source
    kernel = load_source(source, folder, f"arrays_{seed}").f
    kernel.check(*function.arguments)
    # Elements that are read as data are, as those of np.roll, do not lie in pieces of arrays.
    reads_data = any(each in source for each in ("break", "return p", "np.roll"))
    if function.permuted and not reads_data:
        _check_gaps(kernel, function.arguments, random.Random(seed))


def _check_gaps(kernel: loopwright.PythonKernel, arguments: list[Any], choose: Any) -> None:
    """The same on pieces of larger arrays."""
    expected = [np.array(each) if isinstance(each, np.ndarray) else each for each in arguments]
    given = [_piece(each, choose) if isinstance(each, np.ndarray) else each for each in arguments]
    kernel.python(*expected)
    kernel(*given)
    for ours, theirs in zip(given, expected, strict=True):
        exact = np.abs(theirs) < LARGEST_EXACT
        assert np.array_equal(np.asarray(ours)[exact], np.asarray(theirs)[exact]), "gaps"


def _piece(array: Any, choose: Any) -> Any:
    slices = [choose.choice([slice(1, None, 2), slice(None, None, -2)]) for _ in array.shape]
    shape = [2 * extent + choose.choice([0, 1]) for extent in array.shape]
    base = np.zeros(shape, array.dtype)
    view = base[tuple(slices)][tuple(slice(extent) for extent in array.shape)]
    if view.shape != array.shape or choose.random() < 0.3:
        return array
    view[...] = array
    return view


def check_printed(seed: int, folder: Path) -> None:
    """A random program, printed as Python, is translated back and computes what Python does."""
    program = random_program(seed)
    function = loopwright.load(program.text)["program"]
    source = HEADER + print_python(function.function)
    kernel = load_source(source, folder, f"printed_{seed}").program
    sizes = infer_extents(function.scop, dict.fromkeys(program.sizes, 6))
    generator = np.random.default_rng(seed)
    arguments: list[Any] = []
    for argument in function.signature.arguments:
        name = argument.place.name
        if hasattr(argument, "shape"):
            array = next(a for a in function.scop.arrays if a.name == name)
            shape = [e if isinstance(e, int) else sizes[str(e)] for e in array.shape]
            arguments.append(_values(generator, argument.element.dtype, shape))
        elif name in sizes:
            arguments.append(sizes[name])
        else:
            arguments.append(_values(generator, argument.element.dtype, ()).item())
    kernel.check(*arguments)


def _values(generator: np.random.Generator, kind: np.dtype[Any], shape: Any) -> Any:
    if kind.kind == "f":
        return (generator.random(shape) + 0.5).astype(kind)
    return np.asarray(generator.integers(1, 9, shape)).astype(kind)


def main() -> int:
    """A campaign: `python -m support.random_python KIND FIRST COUNT FOLDER`."""
    check = {"arrays": check_arrays, "printed": check_printed}[sys.argv[1]]
    first, count, folder = int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for seed in range(first, first + count):
        try:
            check(seed, folder)
        except Exception as error:
            wrong += 1
            print(f"{seed}: {type(error).__name__}: {str(error)[:400]}", flush=True)
    print(f"{count} functions, {wrong} findings")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
