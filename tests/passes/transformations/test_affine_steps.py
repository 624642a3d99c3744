"""Known answers for skew, shift, reverse, fuse, distribute and strip-mine."""

from __future__ import annotations

from typing import Any

import pytest
from support.scops import polybench, schedule_of

from loopwright.passes.polyhedral.schedule_tree import (
    Leaf,
    Loop,
    Sequence,
    Tree,
    loops,
    statements,
)
from loopwright.passes.schedules.errors import IllegalTransformation, MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline


def schedule(kernel: str, pipeline: str = "") -> Schedule:
    return Schedule.original(polybench(kernel)).apply_all(parse_pipeline(pipeline))


def shape(tree: Tree) -> Any:
    """The tree as nested tuples of names."""
    match tree:
        case Leaf(name):
            return name
        case Loop(name=name, body=body):
            return (name, shape(body))
        case Sequence(children):
            return [shape(child) for child in children]


JACOBI = "shift{loops=S1.i offset=1},fuse{loops=S0.i,S1.i}"

LEGAL = [
    ("jacobi-1d", f"{JACOBI},skew{{loops=t,i factors=2}},tile{{loops=t,i sizes=8,8}}"),
    ("jacobi-2d", "skew{loops=t,S0.i,S1.i factors=1,1}"),
    ("seidel-2d", "skew{loops=t,i factors=1},tile{loops=t,i sizes=4,4}"),
    (
        "seidel-2d",
        "skew{loops=t,i,j factors=1,1},skew{loops=i,j factors=1},tile{loops=t,i,j sizes=4,4,4},"
        "skew{loops=tt,it factors=1},interchange{loops=it,tt}",
    ),
    ("seidel-2d", "skew{loops=i,j factors=1},interchange{loops=j,i}"),
    ("seidel-2d", "skew{loops=i,j factors=2},interchange{loops=j,i},parallel{loops=i}"),
    ("gemm", "distribute{loops=i},tile{loops=S1.i,k,S1.j sizes=32,32,32}"),
    ("gemm", "reverse{loops=i,S0.j}"),
    ("2mm", "strip-mine{loops=S1.k size=8}"),
    ("correlation", "distribute{loops=S0.j},parallel{loops=S2.j}"),
]

ILLEGAL = [
    ("jacobi-1d", "fuse{loops=S0.i,S1.i}"),
    ("jacobi-1d", f"{JACOBI},skew{{loops=t,i factors=1}},tile{{loops=t,i sizes=8,8}}"),
    ("jacobi-1d", f"{JACOBI},shift{{loops=i offset=-1 statements=S1}}"),
    ("jacobi-1d", "distribute{loops=t}"),
    ("seidel-2d", "skew{loops=i,j factors=1},interchange{loops=j,i},parallel{loops=i}"),
    ("gemm", "reverse{loops=k}"),
    ("cholesky", "distribute{loops=i}"),
    ("trisolv", "reverse{loops=j}"),
]


@pytest.mark.parametrize(("kernel", "pipeline"), LEGAL)
def test_legal(kernel: str, pipeline: str) -> None:
    assert schedule(kernel, pipeline).transformations


@pytest.mark.parametrize(("kernel", "pipeline"), ILLEGAL)
def test_the_last_step_is_illegal(kernel: str, pipeline: str) -> None:
    *steps, last = parse_pipeline(pipeline)
    before = Schedule.original(polybench(kernel)).apply_all(steps)
    with pytest.raises(IllegalTransformation):
        before.apply(last)


SHAPES = [
    ("gemm", "distribute{loops=i}", [("i", ("j", "S0")), ("i", ("k", ("j", "S1")))]),
    (
        "correlation",
        "distribute{loops=S3.j after=S5}",
        [("j", ["S0", ("i", "S1"), "S2"]), ("j", ["S3", ("i", "S4"), "S5"]), ("j", ["S6", "S7"])],
    ),
    ("jacobi-1d", JACOBI, ("t", ("i", ["S0", "S1"]))),
    ("jacobi-1d", f"{JACOBI},distribute{{loops=i}}", ("t", [("i", "S0"), ("i", "S1")])),
    (
        "2mm",
        "distribute{loops=S0.i,S0.j}",
        [("i", ("j", "S0")), ("i", ("j", ("k", "S1"))), ("i", ("j", ["S2", ("k", "S3")]))],
    ),
    ("seidel-2d", "strip-mine{loops=i size=8 names=strip}", ("t", ("strip", ("i", ("j", "S0"))))),
]


@pytest.mark.parametrize(("kernel", "pipeline", "expected"), SHAPES)
def test_shapes(kernel: str, pipeline: str, expected: Any) -> None:
    found = shape(schedule(kernel, pipeline).tree)
    # Programs of several nests are compared as far as they change.
    assert (found[: len(expected)] if isinstance(found, list) else found) == expected


def test_values_of_skewed_shifted_and_reversed_loops() -> None:
    result = schedule("seidel-2d", "skew{loops=t,i,j factors=2,-1},shift{loops=i offset=3}")
    assert str(result.loop("i").schedule["S0"]).endswith("[(3 + 2t + i)] }")
    assert str(result.loop("j").schedule["S0"]).endswith("[(-t + j)] }")
    result = schedule("gemm", "reverse{loops=S0.j}")
    assert str(result.loop("S0.j").schedule["S0"]).endswith("[(-j)] }")


