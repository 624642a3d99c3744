"""Known answers for split, reorder, expand, unroll-and-jam and fuse with a shift."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.scops import polybench, schedule_of

from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree
from loopwright.passes.schedules.errors import IllegalTransformation, MalformedTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load


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


# A sum in a scalar that all iterations of i share, and that a second nest uses again.
SHARED = """
func.func @f(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  %x = memref.alloca() : memref<f64>
  %z = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.store %z, %x[] : memref<f64>
    affine.for %k = 0 to %n {
      %0 = affine.load %x[] : memref<f64>
      %1 = affine.load %A[(%i + %k) mod 7] : memref<?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %x[] : memref<f64>
    }
    %3 = affine.load %x[] : memref<f64>
    affine.store %3, %B[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    %0 = affine.load %B[%i] : memref<?xf64>
    affine.store %0, %x[] : memref<f64>
    %3 = affine.load %x[] : memref<f64>
    affine.store %3, %A[%i] : memref<?xf64>
  }
  return
}
"""

EXPANDED = "expand{loops=S0.i array=x}"

# What runs correctly, with the loops that it makes.
STEPS = [
    (EXPANDED, [("i", ["S0", ("k", "S1"), "S2"]), ("i", ["S3", "S4"])]),
    (
        f"{EXPANDED},parallel{{loops=S0.i}},expand{{loops=S3.i array=x}},parallel{{loops=S3.i}}",
        None,
    ),
    (
        f"{EXPANDED},distribute{{loops=S0.i}},interchange{{loops=k,S1.i}},vectorize{{loops=S1.i}}",
        [("i", "S0"), ("k", ("i", "S1")), ("i", "S2"), ("i", ["S3", "S4"])],
    ),
    (
        f"{EXPANDED},split{{loops=S0.i at=5}},split{{loops=S1.k at=n-3}},parallel{{loops=S0_2.i}}",
        [
            ("i", ["S0", ("k", "S1"), ("k", "S1_3"), "S2"]),
            ("i", ["S0_2", ("k", "S1_2"), "S2_2"]),
            ("i", ["S3", "S4"]),
        ],
    ),
    (
        f"{EXPANDED},unroll-and-jam{{loops=S0.i factor=4}}",
        [("it", [("i", "S0"), ("k", ("i", "S1")), ("i", "S2")]), ("i", ["S3", "S4"])],
    ),
    (
        "tile{loops=S0.i sizes=4},split{loops=it at=1}",
        [
            ("it", ("i", ["S0", ("k", "S1"), "S2"])),
            ("it", ("i", ["S0_2", ("k", "S1_2"), "S2_2"])),
            ("i", ["S3", "S4"]),
        ],
    ),
]


@pytest.mark.parametrize(("pipeline", "expected"), STEPS)
def test_steps_on_a_shared_scalar(pipeline: str, expected: Any) -> None:
    function = load(SHARED)["f"]
    if expected is not None:
        assert shape(function.schedule(pipeline).tree) == expected
    for n in (0, 1, 5, 6, 19):
        results: list[np.ndarray[Any, Any]] = []
        for steps in (None, pipeline):
            a, b = np.arange(7.0 + n), np.zeros(n)
            function.compile(steps, threads=2)(n, a, b)
            results.append(np.concatenate((a, b)))
        assert np.array_equal(results[0], results[1]), n


LEGAL = [
    ("gemm", "split{loops=k at=nk-1}"),
    ("gemm", "split{loops=S0.j at=2ni+1},reorder{statements=S0_2,S0}"),
    (
        "floyd-warshall",
        "split{loops=j at=k},split{loops=S0_2.j at=k+1},vectorize{loops=S0.j},"
        "vectorize{loops=S0_2_2.j}",
    ),
    ("mvt", "reorder{statements=S1,S0}"),
    ("gemm", "unroll-and-jam{loops=i factor=4},vectorize{loops=S1.j}"),
    ("2mm", "unroll-and-jam{loops=S2.i factor=4},unroll-and-jam{loops=S2.j factor=2}"),
    ("jacobi-1d", "fuse{loops=S0.i,S1.i shift=auto}"),
    ("2mm", "fuse{loops=S0.i,S2.i shift=auto}"),
]

ILLEGAL = [
    ("gemm", "reorder{statements=S1,S0}", "flow dependence from S0 to S1 on C"),
    ("cholesky", "unroll-and-jam{loops=i factor=2}", "flow dependence from S3 to S1 on A"),
    ("seidel-2d", "unroll-and-jam{loops=i factor=2}", "flow dependence from S0 to S0 on A"),
]


@pytest.mark.parametrize(("kernel", "pipeline"), LEGAL)
def test_legal(kernel: str, pipeline: str) -> None:
    assert str(schedule(kernel, pipeline)).startswith(pipeline.split("{")[0])


@pytest.mark.parametrize(("kernel", "pipeline", "message"), ILLEGAL)
def test_illegal(kernel: str, pipeline: str, message: str) -> None:
    with pytest.raises(IllegalTransformation, match=message):
        schedule(kernel, pipeline)


def test_a_value_must_be_read_where_it_was_written() -> None:
    with pytest.raises(IllegalTransformation) as caught:
        schedule_of(SHARED).apply_all(parse_pipeline("expand{loops=k array=x}"))
    assert str(caught.value) == (
        "expand of x by k is illegal: the flow dependence from S0 to S1 on x is violated: S0[i=0] "
        "must run before S1[i=0, k=0], but it would write another element than that one reads "
        "(with n=1)"
    )


def test_a_split_divides_domains_and_keeps_the_dependences() -> None:
    before = schedule("gemm")
    after = schedule("gemm", "split{loops=k at=nk-1}")
    assert [statement.name for statement in after.scop.statements] == ["S0", "S1", "S1_2"]
    domain = before.scop.statement("S1").domain
    parts = [after.scop.statement(name).domain.set_tuple_name("S1") for name in ("S1", "S1_2")]
    assert parts[0].union(parts[1]).is_equal(domain)
    assert parts[0].is_disjoint(parts[1])
    computed = after.dependences.relation
    del after.scop.memory["dependences"]
    assert computed.is_equal(after.dependences.relation)


SHIFTS = [
    ("jacobi-1d", "S0.i,S1.i", {"S0": 0, "S1": 1}),
    ("jacobi-2d", "S0.i,S1.i", {"S0": 0, "S1": 1}),
    ("fdtd-2d", "S1.i,S2.i,S3.i", {"S1": 0, "S2": 0, "S3": 1}),
    ("2mm", "S0.i,S2.i", {"S0": 0, "S1": 0, "S2": 0, "S3": 0}),
]


@pytest.mark.parametrize(("kernel", "members", "expected"), SHIFTS)
def test_the_smallest_shifts_that_make_fusion_legal(
    kernel: str, members: str, expected: dict[str, int]
) -> None:
    fused = schedule(kernel, f"fuse{{loops={members} shift=auto}}").loop("S1.i")
    found = {n: aff.get_constant_val().to_python() for n, aff in fused.schedule.items()}
    assert found == expected


MALFORMED = [
    ("gemm", "split{loops=k at=0}", "split of k: every value of k is from 0: nothing to split"),
    ("gemm", "split{loops=k at=nk}", "split of k: every value of k is below nk: nothing to split"),
    ("gemm", "split{loops=k at=q+1}", "no size q in 'q+1'; there are ni, nj, nk; loops around"),
    ("gemm", "split{loops=i at=q+1}", "no size q in 'q+1'; there are ni, nj, nk"),
    ("gemm", "split{loops=k at=j}", "no size j in 'j'; there are ni, nj, nk; loops around are i"),
    ("gemm", "split{loops=k at=nk-}", "split of k: 'nk-' is no sum like n-1 or 2n+3"),
    ("gemm", f"split{{loops=k at={10**18}}}", "an integer has at most 18 digits in a sum"),
    ("gemm", f"split{{loops=k at={'9' * 5000}nk}}", "an integer has at most 18 digits in a sum"),
    ("gemm", f"split{{loops=k at={10**18 - 1}nk+nk}}", "add up to at most 18 digits"),
    ("lu", f"sink{{loops=S0.k at={2**70}}}", "an integer has at most 18 digits in a sum"),
    ("gemm", "split{loops=i,k at=1}", "split of i, k: name one loop"),
    ("gemm", "reorder{statements=S1}", "reorder of S1: name at least two different statements"),
    ("gemm", "reorder{statements=S1,S7}", "there is no statement S7; there are S0, S1"),
    ("2mm", "reorder{statements=S2,S1,S0}", "some of these statements are in one loop"),
    ("gemm", "expand{loops=i array=C}", "expand of C by i: C is an argument, whose last values"),
    ("gemm", "expand{loops=i array=x}", "there is no array x; the local arrays are none"),
    ("gemm", "unroll-and-jam{loops=i factor=1}", "the factor must be at least 2, not 1"),
    ("gemm", "vectorize{loops=S1.j},unroll-and-jam{loops=S1.j factor=2}", "j is vectorised: apply"),
    ("gemm", "fuse{loops=S0.j,k shift=far}", "the shift is none or auto, not 'far'"),
    ("3mm", "fuse{loops=S2.i,S4.i shift=auto}", "no constant shift keeps i of S4 behind i of S2"),
]


@pytest.mark.parametrize(("kernel", "pipeline", "message"), MALFORMED)
def test_messages_of_malformed_steps(kernel: str, pipeline: str, message: str) -> None:
    with pytest.raises(MalformedTransformation) as caught:
        schedule(kernel, pipeline)
    assert message in str(caught.value)
