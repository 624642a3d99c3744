"""Factorisations are cut into blocks, and keep their results."""

from __future__ import annotations

import islpy as isl
import numpy as np
import pytest
from numpy.typing import NDArray

import loopwright
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.factorisation import LARGEST_BLOCK, LEAST_BLOCK, factorisation
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.dependences import Dependences, compute_dependences
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import loops, nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.transformations.affine_schedule import AffineSchedule
from loopwright.runtime.program import Function

KERNELS = ["lu", "cholesky", "ludcmp"]


def load(kernel: str) -> Function:
    return loopwright.load(catalogue()[f"polybench/{kernel}"].text)[kernel]


def in_blocks(function: Function, size: int, threads: int, fusion: str = "minimal") -> Schedule:
    """The schedule of the one nest that is a factorisation."""
    order = Schedule.original(function.scop).apply(AffineSchedule(fusion=fusion))
    values = {parameter.name: size for parameter in function.scop.parameters}
    context = SchedulingContext(infer_extents(function.scop, values), threads)
    answers = [factorisation(order, nest, context) for nest in nests(order.tree)]
    (schedule,) = (answer for answer in answers if answer is not None)
    return schedule


def results(
    function: Function, schedule: Schedule | None, n: int, threads: int
) -> NDArray[np.float64]:
    generator = np.random.default_rng(n)
    matrix = generator.random((n, n))
    matrix += matrix.T + 2 * n * np.eye(n)
    vectors = [generator.random(n) for _ in range(len(function.signature.arguments) - 2)]
    function.compile(schedule, threads=threads)(n, matrix, *vectors)
    return np.vstack([matrix, *vectors])


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kernel", KERNELS)
def test_factorisations_keep_their_results(kernel: str, threads: int) -> None:
    function = load(kernel)
    schedule = in_blocks(function, 2000, threads)
    assert any(loop.parallel for loop in loops(schedule.tree)) == (threads > 1)
    tiles = [loop for loop in loops(schedule.tree) if loop.vector and loop.unroll == 0]
    assert len(tiles) >= 2, str(schedule)
    for n in (1, 101, 217):
        expected = results(function, None, n, 1)
        np.testing.assert_allclose(results(function, schedule, n, threads), expected, rtol=1e-9)


@pytest.mark.parametrize("fusion", ["balanced", "maximal"])
def test_statements_that_are_fused_do_not_matter(fusion: str) -> None:
    function = load("cholesky")
    schedule = in_blocks(function, 2000, 2, fusion)
    expected = results(function, None, 163, 1)
    np.testing.assert_allclose(results(function, schedule, 163, 2), expected, rtol=1e-9)


def test_rows_that_are_read_as_columns_are_transposed() -> None:
    assert "order=1,0" in str(in_blocks(load("cholesky"), 2000, 1))
    assert "order=1,0" not in str(in_blocks(load("lu"), 2000, 1))


def test_large_matrices_have_larger_blocks() -> None:
    assert f"size={LEAST_BLOCK}" in str(in_blocks(load("lu"), 400, 1))
    assert f"size={LARGEST_BLOCK}" in str(in_blocks(load("lu"), 4000, 1))


def test_the_same_schedule_every_time() -> None:
    assert str(in_blocks(load("ludcmp"), 500, 2)) == str(in_blocks(load("ludcmp"), 500, 2))


@pytest.mark.parametrize("kind", ["f64", "f32"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_two_blocks_are_enough(kernel: str, kind: str) -> None:
    """Whatever part of them an element of a triangle has on average."""
    text = catalogue()[f"polybench/{kernel}"].text.replace("f64", kind)
    function = loopwright.load(text)[kernel]
    schedule = in_blocks(function, 130, 1)
    assert "tile{" in str(schedule)
    if kind == "f64":
        expected = results(function, None, 130, 1)
        np.testing.assert_allclose(results(function, schedule, 130, 1), expected, rtol=1e-9)


def test_small_factorisations_are_left_alone() -> None:
    function = load("lu")
    order = Schedule.original(function.scop).apply(AffineSchedule(fusion="minimal"))
    sizes = infer_extents(function.scop, {"n": 40})
    assert factorisation(order, order.tree, SchedulingContext(sizes, 2)) is None


def relations(dependences: Dependences) -> dict[tuple[object, ...], isl.Map]:
    found: dict[tuple[object, ...], isl.Map] = {}
    for item in dependences:
        key = (item.kind, item.source, item.target, item.array, item.reduction)
        found[key] = item.relation.union(found.get(key, item.relation))
    return found


@pytest.mark.parametrize("kernel", ["lu", "cholesky"])
def test_dependences_behind_copies_are_those_that_isl_finds(kernel: str) -> None:
    schedule = in_blocks(load(kernel), 2000, 2)
    derived = relations(schedule.dependences)
    computed = relations(compute_dependences(schedule.scop))
    assert derived.keys() == computed.keys()
    for key, relation in derived.items():
        assert relation.is_equal(computed[key]), key


def test_a_product_of_other_matrices_is_no_factorisation() -> None:
    entry = catalogue()["polybench/symm"]
    function = loopwright.load(entry.text)[entry.function]
    sizes = infer_extents(function.scop, entry.parameter_values("LARGE"))
    seed = Schedule.original(function.scop).apply(AffineSchedule())
    assert factorisation(seed, seed.tree, SchedulingContext(sizes, 2)) is None
