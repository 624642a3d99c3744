"""Updates that leave out a diagonal run on it as well, without effect and without new accesses."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from support.polyhedral_programs import scop_of

import loopwright

SUM = """
        %d = arith.subf %b, %a : f64
        %q = arith.divf %a, %d : f64
        %s = affine.load %y[%i] : memref<?xf64>
        %t = arith.addf %s, %q : f64
        affine.store %t, %y[%i] : memref<?xf64>"""
PRODUCT = """
        %s = affine.load %y[%i] : memref<?xf64>
        %q = arith.mulf %a, %b : f64
        %t = arith.subf %s, %q : f64
        affine.store %t, %y[%i] : memref<?xf64>"""
NEAREST = """
        %s = affine.load %y[%i] : memref<?xf64>
        %d = arith.subf %b, %a : f64
        %q = math.absf %d : f64
        %c = arith.cmpf olt, %q, %s : f64
        %t = arith.select %c, %q, %s : f64
        affine.store %t, %y[%i] : memref<?xf64>"""
LAST = """
        affine.store %b, %y[%i] : memref<?xf64>"""
INNER = """
        %w = memref.alloca() : memref<f64>
        affine.store %b, %w[] : memref<f64>
        affine.for %k = 0 to 3 {
          %g = affine.load %w[] : memref<f64>
          %h = affine.load %z[%j, %k] : memref<?x3xf64>
          %l = arith.mulf %g, %h : f64
          affine.store %l, %w[] : memref<f64>
        }
        affine.for %k = 0 to 3 {
          %g = affine.load %w[] : memref<f64>
          %h = affine.load %v[%i, %k] : memref<?x3xf64>
          %l = arith.subf %h, %g : f64
          affine.store %l, %v[%i, %k] : memref<?x3xf64>
        }"""
UPDATES = {"sum": SUM, "product": PRODUCT, "nearest": NEAREST, "last": LAST, "inner loops": INNER}

ALL = """
        affine.store %b, %p[%i, %j] : memref<?x?xf64>"""
NEIGHBOUR = """
        %e = affine.load %x[%i + %j] : memref<?xf64>
        affine.store %e, %y[%i] : memref<?xf64>"""
REMAINDER = """
        %one = arith.constant 1 : index
        %e = arith.remsi %one, %i : index
        %f = arith.index_cast %e : index to i32
        %g = arith.sitofp %f : i32 to f64
        affine.store %g, %y[%i] : memref<?xf64>"""
READ_ONCE = """
        %e = affine.load %p[%i, %j] : memref<?x?xf64>
        %s = affine.load %y[%i] : memref<?xf64>
        %t = arith.addf %s, %e : f64
        affine.store %t, %y[%i] : memref<?xf64>"""
EXTERNAL = """
        %e = func.call @inverse(%b) : (f64) -> f64
        %s = affine.load %y[%i] : memref<?xf64>
        %t = arith.addf %s, %e : f64
        affine.store %t, %y[%i] : memref<?xf64>"""
OTHERS = {
    "external": EXTERNAL,
    "all": ALL,
    "neighbour": NEIGHBOUR,
    "remainder": REMAINDER,
    "read once": READ_ONCE,
}

PROGRAM = """
func.func private @inverse(f64) -> f64 attributes {llvm.readnone}
func.func @f(%n: index, %m: index, %x: memref<?xf64>, %y: memref<?xf64>, %z: memref<?x3xf64>,
             %v: memref<?x3xf64>, %p: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = BOUNDS {
      affine.if affine_set<(d0, d1) : (CONDITION)>(%i, %j) {
      } else {
        %a = affine.load %x[%i] : memref<?xf64>
        %b = affine.load %x[%j] : memref<?xf64>BODY
      }
    }
  }
  return
}
"""
SQUARE, RECTANGLE = "0 to %n", "0 to %m"
CONDITIONS = ("d0 - d1 == 0", "d1 - d0 - 2 == 0", "d0 - d1 >= 0, d1 - d0 >= 0")


def program(body: str, condition: str = "d0 - d1 == 0", bounds: str = SQUARE) -> str:
    text = PROGRAM.replace("BODY", body).replace("CONDITION", condition)
    return text.replace("BOUNDS", bounds)


def is_filled(text: str) -> bool:
    """Whether all iterations run, but for sizes that leave none without the diagonal."""
    domains = [statement.domain for statement in scop_of(text).statements]
    return all(domain.n_basic_set() == 1 for domain in domains)


def arguments(n: int, m: int) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    size = max(n, m)
    shapes = [(size,), (n,), (size, 3), (n, 3), (n, m)]
    return [rng.standard_normal(shape) for shape in shapes]


SCHEDULES = ["default", "vectorize{loops=i width=8}", "tile{loops=i,j sizes=4,8}"]
RUNS = [("inner loops", "default"), *product(["sum", "product", "nearest", "last"], SCHEDULES)]


@pytest.mark.parametrize("bounds", [SQUARE, RECTANGLE])
@pytest.mark.parametrize("condition", CONDITIONS)
@pytest.mark.parametrize(("update", "schedule"), RUNS)
def test_same_bits(update: str, condition: str, bounds: str, schedule: str) -> None:
    text = program(UPDATES[update], condition, bounds)
    assert is_filled(text) == (bounds == SQUARE), "one column leaves rows without an update"
    function = loopwright.load(text)["f"]
    plain, kernel = function.compile(None), function.compile(schedule, threads=1)
    for n, m in ((0, 0), (1, 1), (2, 2), (9, 9), (37, 37), (5, 40), (1, 7), (23, 6)):
        if bounds == SQUARE:
            m = n
        given, found = arguments(n, m), arguments(n, m)
        plain(n, m, *given)
        kernel(n, m, *found)
        for one, other in zip(given, found, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("other", OTHERS)
def test_what_may_not_run_on_the_diagonal(other: str) -> None:
    assert not is_filled(program(OTHERS[other]))


def test_an_iteration_alone_accesses_nothing() -> None:
    kernel = loopwright.load(program(SUM))["f"].compile("default", threads=1)
    empty = np.zeros(0)
    kernel(1, 1, empty, empty, np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 0)))


def test_sums_are_reductions() -> None:
    (statement,) = scop_of(program(SUM)).statements
    assert statement.body[-1].operands[0].owner.name == "arith.addf"


@pytest.mark.parametrize("left", ["", "%w = arith.mulf %s, %a : f64"])
def test_products_before_the_condition_are_fused_as_written(left: str) -> None:
    """`y[i] += x[i] * x[j]` with the product outside of the condition is no fused operation."""
    text = f"""
      func.func @f(%n: index, %x: memref<?xf64>, %y: memref<?xf64>) {{
        affine.for %i = 0 to %n {{
          %half = arith.constant 0.5 : f64
          affine.store %half, %y[%i] : memref<?xf64>
          affine.for %j = 0 to %n {{
            %a = affine.load %x[%i] : memref<?xf64>
            %b = affine.load %x[%j] : memref<?xf64>
            %q = arith.mulf %a, %b : f64
            affine.if affine_set<(d0, d1) : (d0 - d1 == 0)>(%i, %j) {{
            }} else {{
              %s = affine.load %y[%i] : memref<?xf64>
              {left}
              %t = arith.addf %{"w" if left else "s"}, %q : f64
              affine.store %t, %y[%i] : memref<?xf64>
            }}
          }}
        }}
        return
      }}"""
    assert is_filled(text)
    function = loopwright.load(text)["f"]
    x = np.random.default_rng(0).standard_normal(40)
    expected = np.zeros(40)
    function.compile(None)(40, x, expected)
    for schedule in ("default", "vectorize{loops=i width=8}"):
        found = np.zeros(40)
        function.compile(schedule, threads=1)(40, x, found)
        np.testing.assert_array_equal(found, expected)
