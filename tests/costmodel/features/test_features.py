"""Rows of features: values worked out by hand, and what must not change them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from loopwright.costmodel.features.extract import rows_of
from loopwright.costmodel.features.row_columns import NAMES, SECTIONS, SLICES, column
from loopwright.costmodel.original import original_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.syntax.pipeline import parse_pipeline

N = 64
GEMM = """
func.func @gemm(%n: index, %C: memref<?x?xf64>, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %c = affine.load %C[%i, %j] : memref<?x?xf64>
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %b = affine.load %B[%k, %j] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""
SIZES = {"n": N, **{f"{array}_dim{d}": N for array in "ABC" for d in range(2)}}

TRIANGLE = """
func.func @triangle(%n: index, %A: memref<?x?xf32>, %x: memref<?xf32>) {
  affine.for %t = 0 to 10 {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
        %v = affine.load %x[%j] : memref<?xf32>
        affine.store %v, %A[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""


TWO = """
func.func @two(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %b = arith.addf %a, %a : f64
    affine.store %b, %A[%i] : memref<?xf64>
    %c = affine.load %B[%i] : memref<?xf64>
    %d = arith.mulf %c, %c : f64
    affine.store %d, %B[%i] : memref<?xf64>
  }
  return
}
"""


def _rows(
    text: str, sizes: Mapping[str, int], pipeline: str = "", threads: int = 1
) -> list[dict[str, float]]:
    schedule = original_schedule(text).apply_all(parse_pipeline(pipeline) if pipeline else ())
    rows = rows_of([schedule], SchedulingContext(sizes, threads))[0]
    return [dict(zip(NAMES, row.tolist(), strict=True)) for row in rows]


def _gemm(pipeline: str = "", threads: int = 1) -> dict[str, float]:
    (row,) = _rows(GEMM, SIZES, pipeline, threads)
    return row


def _section(row: Mapping[str, float], section: str) -> dict[str, float]:
    return {
        name.partition(".")[2]: value
        for name, value in row.items()
        if name.partition(".")[0] == section
    }


def test_slices_cover_every_name_once():
    assert len(set(NAMES)) == len(NAMES)
    assert [name for section in SLICES.values() for name in NAMES[section]] == list(NAMES)
    assert NAMES[column("vectors.width")] == "vectors.width"
    assert all(NAMES[SLICES[section]][0].startswith(f"{section}.") for section, _ in SECTIONS)


def test_a_product_as_written():
    row = _gemm()
    work = _section(row, "work")
    assert work["instances"] == N**3
    assert (work["reads"], work["writes"], work["element_bytes"]) == (3, 1, 8)
    assert row["operations.additions"] == row["operations.multiplications"] == 1
    inner = _section(row, "innermost")
    # C stays, A moves to the next element, B by a row of 512 bytes.
    assert (inner["load_same"], inner["load_next"], inner["load_far"]) == (1, 1, 1)
    assert (inner["store_same"], inner["trips"]) == (1, N)
    assert inner["loads"] == pytest.approx(2 + 1 / N)
    chain = _section(row, "recurrence")
    assert (chain["is_innermost"], chain["is_sum"], chain["chains"]) == (1, 1, 1)
    assert row["memory.program"] == row["memory.own"] == 3 * N * N * 8


def test_an_interchanged_product_has_no_recurrence_inside():
    row = _gemm("interchange{loops=i,k,j}")
    assert (row["innermost.load_same"], row["innermost.load_next"]) == (1, 2)
    assert row["recurrence.is_innermost"] == 0
    assert row["recurrence.exists"] == 1
    assert row["recurrence.between"] == N
    assert row["estimate.seconds"] < _gemm()["estimate.seconds"]


def test_tiles_and_vectors():
    row = _gemm("tile{loops=i,j sizes=8,16},vectorize{loops=j width=8}")
    lanes = _section(row, "vectors")
    assert (lanes["marked"], lanes["width"], lanes["values"]) == (1, 8, 16)
    assert (lanes["load_broadcast"], lanes["load_contiguous"]) == (1, 2)
    assert (lanes["store_contiguous"], lanes["position"], lanes["remainder"]) == (1, 1, 1)
    # From the innermost loop outwards: k, j in vectors, i, jt, it.
    assert [row[f"level{n}.trips"] for n in range(5)] == [N, 2, 8, N / 16, N / 8]
    assert [row[f"level{n}.mark"] for n in range(5)] == [0, 2, 2, 1, 1]
    # One tile of C, 8 rows of A and a panel of B are touched inside of the tile loops.
    assert row["level2.kilobytes"] == (8 * 16 * 8 + 8 * N * 8 + N * 16 * 8) / 1024


def test_a_vector_loop_that_does_not_divide_runs_idle_lanes():
    assert _gemm("vectorize{loops=j width=48}")["vectors.remainder"] == pytest.approx(96 / 64)


def test_register_tiles_have_accumulators_and_chains():
    row = _gemm(
        "tile{loops=i,j sizes=4,16},interchange{loops=k,i,j},unroll{loops=i},"
        "vectorize{loops=j width=8}"
    )
    assert row["innermost.body"] == 8
    assert row["innermost.accumulators"] == 8
    # A is broadcast for both vectors at once, B used by four rows; C stays in registers.
    assert row["innermost.loads"] == pytest.approx(1 / 2 + 1 / 4 + 1 / N)
    assert row["recurrence.chains"] == 4


def test_rows_of_a_register_tile_are_streams_and_no_jumps():
    # B jumps from row to row, once for four instances; A goes on in each of the four rows.
    jammed = _gemm("unroll-and-jam{loops=i factor=4}")
    assert jammed["memory.jumps"] == pytest.approx(1 / 4, rel=0.01)
    # Where a loop over rows is left inside, A and C jump as well.
    looped = _gemm("interchange{loops=j,k,i}")
    assert looped["memory.jumps"] > 1


def test_tiles_that_go_on_where_the_last_one_ended_are_no_jumps():
    strips = _rows(TWO, {"n": 1000, "A_dim0": 1000, "B_dim0": 1000}, "tile{loops=i sizes=32}")
    assert [row["memory.jumps"] for row in strips] == [0, 0]
    # Of each row of a tile, A goes on for 8 elements, C and B for 16.
    tiles = _gemm("interchange{loops=i,k,j},tile{loops=i,k,j sizes=8,8,16}")
    assert tiles["memory.jumps"] > 1 / 16
    # Tiles along a row of C and B do not: 4 rows of A and C go on as streams.
    rows = _gemm("interchange{loops=i,k,j},tile{loops=j sizes=16}")
    assert rows["memory.jumps"] < 1 / 16


def test_a_tile_loop_moves_by_a_tile():
    row = _gemm("tile{loops=i,j sizes=8,16}")
    # From the innermost loop outwards: k, j, i, jt, it; C, A, B, C.
    assert [row[f"level{n}.same"] for n in range(5)] == [2 / 4, 1 / 4, 1 / 4, 1 / 4, 1 / 4]
    assert row["level3.far"] == 3 / 4
    strips = _rows(TWO, {"n": 1000, "A_dim0": 1000, "B_dim0": 1000}, "tile{loops=i sizes=2}")
    # Two iterations are unrolled: the innermost loop left goes on by two elements.
    assert strips[0]["innermost.load_far"] == 1
    assert strips[0]["innermost.conflicts"] == 0


def test_full_tiles_of_tiles_have_constant_trip_counts():
    # 1000 is no multiple of 24, and a tile of 6 is one of 6 inside: its iterations are unrolled.
    steps = "tile{loops=i sizes=24},tile{loops=i sizes=6},tile{loops=i sizes=6}"
    row = _rows(TWO, {"n": 1000, "A_dim0": 1000, "B_dim0": 1000}, steps)[0]
    assert row["innermost.trips"] == pytest.approx(1000 / 24)


def test_a_short_tile_is_vectorised_or_unrolled():
    sizes = {"n": 1000, "A_dim0": 1000, "B_dim0": 1000}
    assert _rows(TWO, sizes, "tile{loops=i sizes=16}")[0]["innermost.trips"] == 16
    assert _rows(TWO, sizes, "tile{loops=i sizes=4}")[0]["innermost.trips"] == 250


def test_threads_share_iterations():
    shared = _section(_gemm("parallel{loops=j}", threads=2), "threads")
    assert (shared["threads"], shared["trips"], shared["forks"]) == (2, N, N)
    assert _gemm("parallel{loops=j}", threads=1)["threads.forks"] == 0
    outer = _gemm("parallel{loops=i}", threads=3)
    assert outer["threads.forks"] == 1
    assert outer["threads.balance"] == pytest.approx(3 / (64 / 22))


def test_a_parallel_loop_of_one_iteration_starts_nothing():
    row = _gemm("tile{loops=i sizes=256},parallel{loops=it}", threads=2)
    assert row["threads.forks"] == 0


def test_a_triangle_is_half_of_its_box_and_repeats_are_seen():
    sizes = {"n": N, "A_dim0": N, "A_dim1": N, "x_dim0": N}
    (row,) = _rows(TRIANGLE, sizes)
    assert row["work.instances"] == 10 * N * (N + 1) / 2
    assert row["work.box"] == pytest.approx(2 * N / (N + 1))
    assert row["innermost.repeats"] == 1
    (inside,) = _rows(TRIANGLE, sizes, "interchange{loops=i,j,t}")
    assert inside["innermost.repeats"] == 10


def test_a_triangle_has_all_numbers_of_iterations():
    sizes = {"n": N, "A_dim0": N, "A_dim1": N, "x_dim0": N}
    (row,) = _rows(TRIANGLE, sizes, "vectorize{loops=j width=16}")
    counts = _section(row, "trip_counts")
    lengths = range(1, N + 1)
    assert (counts["least"], counts["most"]) == (1, N)
    whole, blocks = (sum(n // width * width for n in lengths) / sum(lengths) for width in (16, 64))
    assert (counts["whole"], counts["blocks"]) == pytest.approx((whole, blocks))
    assert counts["rests"] == pytest.approx(N / sum(lengths))


def test_a_triangle_turned_over_has_other_iterations():
    sizes = {"n": N, "A_dim0": N, "A_dim1": N, "x_dim0": N}
    (row,) = _rows(TRIANGLE, sizes, "interchange{loops=j,i}")
    assert row["level1.trips"] == N
    assert row["level0.trips"] == pytest.approx((N + 1) / 2)
    (row,) = _rows(TRIANGLE, sizes, "interchange{loops=i,t}")
    assert (row["level2.trips"], row["level1.trips"]) == (N, 10)


def test_a_band_turned_over_keeps_its_width():
    text = TRIANGLE.replace("%j = 0 to", "%j = affine_map<(d0) -> (d0)>(%i) to")
    text = text.replace("(d0 + 1)", "(d0 + 4)")
    sizes = {"n": N, "A_dim0": N, "A_dim1": N + 4, "x_dim0": N + 4}
    (band,) = _rows(text, sizes)
    assert (band["level1.trips"], band["level0.trips"]) == (N, 4)
    (turned,) = _rows(text, sizes, "interchange{loops=j,i}")
    assert turned["level1.trips"] == N + 3
    assert turned["level0.trips"] == pytest.approx(4 * N / (N + 3))
    (tiled,) = _rows(text, sizes, "interchange{loops=j,i},tile{loops=j,i sizes=8,8}")
    assert (tiled["level3.trips"], tiled["level2.trips"]) == (pytest.approx((N + 3) / 8), 1)


def test_what_vectors_divide_has_no_rest():
    counts = _section(_gemm("vectorize{loops=j width=16}"), "trip_counts")
    assert tuple(counts.values()) == (N, N, 1, 1, 0)
    counts = _section(_gemm("vectorize{loops=j width=48}"), "trip_counts")
    assert tuple(counts.values()) == pytest.approx((N, N, 48 / N, 0, 1 / N))


NEIGHBOURS = """
func.func @neighbours(%n: index, %A: memref<?xf32>, %B: memref<?xf32>, %C: memref<?x?xf32>) {
  affine.for %i = 2 to %n {
    %a = affine.load %B[%i] : memref<?xf32>
    affine.store %a, %A[%i] : memref<?xf32>
    %b = affine.load %A[%i SHIFT] : memref<?xf32>
    affine.store %b, %B[%i - 2] : memref<?xf32>
    EXTRA
  }
  return
}
"""
LOOP_INSIDE = """affine.for %j = 0 to 1000 {
      affine.store %b, %C[%i, %j] : memref<?x?xf32>
    }"""


@pytest.mark.parametrize(
    ("shift", "forward", "backward"),
    [
        pytest.param("", 2, 0, id="the same iteration"),
        pytest.param("- 1", 1, 0, id="handed on"),
        pytest.param("+ 1", 2, 1, id="overwritten by the next iteration"),
    ],
)
def test_statements_of_one_loop_hand_on_to_each_other(shift: str, forward: int, backward: int):
    sizes = {"n": 1000, "A_dim0": 2000, "B_dim0": 2000, "C_dim0": 2000, "C_dim1": 1000}
    text = NEIGHBOURS.replace("SHIFT", shift).replace("EXTRA", "")
    for row in _rows(text, sizes):
        # What the first one loads of B, the second one stores to two iterations later.
        assert (row["body.forward"], row["body.backward"]) == (forward, backward)
        assert (row["body.loads"], row["body.stores"], row["body.outer"]) == (2, 2, 0)


def test_a_loop_around_loops_is_not_innermost():
    sizes = {"n": 1000, "A_dim0": 2000, "B_dim0": 2000, "C_dim0": 2000, "C_dim1": 1000}
    text = NEIGHBOURS.replace("SHIFT", "").replace("EXTRA", LOOP_INSIDE)
    *before, inside = _rows(text, sizes)
    assert [row["body.outer"] for row in before] == [1, 1]
    assert (inside["body.outer"], inside["body.stores"]) == (0, 1)


def test_serial_statements_are_counted():
    assert _gemm()["body.serial"] == 1
    assert _gemm("interchange{loops=i,k,j}")["body.serial"] == 0


def test_llvm_makes_vectors_of_sums_that_may_be_reassociated():
    strict, free = (
        dict(zip(NAMES, rows_of([start], SchedulingContext(SIZES, 1))[0][0].tolist(), strict=True))
        for start in (original_schedule(GEMM, fast_math=fast_math) for fast_math in (False, True))
    )
    assert (strict["work.reassociable"], free["work.reassociable"]) == (0, 1)
    assert (strict["body.serial"], free["body.serial"]) == (1, 0)
    assert free["estimate.latency"] < strict["estimate.latency"]


def test_bounds_that_follow_a_point_loop_cut_its_tiles_slantwise():
    """Of 7 x 33 iterations around 6 rows of a triangle, some have nothing to do for a few rows."""
    sizes = {"n": N, "A_dim0": N, "A_dim1": N, "x_dim0": N}
    (rows,) = _rows(TRIANGLE, sizes, "unroll-and-jam{loops=i factor=6}")
    assert rows["control.ragged"] == pytest.approx(6 / 32.5, rel=0.01)
    (tiles,) = _rows(TRIANGLE, sizes, "tile{loops=i,j sizes=8,8}")
    assert tiles["control.ragged"] == pytest.approx(8 / 32.5, rel=0.01)
    (columns,) = _rows(TRIANGLE, sizes, "unroll{loops=j factor=4}")
    assert columns["control.ragged"] == 0
    assert _gemm("unroll-and-jam{loops=i factor=6}")["control.ragged"] == 0


def test_nothing_is_a_repetition_that_reads_what_changes():
    for steps in ("tile{loops=i sizes=32},pack{loops=it array=C}", "pack{loops=k array=C}"):
        rows = _rows(GEMM, SIZES, steps)
        assert all(row["innermost.repeats"] == 1 for row in rows)


def test_what_is_packed_is_a_statement_of_its_own():
    pipeline = "interchange{loops=j,i},tile{loops=j sizes=16},pack{loops=jt array=B}"
    copy, product = _rows(GEMM, SIZES, pipeline)
    assert copy["work.instances"] == N * N
    assert product["work.instances"] == N**3


def test_the_same_order_has_the_same_rows():
    twice = "interchange{loops=i,k,j},interchange{loops=k,i,j},interchange{loops=i,j,k}"
    assert _gemm(twice) == _gemm()


_ORDERS = (
    "interchange{loops=j,i}",
    "tile{loops=i,j sizes=8,8},parallel{loops=it}",
    "reverse{loops=i}",
)
_CUT = "strip-mine{loops=i size=8}"
_PACKED = (
    _CUT,
    f"{_CUT},distribute{{loops=i}}",
    f"{_CUT},pack{{loops=it array=A}}",
    f"{_CUT},pack{{loops=it array=B}}",
    f"{_CUT},pack{{loops=it array=A}},pack{{loops=it array=B}}",
    f"{_CUT},distribute{{loops=i}},vectorize{{loops=S0.i width=8}}",
    "distribute{loops=i},vectorize{loops=S0.i width=8},vectorize{loops=S1.i width=8}",
    "distribute{loops=i},vectorize{loops=S1.i width=8},vectorize{loops=S0.i width=8}",
)
"""Programs that have statements in common, and nests."""


@pytest.mark.parametrize(
    ("text", "sizes", "pipelines"),
    [(GEMM, SIZES, _ORDERS), (TWO, {"n": 60}, _PACKED), (TWO, {"n": 60}, _PACKED[::-1])],
)
def test_rows_do_not_depend_on_what_was_asked_before(
    text: str, sizes: Mapping[str, int], pipelines: Sequence[str]
):
    original = original_schedule(text)
    schedules = [original.apply_all(parse_pipeline(pipeline)) for pipeline in pipelines]
    for batch in (schedules, schedules[::-1]):
        together = rows_of(batch, SchedulingContext(sizes, 2))
        for schedule, rows in zip(batch, together, strict=True):
            pipeline = pipelines[schedules.index(schedule)]
            alone = original_schedule(text).apply_all(parse_pipeline(pipeline))
            np.testing.assert_array_equal(rows, rows_of([alone], SchedulingContext(sizes, 2))[0])


def test_forks_are_shared_by_the_statements_of_their_loop_in_a_batch_too():
    original = original_schedule(TWO)
    context = SchedulingContext({"n": 64}, 2)
    texts = ["parallel{loops=i}", "distribute{loops=i},parallel{loops=S0.i}"]
    forks = NAMES.index("threads.forks")
    for order in (texts, texts[::-1]):
        schedules = {text: original.apply_all(parse_pipeline(text)) for text in order}
        rows = dict(zip(order, rows_of(list(schedules.values()), context), strict=True))
        assert rows[texts[0]][:, forks].tolist() == [0.5, 0.5]
        assert rows[texts[1]][:, forks].tolist() == [1.0, 0.0]


def test_a_program_that_runs_nothing_has_no_rows():
    assert _rows(GEMM, dict.fromkeys(SIZES, 0)) == []


def test_the_loop_around_the_innermost_one():
    row = _gemm("interchange{loops=i,k,j}")
    assert row["outer.exists"] == 1 and row["outer.trips"] == N
    # C[i, j] moves with j only, A[i, k] with k, B[k, j] with both.
    assert (row["outer.load_same"], row["outer.store_same"], row["outer.carries"]) == (1, 1, 1)
    assert (row["outer.is_tile_loop"], row["outer.constant"]) == (0, 1)
    assert row["outer.vectors"] == N / row["work.hardware_lanes"]


@pytest.mark.parametrize(
    ("steps", "constant"),
    [
        ("tile{loops=i,j,k sizes=24,24,24}", 1),
        # Around one tile of 256, nothing tells the whole tiles of 24 from the last.
        ("tile{loops=i,j,k sizes=24,24,24},tile{loops=i,j,k sizes=256,256,256}", 0),
        ("tile{loops=i,j,k sizes=16,16,16},tile{loops=i,j,k sizes=256,256,256}", 1),
    ],
)
def test_tiles_without_tiles_of_their_own_are_full_or_not(steps: str, constant: float):
    assert _gemm(steps)["outer.constant"] == constant


REPEATED = """
func.func @repeated(%n: index, %A: memref<?xf64>, %B: memref<?xf64>, %C: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %r = 0 to 40 {
      %c = affine.load %C[%i] : memref<?xf64>
      affine.store %c, %A[%i] : memref<?xf64>
    }
  }
  affine.for %i = 0 to %n {
    affine.for %r = 0 to 40 {
      %x = affine.load READ[%i] : memref<?xf64>
      %y = arith.addf %x, %x : f64
      affine.store %y, %B[%i] : memref<?xf64>
    }
  }
  return
}
"""


@pytest.mark.parametrize(("array", "repeats"), [("%A", 40), ("%B", 1)])
def test_what_only_another_nest_stores_to_can_be_read_again_and_again(array: str, repeats: float):
    sizes = {"n": N, "A_dim0": N, "B_dim0": N, "C_dim0": N}
    rows = _rows(REPEATED.replace("READ", array), sizes)
    assert [row["innermost.repeats"] for row in rows] == [40, repeats]


def test_the_loop_around_may_be_that_of_tiles():
    tiles = _gemm("tile{loops=k sizes=60}")
    assert (tiles["outer.is_tile_loop"], tiles["outer.carries"]) == (1, 1)
    # k is unrolled, and j takes its place.
    short = _gemm("tile{loops=k sizes=16},interchange{loops=kt,i,j,k}")
    assert (short["outer.is_tile_loop"], short["outer.trips"], short["outer.carries"]) == (0, N, 0)


def test_vectors_of_a_marked_loop_are_its_iterations():
    row = _gemm("interchange{loops=i,k,j},vectorize{loops=j width=4}")
    assert row["outer.vectors"] == N / 4


def test_a_single_loop_has_none_around():
    sizes = {"n": 1000, "A_dim0": 2000, "B_dim0": 2000, "C_dim0": 2000, "C_dim1": 1000}
    text = NEIGHBOURS.replace("SHIFT", "").replace("EXTRA", "")
    for row in _rows(text, sizes):
        assert (row["outer.exists"], row["outer.trips"]) == (0, 1)
        assert row["outer.vectors"] == 998 / row["work.hardware_lanes"]
