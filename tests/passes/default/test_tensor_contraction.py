"""Contractions are found in any loop order and with any operands, and keep their results."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from support.contractions import einsum
from support.machine_code import NUMPY_TYPES
from support.reference_runs import check_run, function_of
from support.targets import WIDE

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.fused_contraction import fused_contraction
from loopwright.passes.default.privatised_contraction import privatised_contraction
from loopwright.passes.default.tensor_contraction import tensor_contraction
from loopwright.passes.estimate.register_tile import even_size, register_tile
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

EXTENTS = {"i": 37, "j": 70, "k": 53, "l": 6, "b": 3}

CONTRACTIONS = (
    "ik,kj->ij",
    "ki,kj->ij",
    "ik,jk->ij",
    "ki,jk->ij",
    "kj,ik->ij",
    "bik,bkj->bij",
    "ikl,lkj->ij",
    "bik,kj->bij",
    "bki,jk->ibj",
)


def scheduled(
    function: Function, sizes: dict[str, int], threads: int, target: Target | None = None
) -> Schedule | None:
    original = Schedule.original(function.scop, target)
    context = SchedulingContext(infer_extents(function.scop, sizes), threads)
    return tensor_contraction(original, original.tree, context)


@pytest.mark.parametrize(("number", "equation"), tuple(enumerate(CONTRACTIONS)))
def test_results_are_those_of_the_program(number: int, equation: str) -> None:
    element = ("f32", "f64")[number % 2]
    names = sorted(set(equation) & set(EXTENTS))
    left, right, result = equation.replace("->", ",").split(",")
    orders = list(itertools.permutations(names))
    for order in (orders[number % len(orders)], orders[-1]):
        function = einsum(equation, "".join(order), element)
        sizes = {f"n{name}": EXTENTS[name] for name in order}
        schedule = scheduled(function, sizes, 2)
        assert schedule is not None
        assert "unroll" in str(schedule)
        assert function.schedule(str(schedule)) == schedule
        rng = np.random.default_rng(1)
        a, b, c = (
            rng.integers(-4, 5, [EXTENTS[x] for x in s]).astype(f"f{int(element[1:]) // 8}")
            for s in (left, right, result)
        )
        expected = c + np.einsum(equation, a, b)
        function.compile(str(schedule), threads=2)(*sizes.values(), a, b, c)
        np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("shape", [(1, 64, 64), (64, 1, 64), (64, 64, 1), (129, 97, 65), (9, 9, 9)])
@pytest.mark.parametrize("threads", [1, 2])
def test_any_shape(shape: tuple[int, int, int], threads: int) -> None:
    function = einsum("ik,kj->ij", "ijk")
    m, n, k = shape
    schedule = scheduled(function, dict(zip(("ni", "nj", "nk"), shape, strict=True)), threads)
    rng = np.random.default_rng(1)
    a, b, c = (rng.integers(-4, 5, s) * 1.0 for s in ((m, k), (k, n), (m, n)))
    expected = c + a @ b
    function.compile(str(schedule or ""), threads=threads)(m, n, k, a, b, c)
    np.testing.assert_array_equal(c, expected)


INITIALISED = {
    "tiramisu/convolution": (2, 3, 2, 5, 83, 3),
    "tiramisu/conv_relu": (1, 2, 3, 4, 70, 3),
}
PRIVATE = {"polybench/doitgen": (3, 17, 21), "tiramisu/doitgen": (2, 40, 37)}


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("tiramisu/convolution", ""),
        ("tiramisu/conv_relu", ""),
        ("tiramisu/conv_relu", "affine-schedule"),
    ],
)
def test_a_result_that_starts_with_something(name: str, seed: str) -> None:
    function = function_of(name)
    start = function.schedule(seed)
    sizes = infer_extents(function.scop, parameters(name, INITIALISED[name]))
    schedule = fused_contraction(start, nests(start.tree)[0], SchedulingContext(sizes, 2))
    assert schedule is not None
    check_run(name, str(schedule), INITIALISED[name])


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("threads", [1, 2])
def test_a_result_that_every_iteration_overwrites(name: str, threads: int) -> None:
    function = function_of(name)
    original = Schedule.original(function.scop)
    sizes = infer_extents(function.scop, parameters(name, PRIVATE[name]))
    schedule = privatised_contraction(original, original.tree, SchedulingContext(sizes, threads))
    assert schedule is not None
    assert "pack{loops=q array=sum}" in str(schedule)
    check_run(name, str(schedule), PRIVATE[name], threads)


def parameters(name: str, values: tuple[int, ...]) -> dict[str, int]:
    return dict(zip(catalogue()[name].parameters, values, strict=True))


def test_no_sum_is_no_contraction() -> None:
    text = """