def test_moved_loops_are_no_tiles_any_more() -> None:
    tiled = schedule("seidel-2d", "skew{loops=t,i factors=1},tile{loops=t,i sizes=4,4}")
    assert tiled.loop("i").within is not None
    assert tiled.apply_all(parse_pipeline("skew{loops=t,i factors=1}")).loop("i").within is None
    # A wavefront of tiles: i is not in 4 * it any more, but t still in 4 * tt.
    wave = tiled.apply_all(parse_pipeline("skew{loops=tt,it factors=1}"))
    assert wave.loop("i").within is None
    assert wave.loop("t").within is not None


FUSED_TILES = """
func.func @two(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    affine.store %0, %B[%i] : memref<?xf64>
  }
  affine.for %x = 0 to %n {
    %0 = affine.load %B[%x] : memref<?xf64>
    affine.store %0, %A[%x] : memref<?xf64>
  }
  return
}
"""


def test_fused_tile_loops_take_their_point_loops_along() -> None:
    result = schedule_of(FUSED_TILES).apply_all(
        parse_pipeline("tile{loops=i sizes=4},tile{loops=x sizes=4},fuse{loops=it,xt}")
    )
    assert shape(result.tree) == ("it", [("i", "S0"), ("x", "S1")])
    within = result.loop("x").within
    assert within is not None and within.tile == "it"
    assert shape(result.apply_all(parse_pipeline("fuse{loops=i,x}")).tree) == (
        "it",
        ("i", ["S0", "S1"]),
    )


def test_a_fused_loop_is_not_called_as_one_inside() -> None:
    fused = schedule("mvt", "interchange{loops=S1.j,S1.i},fuse{loops=S0.i,S1.j}")
    assert shape(fused.tree) == ("i2", [("j", "S0"), ("i", "S1")])
    assert fused.apply_all(parse_pipeline("strip-mine{loops=i2 size=4}")).loop("i2").within


MALFORMED = [
    ("fuse{loops=S0.j}", "fuse of S0.j: name at least two loops, in the order in which they run"),
    ("fuse{loops=S0.j,S1.j}", "fuse of S0.j, S1.j: these loops do not directly follow each other"),
    ("fuse{loops=k,S0.j}", "fuse of k, S0.j: these loops do not directly follow each other"),
    (
        "parallel{loops=S0.j},fuse{loops=S0.j,k}",
        "fuse of S0.j, k: some of the loops are marked and others are not",
    ),
    ("fuse{loops=i,k shift=full}", "fuse of i, k: the shift is none or auto, not 'full'"),
    ("skew{loops=i factors=1}", "skew of i: name a loop, and at least one loop inside it"),
    ("skew{loops=k,i factors=1}", "skew of k, i: loop i is not inside k"),
    ("skew{loops=i,k factors=0}", "skew of i, k: a factor must not be 0"),
    ("skew{loops=i,k factors=1,2}", "skew of i, k: give one factor per inner loop: 1, not 2"),
    ("shift{loops=i offset=0}", "shift of i: the offset must not be 0"),
    (
        "shift{loops=i offset=1 statements=S7}",
        "shift of i: there is no statement S7 in loop i, only S0, S1",
    ),
    (
        "distribute{loops=k}",
        "distribute of k: k directly contains a single loop or statement: nothing to distribute",
    ),
    (
        "distribute{loops=i after=S1}",
        "distribute of i: cannot cut behind S1: name one of S0",
    ),
    ("strip-mine{loops=i,k size=4}", "strip-mine of i, k: name one loop; tile splits several"),
    ("strip-mine{loops=i size=0}", "strip-mine of i: a tile size must be at least 1, not 0"),
]


@pytest.mark.parametrize(("pipeline", "message"), MALFORMED)
def test_messages_of_malformed_steps(pipeline: str, message: str) -> None:
    with pytest.raises(MalformedTransformation) as caught:
        schedule("gemm", pipeline)
    assert str(caught.value) == message


NEVER = {
    "all": """
      affine.for %i = 5 to 3 {
        affine.for %j = 0 to %n { affine.store %x, %A[%i, %j] : memref<?x?xf64> }
      }""",
    # isl leaves such statements out of the domain, but keeps empty parts for them.
    "first": """
      affine.for %i = 2 to %n {
        affine.for %j = affine_map<(d0) -> (d0)>(%i) to 2 {
          affine.store %x, %A[%i, %j] : memref<?x?xf64>
        }
      }
      affine.for %k = 0 to %n { affine.store %x, %A[%k, 0] : memref<?x?xf64> }""",
    "last": """
      affine.for %i = 2 to %n {
        affine.store %x, %A[%i, 0] : memref<?x?xf64>
        affine.for %j = affine_map<(d0) -> (d0)>(%i) to
            min affine_map<(d0)[s0] -> ((d0 + 2) floordiv 2, s0)>(%i)[%n] {
          affine.if affine_set<(d0, d1) : (d0 - 2 - d1 >= 0)>(%j, %i) {
            affine.store %x, %A[%i, %j] : memref<?x?xf64>
          }
        }
      }""",
}


@pytest.mark.parametrize("fusion", ["minimal", "balanced", "maximal"])
@pytest.mark.parametrize("which", NEVER)
def test_affine_schedule_leaves_out_statements_that_never_run(which: str, fusion: str) -> None:
    text = f"func.func @f(%n: index, %x: f64, %A: memref<?x?xf64>) {{ {NEVER[which]} return }}"
    original = schedule_of(text)
    step = f"affine-schedule{{fusion={fusion}}}"
    scheduled = original.apply_all(parse_pipeline(step))
    run = {s.name for s in original.scop.statements if not s.domain.is_empty()}
    assert set(statements(scheduled.tree)) == run
    assert all(loop.schedule for loop in loops(scheduled.tree))
