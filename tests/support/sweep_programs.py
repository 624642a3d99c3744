"""Random sweeps in place over a plane: recurrences along both of its dimensions."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

import loopwright
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

KINDS = {"f64": np.float64, "f32": np.float32, "i32": np.int32, "i64": np.int64, "i16": np.int16}

PROGRAM = """
func.func @f(%steps: index, %n: index, %m: index, %A: memref<?x?xKIND>, %B: memref<?x?xKIND>) {
  affine.for %t = 0 to %steps {
    affine.for %i = 2 to affine_map<()[s0] -> (s0 - 2)>()[%n] {
      affine.for %j = 3 to affine_map<()[s0] -> (s0 - 3)>()[%m] {
        BODY
      }
    }
  }
  return
}
"""


@dataclass(frozen=True)
class Sweep:
    """Each element becomes a combination of `terms`: an array, rows below, and columns on.

    Sweeps go down and to the right, or backwards.
    """

    kind: str
    terms: tuple[tuple[str, int, int], ...]
    upwards: bool = False
    leftwards: bool = False

    @property
    def text(self) -> str:
        """The program."""
        suffix = "f" if self.kind.startswith("f") else "i"
        lines: list[str] = []
        value = ""
        for number, (array, rows, columns) in enumerate(self.terms):
            place = self._place(rows, columns)
            lines.append(f"%a{number} = affine.load %{array}[{place}] : memref<?x?x{self.kind}>")
            if number == 0:
                value = "%a0"
                continue
            operation = ("sub", "add")[number % 2] + suffix
            if number == len(self.terms) - 1:
                operation = "maximumf" if suffix == "f" else "maxsi"
            lines.append(f"%s{number} = arith.{operation} {value}, %a{number} : {self.kind}")
            value = f"%s{number}"
        lines.append(f"affine.store {value}, %A[{self._place(0, 0)}] : memref<?x?x{self.kind}>")
        return PROGRAM.replace("BODY", "\n        ".join(lines)).replace("KIND", self.kind)

    @property
    def function(self) -> Function:
        """The program."""
        return loopwright.load(self.text)["f"]

    def _place(self, rows: int, columns: int) -> str:
        row = f"%n - 1 - %i - {rows}" if self.upwards else f"%i + {rows}"
        column = f"%m - 1 - %j - {columns}" if self.leftwards else f"%j + {columns}"
        return f"{row}, {column}".replace("- -", "+ ").replace("+ -", "- ")


def random_sweep(seed: int) -> Sweep:
    """The element before in its row, others around, and sometimes one of another matrix."""
    draw = random.Random(seed)
    around = [(rows, columns) for rows in (-1, 0, 1) for columns in (-2, -1, 0, 1, 2)]
    chosen = draw.sample(around, draw.randint(1, 6))
    terms = [("A", 0, -1), *(("A", rows, columns) for rows, columns in chosen)]
    if draw.random() < 0.4:
        terms.append(("B", draw.randint(-1, 1), draw.randint(-2, 2)))
    draw.shuffle(terms)
    kind = draw.choice(list(KINDS))
    return Sweep(kind, tuple(terms), upwards=draw.random() < 0.4, leftwards=draw.random() < 0.4)


def planes(kind: str, n: int, m: int) -> list[np.ndarray]:
    """Two arrays of small numbers, whose sums stay apart."""
    values = np.random.default_rng(n * m).integers(-1000, 1000, (2, n, m))
    return [plane.astype(KINDS[kind]) for plane in values]


def assert_same(
    function: Function, schedule: Schedule | str, kind: str, sizes: tuple[int, int, int]
) -> None:
    """Runs a program as written and scheduled: results have the same bits."""
    steps, n, m = sizes
    expected, actual = planes(kind, n, m), planes(kind, n, m)
    function.compile(None)(steps, n, m, *expected)
    function.compile(schedule, threads=2)(steps, n, m, *actual)
    for one, other in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(one, other)
