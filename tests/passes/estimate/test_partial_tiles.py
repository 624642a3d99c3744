"""Tiles that bounds cut: the share of their iterations that are instances."""

from __future__ import annotations

import pytest
from support.scops import schedule_of

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.partial_tiles import CUT_STEP, partial_cycles, utilisation
from loopwright.passes.estimate.scheduled_program import ScheduledProgram
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import leaves
from loopwright.passes.syntax.pipeline import parse_pipeline

PRODUCT = """
func.func @f(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = FIRST to LAST {
      affine.for %k = 0 to 20 {
        %0 = affine.load %A[%i, %k] : memref<?x?xf64>
        %1 = affine.load %A[%j, %k] : memref<?x?xf64>
        %2 = affine.load %B[%i, %j] : memref<?x?xf64>
        %3 = arith.mulf %0, %1 : f64
        %4 = arith.addf %2, %3 : f64
        affine.store %4, %B[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
BOUNDS = {
    "lower": ("0", "affine_map<(d0) -> (d0 + 1)>(%i)", lambda i, j, n: j <= i),
    "upper": ("affine_map<(d0) -> (d0 + 1)>(%i)", "%n", lambda i, j, n: j > i),
    "whole": ("0", "%n", lambda i, j, n: True),
}


@pytest.mark.parametrize("bounds", BOUNDS)
@pytest.mark.parametrize(("n", "rows", "columns"), [(120, 7, 48), (33, 4, 8), (64, 8, 16)])
def test_the_share_of_tiles_that_is_used(bounds: str, n: int, rows: int, columns: int) -> None:
    """Rectangles count as full; of many tiles, nearly all are."""
    first, last, is_inside = BOUNDS[bounds]
    schedule = schedule_of(PRODUCT.replace("FIRST", first).replace("LAST", last)).apply_all(
        parse_pipeline(
            f"tile{{loops=i,j sizes={rows},{columns}}},interchange{{loops=k,i,j}},"
            "unroll{loops=i,j},vectorize{loops=j width=8}"
        )
    )
    inside = [(i, j) for i in range(n) for j in range(n) if is_inside(i, j, n)]
    tiles = {(i // rows, j // columns) for i, j in inside}
    share = len(inside) / (len(tiles) * rows * columns)
    ((leaf, loops),) = leaves(schedule.tree, ())

    def found(size: int) -> float:
        sizes = infer_extents(schedule.scop, {"n": size})
        program = ScheduledProgram(schedule, SchedulingContext(sizes, 1))
        return utilisation(program.statement(leaf.statement), loops)

    assert found(n) == pytest.approx(1.0 if bounds == "whole" else share)
    assert found(9000) == 1.0


@pytest.mark.parametrize("bounds", BOUNDS)
def test_sums_in_cut_tiles_are_in_memory(bounds: str) -> None:
    """Copies beside each other, two rows at a time: along a diagonal, one of them is alone."""
    first, last, _ = BOUNDS[bounds]
    schedule = schedule_of(PRODUCT.replace("FIRST", first).replace("LAST", last)).apply_all(
        parse_pipeline("unroll-and-jam{loops=i factor=2}")
    )
    ((leaf, loops),) = leaves(schedule.tree, ())

    def found(size: int) -> float:
        program = ScheduledProgram(
            schedule, SchedulingContext(infer_extents(schedule.scop, {"n": size}), 1)
        )
        statement = program.statement(leaf.statement)
        return partial_cycles(statement, loops, utilisation(statement, loops))

    small, large = found(100), found(1000)
    assert (small > 0) == (bounds != "whole")
    assert large == pytest.approx(10 * small, rel=0.1)


@pytest.mark.parametrize("bounds", ["lower", "upper"])
@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_short_rows_of_triangles_are_not_jammed(zen3: None, bounds: str, kind: str) -> None:
    first, last, _ = BOUNDS[bounds]
    text = PRODUCT.replace("FIRST", first).replace("LAST", last).replace("f64", kind)
    scop = schedule_of(text.replace("to 20", "to 64")).scop
    for n in (50, 97):
        sizes = infer_extents(scop, {"n": n})
        chosen = default_schedule(scop, sizes, threads=1, reassociate=True)
        assert "unroll-and-jam{loops=i" not in str(chosen)


@pytest.mark.parametrize("size", [4, 8])
def test_short_bands_are_cut_at_both_ends(size: int) -> None:
    """Of rows that begin and end one column further each, few columns are common to all copies."""
    text = """
func.func @f(%n: index, %A: memref<?x?xf64>, %x: memref<?xf64>, %y: memref<?xf64>) {
  affine.for %i = 4 to affine_map<(d0) -> (d0 - 4)>(%n) {
    affine.for %j = affine_map<(d0) -> (d0 - 4)>(%i) to affine_map<(d0) -> (d0 + 5)>(%i) {
      %0 = affine.load %A[%i, %j - %i + 4] : memref<?x?xf64>
      %1 = affine.load %x[%j] : memref<?xf64>
      %2 = affine.load %y[%i] : memref<?xf64>
      %3 = arith.mulf %0, %1 : f64
      %4 = arith.addf %2, %3 : f64
      affine.store %4, %y[%i] : memref<?xf64>
    }
  }
  return
}
"""
    jam = f"unroll-and-jam{{loops=i factor={size}}}"
    schedule = schedule_of(text).apply_all(parse_pipeline(jam))
    ((leaf, loops),) = leaves(schedule.tree, ())
    sizes = infer_extents(schedule.scop, {"n": 2008})
    statement = ScheduledProgram(schedule, SchedulingContext(sizes, 1)).statement(leaf.statement)
    steps = 2 * (size - 1) * 2000 / size
    assert partial_cycles(statement, loops, 1.0) == pytest.approx(CUT_STEP * steps)
    assert "jam" not in str(default_schedule(schedule.scop, sizes, threads=2))


def test_vectors_beside_each_other_share_the_loop_over_cut_terms() -> None:
    """In a tile of a triangular product, each iteration of it has all columns of the tile."""
    text = PRODUCT.replace("FIRST", "0").replace("LAST", "%n").replace("0 to 20", "%i to %n")
    tile = "tile{{loops=i,j sizes=8,16}},interchange{{loops=k,i,j}},unroll{{loops=i,j}}{}"

    def found(vectors: str) -> float:
        schedule = schedule_of(text).apply_all(parse_pipeline(tile.format(vectors)))
        ((leaf, loops),) = leaves(schedule.tree, ())
        sizes = infer_extents(schedule.scop, {"n": 64})
        statement = ScheduledProgram(schedule, SchedulingContext(sizes, 1)).statement(
            leaf.statement
        )
        return partial_cycles(statement, loops, utilisation(statement, loops))

    assert found("") == pytest.approx(8 * found(",vectorize{loops=j width=8}"))
