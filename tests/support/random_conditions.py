"""Random Python functions with conditions and subscripts that depend on data.

Elements are small integers. Each function is compared with its undecorated run, as written and
under several schedules. A campaign: `python -m support.random_conditions FIRST COUNT FOLDER`.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

from loopwright.errors import TransformationError

from .random_python import load_source

HEADER = "import loopwright\nfrom loopwright import f64, i32, i64\n\n\n@loopwright.kernel\n"
SIGNATURE = (
    'def f(n: int, m: int, A: f64["n"], B: f64["n"], M: f64["n", "m"], C: i32["n"],\n'
    '      x: f64["k"], J: i32["n"], K: i64["n", "m"]):\n'
)
THRESHOLDS = (-(2**63), -(2**63) + 1, -(2**62), -(2**31) - 1, -1, 2, 2**31, 2**62, 2**63 - 1)
"""Values of the argument `t`, most of them at the ends of types."""

FIRST_WITH_THRESHOLD = 200_000
"""Functions of smaller numbers are as they were when they were counted."""

SCHEDULES = (None, "default", "affine-schedule", "affine-schedule{fusion=maximal}")


class Generator:
    """Writes one function; all subscripts of loops are inside of arrays of n >= 5, m >= 3."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.locals = 0
        self.has_threshold = seed >= FIRST_WITH_THRESHOLD

    def source(self) -> str:
        """The whole file."""
        for _ in range(self.random.randint(1, 3)):
            self._nest()
        signature = (
            SIGNATURE.replace("m: int", "m: int, t: int") if self.has_threshold else SIGNATURE
        )
        return HEADER + signature + "".join(f"{line}\n" for line in self.lines)

    def _line(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def _nest(self) -> None:
        bounds = "1, n - 1"
        if self.has_threshold:
            bounds = self.random.choice([bounds, "max(1, t), n - 1", "1, min(n - 1, t)"])
        self._line(1, f"for i in range({bounds}):")
        scope: list[str] = []
        deep = self.random.random() < 0.5
        if deep and self.random.random() < 0.5:
            self._statement(2, False, scope, 1)
        if deep:
            self._line(2, "for j in range(m):")
        for _ in range(self.random.randint(1, 3)):
            self._statement(3 if deep else 2, deep, scope, 2)

    def _statement(self, depth: int, deep: bool, scope: list[str], levels: int) -> None:
        kind = self.random.random()
        if kind < 0.45 and levels:
            self._line(depth, f"if {self._condition(deep, scope)}:")
            for _ in range(self.random.randint(1, 2)):
                self._statement(depth + 1, deep, [*scope], levels - 1)
            if self.random.random() < 0.5:
                self._line(depth, "else:")
                self._statement(depth + 1, deep, [*scope], levels - 1)
        elif kind < 0.6:
            name = f"t{self.locals}"
            self.locals += 1
            self._line(depth, f"{name} = f64({self._expression(deep, scope, 2)})")
            scope.append(name)
        elif kind < 0.7:
            self._line(depth, f"C[i] {self.random.choice(['+=', '-=', '='])} J[i]")
        else:
            target = self.random.choice(["A[i]", "B[i]", "B[i + 1]", "M[i, j]" if deep else "A[0]"])
            operator = self.random.choice(["=", "=", "+=", "-=", "*="])
            value = self._expression(deep, scope, 2)
            self._line(depth, f"{target} {operator} max(min({value}, 9.0), -9.0)")

    def _condition(self, deep: bool, scope: list[str]) -> str:
        parts: list[str] = []
        for _ in range(self.random.choice([1, 1, 1, 2, 2, 3])):
            kind = self.random.random()
            operator = self.random.choice(["<", "<=", ">", ">=", "==", "!="])
            if self.has_threshold and kind < 0.2:
                parts.append(f"{self.random.choice(['i', 'n', 'i - 1'])} {operator} t")
            elif kind < 0.3:
                parts.append(f"i {operator} {self.random.randint(1, 4)}")
            elif kind < 0.5:
                parts.append("0 <= J[i] < len(x)")
            elif kind < 0.6:
                parts.append("(J[i] >= 0 and J[i] < len(x) and x[J[i]] > 1.0)")
            elif kind < 0.7:
                parts.append(f"not ({self._expression(deep, scope, 1)} {operator} 1.0)")
            else:
                parts.append(f"{self._expression(deep, scope, 1)} {operator} C[i]")
        return self.random.choice([" and ", " or "]).join(parts)

    def _expression(self, deep: bool, scope: list[str], levels: int) -> str:
        kind = self.random.random()
        if not levels or kind < 0.35:
            leaves = ["A[i]", "A[i - 1]", "B[i + 1]", "B[i]", "2.0", "-1.0", "f64(i)", *scope]
            leaves += ["x[K[i, 0]]", "x[K[n - 1 - i, m - 1] // 2]", "x[(C[i] % 4 + 4) % 4]"]
            leaves += ["M[i, j]", "x[K[i, j]]"] if deep else []
            return self.random.choice(leaves)
        inner = [self._expression(deep, scope, levels - 1) for _ in range(2)]
        if kind < 0.5:
            return f"(x[J[i]] if 0 <= J[i] < len(x) else {inner[0]})"
        if kind < 0.65:
            return f"({inner[0]} if {self._condition(deep, scope)} else f64({inner[1]}))"
        operator = self.random.choice(["+", "-", "*"])
        return f"({inner[0]} {operator} {inner[1]})"


def check_conditions(seed: int, folder: Path) -> int:
    """A random function computes what Python does; returns how many schedules were compared."""
    generator = Generator(seed)
    source = generator.source()
    kernel = load_source(source, folder, f"conditions_{seed}").f
    values = np.random.default_rng(seed)
    n, m, k = int(values.integers(5, 9)), int(values.integers(3, 6)), 7
    arrays = [values.integers(-2, 4, shape) * 1.0 for shape in ((n,), (n,), (n, m))]
    arguments: list[Any] = [n, m, *arrays, values.integers(-2, 4, n).astype("i4")]
    arguments += [values.integers(-2, 4, k) * 1.0, values.integers(-3, k + 3, n).astype("i4")]
    arguments.append(values.integers(0, k, (n, m)))
    names = "nmABMCxJK"
    if generator.has_threshold:
        names = "nmtABMCxJK"
        arguments.insert(2, generator.random.choice(THRESHOLDS))
    expected = [np.array(each) if isinstance(each, np.ndarray) else each for each in arguments]
    kernel.python(*expected)
    compared = 0
    for schedule in SCHEDULES:
        try:
            compiled = kernel.compile(schedule, threads=2)
        except TransformationError:
            continue
        given = [np.array(each) if isinstance(each, np.ndarray) else each for each in arguments]
        compiled(*given)
        for name, ours, theirs in zip(names, given, expected, strict=True):
            assert np.array_equal(ours, theirs), f"{source}\n{schedule}: {name}\n{ours}\n{theirs}"
        compared += 1
    return compared


def main() -> int:
    """A campaign; prints what it found."""
    first, count, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    failures = compared = 0
    for seed in range(first, first + count):
        try:
            compared += check_conditions(seed, folder)
        except Exception as error:
            failures += 1
            print(f"{seed}: {type(error).__name__}: {error}", flush=True)
    print(f"{count} functions, {compared} schedules compared, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