func.func @f(%n: index, %A: memref<?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %a = affine.load %A[%j] : memref<?xf64>
      affine.store %a, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""
    assert scheduled(loopwright.load(text)["f"], {"n": 1000}, 2) is None


def test_a_register_tile_fits_the_registers_and_the_extents() -> None:
    target = replace(Target.host(), vector_registers=32)
    for rows, vectors in itertools.product((1, 4, 5, 84, 1000), (1, 2, 3, 63)):
        tile = register_tile(rows, vectors, 1000, target)
        assert tile.rows <= rows
        assert tile.vectors <= vectors
        assert tile.rows * tile.vectors + tile.vectors + 1 <= 32
    tile = register_tile(1000, 63, 1000, target)
    assert tile.rows * tile.vectors >= 24


def test_parts_are_even() -> None:
    assert even_size(1000, 384, 4) == 336
    assert even_size(10, 384, 4) == 12
    assert even_size(48, 16, 16) == 16


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize(
    "extents",
    [(250, 70, 190), (65, 49, 63), (40, 33, 17), (100, 100, 5), (100, 64, 1), (33, 1, 90)],
)
def test_panels_are_transposed_in_registers(element: str, extents: tuple[int, int, int]) -> None:
    m, n, k = extents
    function = einsum("ik,jk->ij", "ijk", element)
    kernel = function.compile(threads=1)
    rng = np.random.default_rng(2)
    kind = NUMPY_TYPES[element]
    a, b, c = (rng.integers(-4, 5, shape).astype(kind) for shape in ((m, k), (n, k), (m, n)))
    expected = c + a @ b.T
    kernel(m, n, k, a, b, c)
    np.testing.assert_array_equal(c, expected)
    if min(extents) >= 49:
        assert "order=0,1" in str(kernel.schedule)
        assert "masked.gather" not in kernel.llvm_ir


@pytest.mark.parametrize("element", ["f32", "f64"])
@pytest.mark.parametrize("equation", ["ik,jk->ij", "ki,kj->ij"])
@pytest.mark.parametrize("threads", [1, 2])
def test_products_of_an_array_with_itself(element: str, equation: str, threads: int) -> None:
    """One of the two reads is packed; the other one goes on reading the array."""
    left, right, _ = equation.replace("->", ",").split(",")
    text = str(einsum(equation, "ijk", element).module)
    text = text.replace("%B[", "%A[").replace(", %B:", ", %unused:")
    function = loopwright.load(text)["f"]
    n, terms = 130, 75
    schedule = scheduled(function, {"ni": n, "nj": n, "nk": terms}, threads, WIDE)
    assert schedule is not None
    assert ("reads=" in str(schedule)) == (right == "jk")
    rng = np.random.default_rng(3)
    kind = NUMPY_TYPES[element]
    shape = (n, terms) if left == "ik" else (terms, n)
    a, c = (rng.integers(-4, 5, each).astype(kind) for each in (shape, (n, n)))
    expected = c + np.einsum(equation, a, a)
    function.compile(str(schedule), threads=threads)(n, n, terms, a, np.zeros_like(a), c)
    np.testing.assert_array_equal(c, expected)


def test_few_rows_stream_from_memory() -> None:
    function = einsum("ik,kj->ij", "ijk", "f32")
    near = scheduled(function, {"ni": 1024, "nj": 16, "nk": 2000}, 1, WIDE)
    far = scheduled(function, {"ni": 1024, "nj": 16, "nk": 500_000}, 1, WIDE)
    assert near is not None and far is not None
    assert "sizes=16,16" in str(far)
    assert "sizes=16,16" not in str(near)


SMALL = """
func.func @f(%batch: index, %A: memref<?xROWSxSUMxKIND>, %B: memref<?xSUMxCOLUMNSxKIND>,
             %C: memref<?xROWSxCOLUMNSxKIND>) {
  %zero = arith.constant 0.0 : KIND
  affine.for %b = 0 to %batch {
    affine.for %i = 0 to ROWS {
      affine.for %j = 0 to COLUMNS {
        affine.store %zero, %C[%b, %i, %j] : memref<?xROWSxCOLUMNSxKIND>
        affine.for %k = 0 to SUM {
          %0 = affine.load %C[%b, %i, %j] : memref<?xROWSxCOLUMNSxKIND>
          %1 = affine.load %A[%b, %i, %k] : memref<?xROWSxSUMxKIND>
          %2 = affine.load %B[%b, %k, %j] : memref<?xSUMxCOLUMNSxKIND>
          %3 = arith.mulf %1, %2 : KIND
          %4 = arith.addf %0, %3 : KIND
          affine.store %4, %C[%b, %i, %j] : memref<?xROWSxCOLUMNSxKIND>
        }
      }
    }
  }
  return
}
"""


@pytest.mark.parametrize(
    ("kind", "rows", "terms", "columns", "target", "lanes"),
    [
        ("f32", 8, 8, 8, "generic-avx512", 8),
        ("f32", 6, 11, 8, "generic-avx512", 8),
        ("f32", 8, 8, 13, "generic-avx512", 16),
        ("f64", 4, 4, 4, "generic-avx512", 4),
        ("f32", 4, 4, 4, "generic-avx2", 4),
        ("f64", 3, 5, 2, "generic-avx2", 2),
    ],
)
def test_small_matrices_have_vectors_of_their_width(
    kind: str, rows: int, terms: int, columns: int, target: str, lanes: int
) -> None:
    text = SMALL.replace("ROWS", str(rows)).replace("SUM", str(terms))
    function = loopwright.load(text.replace("COLUMNS", str(columns)).replace("KIND", kind))["f"]
    original = Schedule.original(function.scop, Target.named(target))
    sizes = infer_extents(function.scop, {"batch": 5000})
    found = fused_contraction(original, original.tree, SchedulingContext(sizes, 1))
    assert found is not None and f"width={lanes}" in str(found)
    random = np.random.default_rng(0)
    dtype = np.float32 if kind == "f32" else np.float64
    a = random.random((7, rows, terms)).astype(dtype)
    b = random.random((7, terms, columns)).astype(dtype)
    c = np.zeros((7, rows, columns), dtype)
    function.compile(str(found))(7, a, b, c)
    assert np.allclose(c, a @ b, rtol=1e-5)
