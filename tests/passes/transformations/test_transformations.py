"""Known answers: what is legal on well-known programs, and how the tree changes."""

from __future__ import annotations

import pytest
from support.scops import polybench, schedule_of

from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree, loops
from loopwright.passes.schedules.errors import IllegalTransformation, MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

COPY = """
func.func @copy(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%j, %i] : memref<?x?xf64>
      affine.store %0, %B[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

SHIFT = """
func.func @shift(%n: index, %A: memref<?xf64>) {{
  affine.for %i = 4 to %n {{
    %0 = affine.load %A[%i {offset}] : memref<?xf64>
    affine.store %0, %A[%i] : memref<?xf64>
  }}
  return
}}
"""

LEGAL = [
    ("gemm", "interchange{loops=S1.j,k}"),
    ("gemm", "tile{loops=k,S1.j sizes=16,32}"),
    ("gemm", "parallel{loops=i},vectorize{loops=S1.j}"),
    ("2mm", "interchange{loops=S0.j,S0.i}"),
    ("2mm", "tile{loops=S0.i,S0.j sizes=32,32},parallel{loops=S0.it}"),
    ("jacobi-2d", "interchange{loops=S0.j,S0.i},parallel{loops=S0.j}"),
    ("jacobi-2d", "tile{loops=S1.i,S1.j sizes=8,8},parallel{loops=S1.it},vectorize{loops=S1.j}"),
    ("seidel-2d", "tile{loops=t sizes=4}"),
    ("seidel-2d", "tile{loops=i sizes=4}"),
    ("floyd-warshall", "interchange{loops=j,i}"),
    ("floyd-warshall", "tile{loops=i,j sizes=8,8}"),
    ("cholesky", "tile{loops=i sizes=8}"),
    ("cholesky", "unroll{loops=S0.k factor=4}"),
    ("correlation", "parallel{loops=S0.j},parallel{loops=S3.j},parallel{loops=S10.i}"),
    ("trisolv", "unroll{loops=j factor=4}"),
]

ILLEGAL = [
    ("gemm", "parallel{loops=k}"),
    ("gemm", "vectorize{loops=k width=4}"),
    ("jacobi-1d", "parallel{loops=t}"),
    ("jacobi-2d", "parallel{loops=t}"),
    ("seidel-2d", "interchange{loops=i,t}"),
    ("seidel-2d", "interchange{loops=t,j,i}"),
    ("seidel-2d", "tile{loops=t,i sizes=4,4}"),
    ("seidel-2d", "tile{loops=i,j sizes=4,4}"),
    ("seidel-2d", "parallel{loops=i}"),
    ("seidel-2d", "vectorize{loops=j}"),
    ("floyd-warshall", "interchange{loops=i,k}"),
    ("floyd-warshall", "parallel{loops=k}"),
    ("cholesky", "parallel{loops=i}"),
    ("cholesky", "parallel{loops=j}"),
    ("trisolv", "parallel{loops=i}"),
    ("trisolv", "parallel{loops=j}"),
]


def schedule(kernel: str, pipeline: str = "") -> Schedule:
    return Schedule.original(polybench(kernel)).apply_all(parse_pipeline(pipeline))


def shape(tree: Tree) -> object:
    """The tree as nested tuples of names."""
    match tree:
        case Leaf(name):
            return name
        case Loop(name=name, body=body):
            return (name, shape(body))
        case Sequence(children):
            return [shape(child) for child in children]


@pytest.mark.parametrize(("kernel", "pipeline"), LEGAL)
def test_legal(kernel: str, pipeline: str) -> None:
    assert schedule(kernel, pipeline).transformations


@pytest.mark.parametrize(("kernel", "pipeline"), ILLEGAL)
def test_illegal(kernel: str, pipeline: str) -> None:
    original = schedule(kernel)
    (transformation,) = parse_pipeline(pipeline)
    assert not original.legal(transformation)
    with pytest.raises(IllegalTransformation):
        original.apply(transformation)
    assert original == schedule(kernel)
    assert original.tree is original.scop.tree


MESSAGES = [
    (
        "seidel-2d",
        "interchange{loops=i,t}",
        "interchange of i, t is illegal: the flow dependence from S0 to S0 on A is violated: "
        "S0[t=0, i=2, j=1] must run before S0[t=1, i=1, j=1], but would run after it "
        "(with tsteps=2, n=4); hint: skew{loops=t,i factors=1} makes it legal",
    ),
    (
        "gemm",
        "parallel{loops=k}",
        "parallel of k is illegal: the flow dependence from S1 to S1 on C is violated: "
        "S1[i=0, k=0, j=0] must run before S1[i=0, k=1, j=0], but they would run in different "
        "iterations of the parallel loop k (with ni=1, nj=1, nk=2); "
        "hint: parallel{loops=i} is legal",
    ),
    (
        "gemm",
        "vectorize{loops=k width=4}",
        "vectorize of k is illegal: the flow dependence from S1 to S1 on C is violated: "
        "S1[i=0, k=0, j=0] must run before S1[i=0, k=1, j=0], but they would run in one vector "
        "of loop k (with ni=1, nj=1, nk=2); hint: vectorize{loops=S1.j width=4} is legal",
    ),
]


@pytest.mark.parametrize(("kernel", "pipeline", "message"), MESSAGES)
def test_messages_of_illegal_steps(kernel: str, pipeline: str, message: str) -> None:
    with pytest.raises(IllegalTransformation) as caught:
        schedule(kernel, pipeline)
    assert str(caught.value) == message


MALFORMED = [
    ("interchange{loops=i}", "interchange of i: name at least two loops, in their new order"),
    ("interchange{loops=S1.j,S1.j}", "interchange of S1.j, S1.j: loop j is named twice"),
    (
        "interchange{loops=k,i}",
        "interchange of k, i: k, i are not directly inside each other: "
        "try distribute{loops=i} first; the loops are i, S0.j, k, S1.j",
    ),
    (
        "tile{loops=S0.j,k sizes=4,4}",
        "tile of S0.j, k: S0.j, k are not directly inside each other; "
        "the loops are i, S0.j, k, S1.j",
    ),
    (
        "tile{loops=kk sizes=4}",
        "tile of kk: there is no loop kk (did you mean k?); the loops are i, S0.j, k, S1.j",
    ),
    ("tile{loops=j sizes=4}", "tile of j: loop j is ambiguous: say S0.j or S1.j"),
    ("tile{loops=S1.j,k sizes=4,4}", "tile of S1.j, k: name the loops outermost first: k,S1.j"),
    ("tile{loops=k,S1.j sizes=4}", "tile of k, S1.j: give one size per loop: 2, not 1"),
    ("tile{loops=k sizes=0}", "tile of k: a tile size must be at least 1, not 0"),
    ("tile{loops=k sizes=4 names=i}", "tile of k: the name i is taken; choose another"),
    (
        "tile{loops=k sizes=4 names=k-t}",
        "tile of k: 'k-t' cannot be a name: use letters, digits and _, without a number after _",
    ),
    (
        "tile{loops=k,S1.j sizes=4,4 names=kt}",
        "tile of k, S1.j: give 2 different names, one per tile loop",
    ),
    ("parallel{loops=i,i}", "parallel of i, i: loop i is named twice"),
    ("parallel{loops=i},parallel{loops=i}", "parallel of i: loop i is already parallel"),
    ("vectorize{loops=i width=1}", "vectorize of i: the width must be at least 2, not 1"),
    (
        "vectorize{loops=S1.j width=65536}",
        "vectorize of S1.j: the width must be at most 1024, not 65536",
    ),
    (
        "vectorize{loops=i},vectorize{loops=i}",
        "vectorize of i: loop i is already vectorised",
    ),
    (
        "unroll{loops=i factor=-1}",
        "unroll of i: the factor must be positive, or 0 for all iterations, not -1",
    ),
    ("unroll{loops=i},unroll{loops=i factor=2}", "unroll of i: loop i is already unrolled"),
    (
        "tile{loops=k sizes=4},interchange{loops=k,kt}",
        "interchange of k, kt: loop k must stay inside its tile loop kt",
    ),
]


@pytest.mark.parametrize(("pipeline", "message"), MALFORMED)
def test_messages_of_malformed_steps(pipeline: str, message: str) -> None:
    with pytest.raises(MalformedTransformation) as caught:
        schedule("gemm", pipeline)
    assert str(caught.value) == message


def test_interchange_permutes_any_part_of_a_chain() -> None:
    result = schedule("floyd-warshall", "tile{loops=i,j sizes=4,4},interchange{loops=j,i}")
    assert shape(result.tree) == ("k", ("it", ("jt", ("j", ("i", "S0")))))


def test_tile_keeps_point_loops_and_marks() -> None:
    result = schedule("gemm", "parallel{loops=i},tile{loops=k,S1.j sizes=16,32}")
    assert shape(result.tree) == ("i", [("j", "S0"), ("kt", ("jt", ("k", ("j", "S1"))))])
    points = {loop.name: loop.within for loop in loops(result.tree) if loop.within}
    assert {name: (tile.tile, tile.size) for name, tile in points.items() if tile} == {
        "k": ("kt", 16),
        "j": ("jt", 32),
    }
    assert result.loop("i").parallel
    assert str(result.loop("kt").schedule["S1"]).endswith("[(floor((k)/16))] }")


def test_tiling_again_names_and_nests_the_new_loop() -> None:
    result = schedule("seidel-2d", "tile{loops=i sizes=32},tile{loops=i sizes=8}")
    assert shape(result.tree) == ("t", ("it", ("it2", ("i", ("j", "S0")))))
    middle, point = result.loop("it2").within, result.loop("i").within
    assert middle is not None and (middle.tile, middle.size) == ("it", 4)
    assert point is not None and (point.tile, point.size) == ("it2", 8)


def test_width_of_vectors_fills_a_register() -> None:
    result = schedule("gemm", "vectorize{loops=S1.j}")
    assert result.loop("S1.j").vector == result.target.vector_bits // 64
    assert str(result) == f"vectorize{{loops=S1.j width={result.target.vector_bits // 64}}}"


def test_marks_travel_with_their_loops() -> None:
    result = schedule("gemm", "parallel{loops=S1.j},interchange{loops=S1.j,k}")
    assert shape(result.tree) == ("i", [("j", "S0"), ("j", ("k", "S1"))])
    assert result.loop("S1.j").parallel


DIAGONAL = """
func.func @diagonal(%n: index, %A: memref<?x?xf64>) {
  affine.for %t = 1 to %n {
    affine.for %i = 1 to %n {
      %0 = affine.load %A[%t - 1, %i - 1] : memref<?x?xf64>
      %1 = affine.load %A[%t, %i] : memref<?x?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %A[%t, %i] : memref<?x?xf64>
    }
  }
  return
}
"""


def test_a_mark_stops_an_interchange_that_makes_it_illegal() -> None:
    # Once t is fixed, i is parallel; outermost it is not.
    result = schedule_of(DIAGONAL).apply_all(parse_pipeline("parallel{loops=i}"))
    with pytest.raises(IllegalTransformation, match="parallel loop i"):
        result.apply_all(parse_pipeline("interchange{loops=i,t}"))
    assert schedule_of(DIAGONAL).legal(parse_pipeline("interchange{loops=i,t}")[0])


def test_vectors_of_an_anti_dependence_load_first() -> None:
    vectorize = parse_pipeline("vectorize{loops=i width=4}")[0]
    assert schedule_of(SHIFT.format(offset="+ 1")).legal(vectorize)
    assert not schedule_of(SHIFT.format(offset="- 1")).legal(vectorize)
    parallel = parse_pipeline("parallel{loops=i}")[0]
    assert not schedule_of(SHIFT.format(offset="+ 1")).legal(parallel)


def test_everything_is_legal_without_dependences() -> None:
    result = schedule_of(COPY).apply_all(
        parse_pipeline(
            "interchange{loops=j,i},tile{loops=j,i sizes=3,5},interchange{loops=it,jt},"
            "parallel{loops=it,jt},vectorize{loops=j width=4},unroll{loops=i}"
        )
    )
    assert shape(result.tree) == ("it", ("jt", ("j", ("i", "S0"))))
