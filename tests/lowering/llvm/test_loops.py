"""Loops, conditions and affine expressions: which iterations run, in which order."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.machine_code import MachineCode
from xdsl.dialects import affine

from loopwright.dialects.parse import parse_module
from loopwright.lowering.llvm.unrolling import unroll_hint

TRACE = 4096


def traced(loops: str, arguments: str) -> str:
    """A function that stores `%v` of each iteration of `loops`, which contain `BODY`."""
    body = """
      %at = memref.load %count[] : memref<index>
      memref.store %v, %trace[%at] : memref<?xindex>
      %next = arith.addi %at, %one : index
      memref.store %next, %count[] : memref<index>
    """
    return f"""
    func.func @f({arguments}%count: memref<index>, %trace: memref<?xindex>) {{
      %one = arith.constant 1 : index
      {loops.replace("BODY", body)}
      return
    }}"""


def trace(code: MachineCode, *arguments: int) -> list[int]:
    """The values that were stored, in order."""
    count, values = np.zeros((), np.int64), np.zeros(TRACE, np.int64)
    code("f", *arguments, count, values)
    return values[: int(count)].tolist()


# bounds and step -> the values of the induction variable for arguments %a, %b
LOOPS: dict[str, Callable[[int, int], range]] = {
    "%a to %b": range,
    "%a to %b step 3": lambda a, b: range(a, b, 3),
    "0 to %b": lambda a, b: range(b),
    "%a to 5 step 2": lambda a, b: range(a, 5, 2),
    "-3 to 4": lambda a, b: range(-3, 4),
    "4 to 4": lambda a, b: range(0),
    "7 to -2": lambda a, b: range(0),
    "2 to 17 step 5": lambda a, b: range(2, 17, 5),
    "0 to 1": lambda a, b: range(1),
    "max affine_map<(d0)[s0] -> (d0, s0, 1)>(%a)[%b] to 9": lambda a, b: range(max(a, b, 1), 9),
    "-4 to min affine_map<(d0, d1) -> (d0 + d1, 6, d1 * 2)>(%a, %b)": lambda a, b: range(
        -4, min(a + b, 6, b * 2)
    ),
    "affine_map<(d0) -> (d0 * 8)>(%a) to affine_map<(d0) -> (d0 * 8 + 8)>(%a) step 3": (
        lambda a, b: range(8 * a, 8 * a + 8, 3)
    ),
    "affine_map<(d0) -> (d0 floordiv 3)>(%a) to affine_map<(d0) -> (d0 ceildiv 2)>(%b)": (
        lambda a, b: range(a // 3, -(-b // 2))
    ),
}
ARGUMENTS = list(itertools.product((-7, -1, 0, 1, 4, 11), repeat=2))


@pytest.mark.parametrize("bounds", LOOPS)
def test_affine_for(bounds: str) -> None:
    text = traced(f"affine.for %v = {bounds} {{ BODY }}", "%a: index, %b: index, ")
    code = MachineCode(text)
    for a, b in ARGUMENTS:
        assert trace(code, a, b) == list(LOOPS[bounds](a, b)), (a, b)


def test_scf_for() -> None:
    code = MachineCode(
        traced("scf.for %v = %a to %b step %c { BODY }", "%a: index, %b: index, %c: index, ")
    )
    for (a, b), step in itertools.product(ARGUMENTS, (1, 2, 7)):
        assert trace(code, a, b, step) == list(range(a, b, step))


def test_nest_with_bounds_from_outer_loops() -> None:
    loops = """
      affine.for %i = 0 to %n {
        affine.for %j = affine_map<(d0) -> (d0)>(%i) to %n step 2 {
          affine.for %k = 0 to min affine_map<(d0, d1) -> (d0 + 1, d1)>(%j, %i) {
            %v = affine.apply affine_map<(d0, d1, d2) -> (d0 * 100 + d1 * 10 + d2)>(%i, %j, %k)
            BODY
          }
        }
      }"""
    code = MachineCode(traced(loops, "%n: index, "))
    for n in (0, 1, 5, 9):
        assert trace(code, n) == [
            100 * i + 10 * j + k
            for i in range(n)
            for j in range(i, n, 2)
            for k in range(min(j + 1, i))
        ]


EXPRESSIONS: dict[str, Callable[[int, int], int]] = {
    "d0 + d1": lambda a, b: a + b,
    "d0 - d1": lambda a, b: a - b,
    "d0 * 5 - 3": lambda a, b: 5 * a - 3,
    "-d0": lambda a, b: -a,
    "d0 floordiv 4": lambda a, b: a // 4,
    "d0 floordiv 5": lambda a, b: a // 5,
    "d0 floordiv 1": lambda a, b: a,
    "d0 ceildiv 4": lambda a, b: -(-a // 4),
    "d0 ceildiv 7": lambda a, b: -(-a // 7),
    "d0 mod 8": lambda a, b: a % 8,
    "d0 mod 7": lambda a, b: a % 7,
    "d0 mod 1": lambda a, b: 0,
    "(d0 + d1) mod 3 - d1 floordiv 2": lambda a, b: (a + b) % 3 - b // 2,
    "(d0 floordiv 3) * 3 + d0 mod 3 - d0": lambda a, b: 0,
    "42": lambda a, b: 42,
}


def test_affine_expressions() -> None:
    functions = [
        f"""
        func.func @f{number}(%a: index, %b: index) -> index {{
          %r = affine.apply affine_map<(d0, d1) -> ({expression})>(%a, %b)
          return %r : index
        }}"""
        for number, expression in enumerate(EXPRESSIONS)
    ]
    code = MachineCode("\n".join(functions))
    values = (*range(-16, 17), -1000, 1000, -(1 << 40), (1 << 40) + 1)
    for number, (expression, meaning) in enumerate(EXPRESSIONS.items()):
        for a, b in itertools.product(values, (-5, 0, 3)):
            assert code(f"f{number}", a, b) == meaning(a, b), (expression, a, b)


def test_affine_expressions_of_constants() -> None:
    functions = [
        f"""
        func.func @f{number}_{place}() -> index {{
          %a = arith.constant {a} : index
          %b = arith.constant 3 : index
          %r = affine.apply affine_map<(d0, d1) -> ({expression})>(%a, %b)
          return %r : index
        }}"""
        for number, expression in enumerate(EXPRESSIONS)
        for place, a in enumerate((-9, 0, 9))
    ]
    code = MachineCode("\n".join(functions), vectorise=False)
    for number, (expression, meaning) in enumerate(EXPRESSIONS.items()):
        for place, a in enumerate((-9, 0, 9)):
            assert code(f"f{number}_{place}") == meaning(a, 3), (expression, a)


@pytest.mark.parametrize(("operation", "meaning"), [("min", min), ("max", max)])
def test_affine_min_and_max(operation: str, meaning: Callable[..., int]) -> None:
    code = MachineCode(f"""
    func.func @f(%a: index, %b: index) -> index {{
      %r = affine.{operation} affine_map<(d0)[s0] -> (d0, s0 - 2, 3)>(%a)[%b]
      return %r : index
    }}""")
    for a, b in ARGUMENTS:
        assert code("f", a, b) == meaning(a, b - 2, 3)


CARRIED = """
func.func @f(%n: index, %x: f64, %k: i32) -> (f64, i32, index) {
  %one = arith.constant 1 : i32
  %r:3 = affine.for %i = 0 to %n iter_args(%a = %x, %b = %k, %last = %n) -> (f64, i32, index) {
    %s:2 = affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i)
        iter_args(%c = %a, %d = %b) -> (f64, i32) {
      %e = arith.addf %c, %c : f64
      %f = arith.addi %d, %one : i32
      affine.yield %e, %f : f64, i32
    }
    affine.yield %s#0, %s#1, %i : f64, i32, index
  }
  return %r#0, %r#1, %r#2 : f64, i32, index
}"""


def test_values_carried_through_loops() -> None:
    code = MachineCode(CARRIED)
    for n in (-1, 0, 1, 2, 5):
        steps = sum(range(n))
        assert code("f", n, 0.5, 7) == (0.5 * 2**steps, 7 + steps, n - 1 if n > 0 else n)


def test_carried_values_can_change_places() -> None:
    code = MachineCode("""
    func.func @f(%n: index) -> i64 {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %r:2 = affine.for %i = 0 to %n iter_args(%a = %zero, %b = %one) -> (i64, i64) {
        %c = arith.addi %a, %b : i64
        affine.yield %b, %c : i64, i64
      }
      return %r#0 : i64
    }""")
    assert [code("f", n) for n in range(10)] == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]


CONDITIONS: dict[str, Callable[[int, int], bool]] = {
    "d0 >= 0": lambda a, b: a >= 0,
    "d0 - d1 == 0": lambda a, b: a == b,
    "d0 - 1 >= 0, d1 - d0 >= 0": lambda a, b: 1 <= a <= b,
    "d0 mod 2 == 0, -d1 + 3 >= 0": lambda a, b: a % 2 == 0 and b <= 3,
    "0 == 0": lambda a, b: True,
    "-1 >= 0": lambda a, b: False,
}


def test_affine_if() -> None:
    functions = [
        f"""
        func.func @f{number}(%a: index, %b: index, %r: memref<3xindex>) -> index {{
          %c10 = arith.constant 10 : index
          %c20 = arith.constant 20 : index
          affine.if affine_set<(d0, d1) : ({condition})>(%a, %b) {{
            affine.store %c10, %r[0] : memref<3xindex>
          }}
          affine.if affine_set<(d0, d1) : ({condition})>(%a, %b) {{
            affine.store %c10, %r[1] : memref<3xindex>
          }} else {{
            affine.store %c20, %r[1] : memref<3xindex>
          }}
          %v = affine.if affine_set<(d0, d1) : ({condition})>(%a, %b) -> index {{
            affine.yield %a : index
          }} else {{
            affine.yield %b : index
          }}
          return %v : index
        }}"""
        for number, condition in enumerate(CONDITIONS)
    ]
    code = MachineCode("\n".join(functions))
    for number, (condition, holds) in enumerate(CONDITIONS.items()):
        for a, b in ARGUMENTS:
            stored = np.zeros(3, np.int64)
            result = code(f"f{number}", a, b, stored)
            expected = holds(a, b)
            assert result == (a if expected else b), (condition, a, b)
            assert stored.tolist() == ([10, 10, 0] if expected else [0, 20, 0])


def test_scf_if() -> None:
    code = MachineCode("""
    func.func @f(%c: i1, %x: f64, %r: memref<f64>) -> (f64, i32) {
      scf.if %c {
        memref.store %x, %r[] : memref<f64>
      }
      %v:2 = scf.if %c -> (f64, i32) {
        %k = arith.constant 1 : i32
        scf.yield %x, %k : f64, i32
      } else {
        %y = arith.negf %x : f64
        %k = arith.constant 2 : i32
        scf.yield %y, %k : f64, i32
      }
      return %v#0, %v#1 : f64, i32
    }""")
    stored = np.zeros(())
    assert code("f", False, 3.0, stored) == (-3.0, 2)
    assert stored == 0
    assert code("f", True, 3.0, stored) == (3.0, 1)
    assert stored == 3


@pytest.mark.parametrize("unroll", [0, 1, 2, 4, 5])
@pytest.mark.parametrize("vectorise", [False, True])
def test_unroll_hints_keep_the_meaning(unroll: int, vectorise: bool) -> None:
    code = MachineCode(
        f"""
    func.func @f(%n: index, %A: memref<?xf64>, %x: f64) -> f64 {{
      %r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {{
        %a = affine.load %A[%i] : memref<?xf64>
        %t = arith.addf %s, %a : f64
        affine.yield %t : f64
      }} {{llvm.unroll = {unroll} : i64}}
      %q = affine.for %i = 0 to 6 iter_args(%s = %r) -> (f64) {{
        %t = arith.addf %s, %s : f64
        affine.yield %t : f64
      }} {{llvm.unroll = {unroll} : i64}}
      return %q : f64
    }}""",
        vectorise=vectorise,
    )
    values = np.arange(20.0)
    for n in range(12):
        assert code("f", n, values, 1.0) == 64 * (1.0 + values[:n].sum())


def test_unroll_hint_reaches_the_machine_code() -> None:
    def adds(unroll: int) -> int:
        text = f"""
        func.func @f(%n: index, %A: memref<?xf64>, %x: f64) -> f64 {{
          %r = affine.for %i = 0 to %n iter_args(%s = %x) -> (f64) {{
            %a = affine.load %A[%i] : memref<?xf64>
            %t = arith.addf %s, %a : f64
            affine.yield %t : f64
          }} {{llvm.unroll = {unroll} : i64}}
          return %r : f64
        }}"""
        return MachineCode(text, vectorise=False).assembly.count("vaddsd")

    assert adds(1) == 1
    assert adds(4) >= 4


def test_loop_without_known_bounds_runs_to_the_end_of_the_integers() -> None:
    largest = (1 << 63) - 1
    code = MachineCode(traced("affine.for %v = %a to %b { BODY }", "%a: index, %b: index, "))
    assert trace(code, largest - 3, largest) == [largest - 3, largest - 2, largest - 1]


def run_random_nest(seed: int) -> tuple[list[int], list[int]]:
    """A nest of three loops with random bounds: what it ran, and what it should have run."""
    generator = np.random.default_rng(seed)
    names = ["%n"]
    lines: list[str] = []
    bounds: list[Any] = []
    for depth in range(3):
        terms = [
            (generator.integers(-2, 3, len(names)), int(generator.integers(-2, 4)))
            for _ in range(4)
        ]
        step = int(generator.integers(1, 4))
        dims = ", ".join(f"d{number}" for number in range(len(names)))
        texts = [
            " + ".join([*(f"d{n} * {c}" for n, c in enumerate(coefficients)), str(constant)])
            for coefficients, constant in terms
        ]
        operands = ", ".join(names)
        lines.append(
            f"affine.for %i{depth} = max affine_map<({dims}) -> ({texts[0]}, {texts[1]})>"
            f"({operands}) to min affine_map<({dims}) -> ({texts[2]}, {texts[3]}, 7)>({operands})"
            f" step {step} {{"
        )
        names.append(f"%i{depth}")
        bounds.append((terms, step))
    lines.append("%v = affine.apply affine_map<(d0, d1, d2) -> (d0 * 10000 + d1 * 100 + d2)>")
    lines.append("(%i0, %i1, %i2) BODY } } }")
    code = MachineCode(traced("\n".join(lines), "%n: index, "), vectorise=bool(seed % 2))

    expected: list[int] = []

    def nest(values: list[int]) -> None:
        if len(values) == 4:
            expected.append(values[1] * 10000 + values[2] * 100 + values[3])
            return
        terms, step = bounds[len(values) - 1]
        ends = [int(np.dot(coefficients, values)) + constant for coefficients, constant in terms]
        for value in range(max(ends[:2]), min(*ends[2:], 7), step):
            nest([*values, value])

    nest([4])
    assert len(expected) < TRACE
    return trace(code, 4), expected


@pytest.mark.parametrize("seed", range(25))
def test_random_nests(seed: int) -> None:
    found, expected = run_random_nest(seed)
    assert found == expected


def test_a_long_loop_around_a_large_condition_is_not_unrolled() -> None:
    """It was counted as one operation: the first call of a sum of rows took twelve seconds."""

    def hint(size: int) -> int | None:
        body = "affine.vector_store %v, %A[%i] : memref<?xf64>, vector<8xf64>\n" * size
        module = parse_module(f"""
        func.func @f(%A: memref<?xf64>, %n: index) {{
          affine.for %i = 0 to 64 {{
            affine.if affine_set<()[s0] : (s0 - 9 >= 0)>()[%n] {{
              %v = affine.vector_load %A[%i] : memref<?xf64>, vector<8xf64>
              {body}
            }}
          }}
          return
        }}""")
        return next(unroll_hint(op) for op in module.walk() if isinstance(op, affine.ForOp))

    assert hint(100) is None
    assert hint(0) == 0
