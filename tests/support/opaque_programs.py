"""Random programs that are only partly affine, as MLIR text and as Python functions.

Both say the same: the Python function, run as it is, is the reference. All numbers are integers in
floating point, small enough to be exact, so that orders of sums do not count but orders of stores
do. Some inputs have subscripts outside of their array.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

ARGUMENTS = {
    "n": "index",
    "m": "index",
    "J": "memref<?xi32>",
    "K": "memref<?xi32>",
    "P": "memref<?xi32>",
    "v": "memref<?xf64>",
    "A": "memref<?xf64>",
    "B": "memref<?xf64>",
    "C": "memref<?x?xf64>",
    "H": "memref<?xi64>",
}

ANNOTATIONS = {
    "n": "int",
    "m": "int",
    "J": 'i32["n"]',
    "K": 'i32["n"]',
    "P": 'i32["n1"]',
    "v": 'f64["n"]',
    "A": 'f64["m"]',
    "B": 'f64["m"]',
    "C": 'f64["n", "m"]',
    "H": 'i64["m"]',
}


C_TYPES = {
    "n": ("long", ""),
    "m": ("long", ""),
    "J": ("int", "[n]"),
    "K": ("int", "[n]"),
    "P": ("int", "[n + 1]"),
    "v": ("double", "[n]"),
    "A": ("double", "[m]"),
    "B": ("double", "[m]"),
    "C": ("double", "[n][m]"),
    "H": ("long", "[m]"),
}

# Lines of Python as C has them.
_C_LINES = (
    (r"for (\w+) in range\(([^,]*)\):", r"for (long \1 = 0; \1 < \2; \1++) {"),
    (r"for (\w+) in range\((.*), (.*)\):", r"for (long \1 = \2; \1 < \3; \1++) {"),
    (r"(while|if) (.*):", r"\1 (\2) {"),
    (r"(r\d+) = 0\.0", r"double \1 = 0.0;"),
    (r"(c\d+) = int\((.*)\)", r"long \1 = \2;"),
    (r"(.*)", r"\1;"),
)


def _c_line(line: str) -> str:
    for pattern, text in _C_LINES:
        if re.fullmatch(pattern, line):
            return re.sub(r"C\[(.*?), (.*?\]?)\]", r"C[\1][\2]", re.sub(f"^{pattern}$", text, line))
    raise AssertionError(line)


@dataclass
class OpaqueProgram:
    """A program: `text` in MLIR, `python` for NumPy arrays."""

    text: str
    python: str

    @property
    def kernel(self) -> str:
        """The Python function as a kernel in a file of its own."""
        arguments = ", ".join(f"{name}: {kind}" for name, kind in ANNOTATIONS.items())
        _, _, body = self.python.partition(":\n")
        imports = "import loopwright\nfrom loopwright import f64, i32, i64\n\n"
        return f"{imports}@loopwright.kernel\ndef f({arguments}):\n{body}"

    @property
    def c(self) -> str:
        """The function in C."""
        arguments = ", ".join(f"{kind} {name}{shape}" for name, (kind, shape) in C_TYPES.items())
        lines = [f"void f({arguments}) {{", "#pragma scop"]
        depths: list[int] = []
        for line in self.python.splitlines()[1:]:
            depth = len(line) - len(line.lstrip())
            while depths and depths[-1] >= depth:
                lines.append(" " * depths.pop() + "}")
            code = _c_line(line.strip())
            if code.endswith("{"):
                depths.append(depth)
            lines.append(" " * depth + code)
        lines += [" " * depth + "}" for depth in reversed(depths)]
        return "\n".join([*lines, "#pragma endscop", "}", ""])

    def reference(self, arguments: Sequence[object]) -> None:
        """Runs the Python function; raises IndexError outside of arrays."""
        space: dict[str, Callable[..., None]] = {}
        exec(self.python, space)
        space["f"](*arguments)


@dataclass
class _Writer:
    """Both texts, line by line."""

    source: random.Random
    mlir: list[str] = field(default_factory=list[str])
    python: list[str] = field(default_factory=list[str])
    depth: int = 1
    count: int = 0

    def value(self, code: str) -> str:
        """A new SSA value."""
        self.count += 1
        self.op(f"%t{self.count} = {code}")
        return f"%t{self.count}"

    def op(self, code: str) -> None:
        self.mlir.append(f"{'  ' * self.depth}{code}")

    def line(self, code: str) -> None:
        self.python.append(f"{'    ' * self.depth}{code}")

    def loop(self, name: str, extent: str, body: Callable[[], None]) -> None:
        self.op(f"affine.for %{name} = 0 to %{extent} {{")
        self.line(f"for {name} in range({extent}):")
        self.inside(body)

    def inside(self, body: Callable[[], None], end: str = "}") -> None:
        self.depth += 1
        body()
        self.depth -= 1
        self.op(end)

    def index(self, array: str, at: str) -> str:
        """An element of an array of integers, as an index."""
        loaded = self.value(f"memref.load %{array}[{at}] : {ARGUMENTS[array]}")
        return self.value(f"arith.index_cast {loaded} : i32 to index")

    def subscript(self, i: str) -> tuple[str, str]:
        """A subscript that is not affine, below m: SSA value and Python."""
        kind = self.source.randrange(5)
        array = self.source.choice("JK")
        if kind < 3:
            return self.index(array, f"%{i}"), f"{array}[{i}]"
        square = self.value(f"arith.muli %{i}, %{i} : index")
        if kind == 3:
            return self.value(f"arith.remsi {square}, %m : index"), f"{i} * {i} % m"
        first = self.index("J", f"%{i}")
        where = self.value(f"arith.remsi {first}, %n : index")
        return self.index("K", where), f"K[J[{i}] % n]"

    def element(self, i: str) -> tuple[str, str]:
        """A value to store: SSA value and Python."""
        kind = self.source.randrange(3)
        if kind == 0:
            return self.value(f"memref.load %v[%{i}] : memref<?xf64>"), f"v[{i}]"
        if kind == 1:
            at, python = self.subscript(i)
            array = self.source.choice("AB")
            loaded = self.value(f"memref.load %{array}[{at}] : memref<?xf64>")
            return loaded, f"{array}[{python}]"
        loaded = self.value(f"memref.load %v[%{i}] : memref<?xf64>")
        constant = self.value("arith.constant 3.0 : f64")
        return self.value(f"arith.subf {constant}, {loaded} : f64"), f"(3.0 - v[{i}])"

    def scatter(self, i: str) -> None:
        at, python = self.subscript(i)
        value, expression = self.element(i)
        array = self.source.choice("AB")
        if self.source.random() < 0.6:
            old = self.value(f"memref.load %{array}[{at}] : memref<?xf64>")
            value = self.value(f"arith.addf {old}, {value} : f64")
            self.line(f"{array}[{python}] += {expression}")
        else:
            self.line(f"{array}[{python}] = {expression}")
        self.op(f"memref.store {value}, %{array}[{at}] : memref<?xf64>")

    def histogram(self, i: str) -> None:
        at, python = self.subscript(i)
        old = self.value(f"memref.load %H[{at}] : memref<?xi64>")
        one = self.value("arith.constant 1 : i64")
        new = self.value(f"arith.addi {old}, {one} : i64")
        self.op(f"memref.store {new}, %H[{at}] : memref<?xi64>")
        self.line(f"H[{python}] += 1")

    def row(self, i: str) -> None:
        """A scatter in a row, or to rows."""
        self.count += 1
        j = f"j{self.count}"
        rows = self.source.random() < 0.5
        value = self.value(f"memref.load %v[%{i}] : memref<?xf64>")

        def body() -> None:
            own = self.index("J", f"%{i}")
            first = self.value(f"arith.remsi {own}, %n : index") if rows else f"%{i}"
            second = f"%{j}" if rows else own
            old = self.value(f"memref.load %C[{first}, {second}] : memref<?x?xf64>")
            new = self.value(f"arith.addf {old}, {value} : f64")
            self.op(f"memref.store {new}, %C[{first}, {second}] : memref<?x?xf64>")
            self.line(f"C[J[{i}] % n, {j}] += v[{i}]" if rows else f"C[{i}, J[{i}]] += v[{i}]")

        self.loop(j, "m", body)

    def sparse(self, i: str) -> None:
        """A loop with bounds from memory, which sums up or scatters."""
        self.count += 1
        k, own = f"k{self.count}", f"r{self.count}"
        one = self.value("arith.constant 1 : index")
        low = self.index("P", f"%{i}")
        high = self.index("P", self.value(f"arith.addi %{i}, {one} : index"))
        sums = self.source.random() < 0.6
        zero = self.value("arith.constant 0.0 : f64")
        carried = f" iter_args(%a{own} = {zero}) -> (f64)" if sums else ""
        self.op(
            f"{f'%{own} = ' if sums else ''}scf.for %{k} = {low} to {high} step {one}{carried} {{"
        )
        if sums:
            self.line(f"{own} = 0.0")
        self.line(f"for {k} in range(P[{i}], P[{i} + 1]):")

        def body() -> None:
            at = self.index("J", f"%{k}")
            if sums:
                loaded = self.value(f"memref.load %B[{at}] : memref<?xf64>")
                new = self.value(f"arith.addf %a{own}, {loaded} : f64")
                self.op(f"scf.yield {new} : f64")
                self.line(f"{own} += B[J[{k}]]")
                return
            loaded = self.value(f"memref.load %v[%{k}] : memref<?xf64>")
            self.op(f"memref.store {loaded}, %A[{at}] : memref<?xf64>")
            self.line(f"A[J[{k}]] = v[{k}]")

        self.inside(body)
        if sums:
            self.op(f"memref.store %{own}, %v[%{i}] : memref<?xf64>")
            self.line(f"v[{i}] = {own}")

    def branch(self, i: str) -> None:
        """A branch on data around something that is not affine."""
        loaded = self.value(f"memref.load %v[%{i}] : memref<?xf64>")
        limit = self.value("arith.constant 1.0 : f64")
        truth = self.value(f"arith.cmpf ogt, {loaded}, {limit} : f64")
        self.op(f"scf.if {truth} {{")
        self.line(f"if v[{i}] > 1.0:")
        self.inside(lambda: self.scatter(i))

    def search(self, i: str) -> None:
        """A loop that ends where data say so."""
        self.count += 1
        c = f"c{self.count}"
        first = self.index("J", f"%{i}")
        one = self.value("arith.constant 1 : index")
        self.op(f"%{c} = scf.while (%x{c} = {first}) : (index) -> index {{")
        self.line(f"{c} = int(J[{i}])")
        self.line(f"while {c} < K[{i}]:")
        self.depth += 1
        limit = self.index("K", f"%{i}")
        truth = self.value(f"arith.cmpi slt, %x{c}, {limit} : index")
        self.op(f"scf.condition({truth}) %x{c} : index")
        self.depth -= 1
        self.op("} do {")
        self.op(f"^bb0(%y{c}: index):")

        def body() -> None:
            old = self.value(f"memref.load %A[%y{c}] : memref<?xf64>")
            more = self.value("arith.constant 2.0 : f64")
            new = self.value(f"arith.addf {old}, {more} : f64")
            self.op(f"memref.store {new}, %A[%y{c}] : memref<?xf64>")
            self.line(f"A[{c}] += 2.0")
            following = self.value(f"arith.addi %y{c}, {one} : index")
            self.op(f"scf.yield {following} : index")
            self.line(f"{c} += 1")

        self.inside(body)

    def affine(self, i: str) -> None:
        """Something affine beside it all."""
        kind = self.source.randrange(3)
        if kind == 0:
            loaded = self.value(f"memref.load %v[%{i}] : memref<?xf64>")
            more = self.value("arith.constant 1.0 : f64")
            new = self.value(f"arith.addf {loaded}, {more} : f64")
            self.op(f"memref.store {new}, %v[%{i}] : memref<?xf64>")
            self.line(f"v[{i}] += 1.0")
            return
        self.count += 1
        j = f"j{self.count}"

        def body() -> None:
            one = self.value(f"memref.load %B[%{j}] : memref<?xf64>")
            if kind == 1:
                other = self.value(f"memref.load %v[%{i}] : memref<?xf64>")
                new = self.value(f"arith.addf {one}, {other} : f64")
                self.op(f"memref.store {new}, %C[%{i}, %{j}] : memref<?x?xf64>")
                self.line(f"C[{i}, {j}] = B[{j}] + v[{i}]")
            else:
                other = self.value(f"memref.load %C[%{i}, %{j}] : memref<?x?xf64>")
                new = self.value(f"arith.subf {other}, {one} : f64")
                self.op(f"memref.store {new}, %A[%{j}] : memref<?xf64>")
                self.line(f"A[{j}] = C[{i}, {j}] - B[{j}]")

        self.loop(j, "m", body)

    def nest(self, number: int) -> None:
        i = f"i{number}"
        kinds = (
            *(self.scatter,) * 3,
            self.histogram,
            self.row,
            *(self.sparse,) * 2,
            self.branch,
            self.search,
            *(self.affine,) * 3,
        )

        def body() -> None:
            for _ in range(self.source.choice((1, 1, 2, 3))):
                self.source.choice(kinds)(i)

        self.loop(i, "n", body)


def opaque_program(seed: int) -> OpaqueProgram:
    """The program of a seed."""
    source = random.Random(seed)
    writer = _Writer(source)
    for number in range(source.choice((1, 2, 3))):
        writer.nest(number)
    arguments = ", ".join(f"%{name}: {kind}" for name, kind in ARGUMENTS.items())
    text = "\n".join([f"func.func @f({arguments}) {{", *writer.mlir, "  return", "}", ""])
    python = "\n".join([f"def f({', '.join(ARGUMENTS)}):", *writer.python, ""])
    return OpaqueProgram(text, python)


def opaque_arguments(
    source: random.Random, *, wrong: bool = False
) -> list[int | NDArray[np.generic]]:
    """Arguments; with `wrong`, a subscript or bound is outside of its array."""
    n, m = source.randrange(1, 9), source.randrange(1, 9)
    random_ = np.random.default_rng(source.randrange(2**32))
    integers: dict[str, NDArray[np.int32]] = {
        "J": random_.integers(0, min(n, m), n).astype("i4"),
        "K": random_.integers(0, min(n, m), n).astype("i4"),
        "P": np.sort(random_.integers(0, n + 1, n + 1)).astype("i4"),
    }
    if wrong:
        array = integers[source.choice("JKP")]
        array[source.randrange(len(array))] = source.choice((-1, 9, 2**31 - 1, -(2**31)))
    floats = [random_.integers(0, 4, shape).astype("f8") for shape in (n, m, m, (n, m))]
    return [n, m, *integers.values(), *floats, np.zeros(m, "i8")]
