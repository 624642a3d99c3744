"""What errors advise: known answers, each of which is legal; unread errors search for none."""

from __future__ import annotations

import re

import pytest
from support.scops import polybench, schedule_of

from loopwright.passes.schedules.errors import IllegalTransformation
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

# B[i] = A[i]; C[i] = B[i - 1]; then a prefix sum.
PARTS = """
func.func @parts(%n: index, %A: memref<?xf64>, %B: memref<?xf64>, %C: memref<?xf64>) {
  affine.for %i = 1 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    affine.store %0, %B[%i] : memref<?xf64>
    %1 = affine.load %B[%i - 1] : memref<?xf64>
    affine.store %1, %C[%i] : memref<?xf64>
    PREFIX
  }
  return
}
"""

PREFIX_SUM = """
    %2 = affine.load %A[%i - 1] : memref<?xf64>
    %3 = affine.load %C[%i] : memref<?xf64>
    %4 = arith.addf %2, %3 : f64
    affine.store %4, %A[%i] : memref<?xf64>
"""

# B[i] = A[i - 1]; A[i] = B[i]; C[i] = A[i].
CYCLE = """
func.func @cycle(%n: index, %A: memref<?xf64>, %B: memref<?xf64>, %C: memref<?xf64>) {
  affine.for %i = 1 to %n {
    %0 = affine.load %A[%i - 1] : memref<?xf64>
    affine.store %0, %B[%i] : memref<?xf64>
    %1 = affine.load %B[%i] : memref<?xf64>
    affine.store %1, %A[%i] : memref<?xf64>
    %2 = affine.load %A[%i] : memref<?xf64>
    affine.store %2, %C[%i] : memref<?xf64>
  }
  return
}
"""

# B[i] = A[i]; then C[i] = B[i + 9].
FAR = """
func.func @far(%n: index, %A: memref<?xf64>, %B: memref<?xf64>, %C: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    affine.store %0, %B[%i] : memref<?xf64>
  }
  affine.for %i = 0 to affine_map<(n) -> (n - 9)>(%n) {
    %1 = affine.load %B[%i + 9] : memref<?xf64>
    affine.store %1, %C[%i] : memref<?xf64>
  }
  return
}
"""

# t = A[i]; s = t; B[i] = s * t.
SCALARS = """
func.func @scalars(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  %t = memref.alloca() : memref<f64>
  %s = memref.alloca() : memref<f64>
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    affine.store %0, %t[] : memref<f64>
    %1 = affine.load %t[] : memref<f64>
    affine.store %1, %s[] : memref<f64>
    %2 = affine.load %s[] : memref<f64>
    %3 = affine.load %t[] : memref<f64>
    %4 = arith.mulf %2, %3 : f64
    affine.store %4, %B[%i] : memref<?xf64>
  }
  return
}
"""

# s = s + A[i], of integers.
SUM = """
func.func @sum(%n: index, %A: memref<?xi64>, %s: memref<i64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %s[] : memref<i64>
    %1 = affine.load %A[%i] : memref<?xi64>
    %2 = arith.addi %0, %1 : i64
    affine.store %2, %s[] : memref<i64>
  }
  return
}
"""

KNOWN = [
    ("seidel-2d", "tile{loops=t,i sizes=4,4}", "skew{loops=t,i factors=1} makes it legal"),
    ("seidel-2d", "tile{loops=i,j sizes=4,4}", "skew{loops=i,j factors=1} makes it legal"),
    (
        "seidel-2d",
        "tile{loops=t,i,j sizes=4,4,4}",
        "skew{loops=t,i,j factors=1,1},skew{loops=i,j factors=1} makes it legal",
    ),
    ("seidel-2d", "interchange{loops=i,t}", "skew{loops=t,i factors=1} makes it legal"),
    ("seidel-2d", "parallel{loops=i}", "wavefront{loops=t,i factors=2,1} makes it legal"),
    (
        "seidel-2d",
        "unroll-and-jam{loops=i factor=2}",
        "skew{loops=i,j factors=1} makes it legal",
    ),
    ("jacobi-2d", "fuse{loops=S0.i,S1.i}", "shift{loops=S1.i offset=1} makes it legal"),
    (
        "fdtd-2d",
        "fuse{loops=S1.i,S2.i,S3.i}",
        "shift{loops=S2.i,S3.i offset=1} makes it legal",
    ),
    ("gemm", "parallel{loops=k}", "parallel{loops=i} is legal"),
    ("gemm", "vectorize{loops=k width=4}", "vectorize{loops=S1.j width=4} is legal"),
    (
        "trisolv",
        "parallel{loops=i}",
        "distribute{loops=i after=S0},parallel{loops=S0.i} is legal",
    ),
]


def error(schedule: Schedule, pipeline: str) -> IllegalTransformation:
    with pytest.raises(IllegalTransformation) as caught:
        schedule.apply_all(parse_pipeline(pipeline))
    return caught.value


def follow(schedule: Schedule, pipeline: str, hint: str) -> Schedule:
    """The schedule after what a hint says."""
    steps, makes_it_legal = re.subn(" makes it legal$", "", hint)
    steps = f"{steps},{pipeline}" if makes_it_legal else steps.removesuffix(" is legal")
    return schedule.apply_all(parse_pipeline(steps))


@pytest.mark.parametrize(("kernel", "pipeline", "hint"), KNOWN)
def test_known_answers(kernel: str, pipeline: str, hint: str) -> None:
    original = Schedule.original(polybench(kernel))
    found = error(original, pipeline)
    assert found.hint == hint
    assert str(found).endswith(f"; hint: {hint}")
    assert "\n" not in str(found)
    assert follow(original, pipeline, hint).transformations


def test_shifts_of_their_own() -> None:
    original = schedule_of(FAR)
    assert error(original, "fuse{loops=S0.i,S1.i}").hint == (
        "fuse{loops=S0.i,S1.i shift=auto} is legal"
    )


def test_shift_of_statements() -> None:
    original = schedule_of(PARTS.replace("PREFIX", ""))
    hint = error(original, "parallel{loops=i}").hint
    assert hint == "shift{loops=i offset=-1 statements=S1} makes it legal"
    assert follow(original, "parallel{loops=i}", hint).tree


@pytest.mark.parametrize(
    "step", ["parallel{loops=i}", "vectorize{loops=i width=4}", "distribute{loops=i}"]
)
def test_expansion(step: str) -> None:
    original = schedule_of(SCALARS)
    hint = error(original, step).hint
    assert hint == "expand{loops=i array=t},expand{loops=i array=s} makes it legal"
    assert follow(original, step, hint).tree
    one = original.apply_all(parse_pipeline("expand{loops=i array=s}"))
    assert error(one, step).hint == "expand{loops=i array=t} makes it legal"


def test_distribution() -> None:
    original = schedule_of(PARTS.replace("PREFIX", PREFIX_SUM))
    hint = error(original, "parallel{loops=i}").hint
    assert hint is not None
    assert hint.startswith("distribute{loops=i")
    assert follow(original, "parallel{loops=i}", hint).tree


def test_partial_sums_in_lanes() -> None:
    original = schedule_of(SUM)
    hint = error(original, "vectorize{loops=i width=4}").hint
    assert hint == (
        "strip-mine{loops=i size=16},rfactor{loops=i},vectorize{loops=S0.i width=4} is legal"
    )
    repaired = follow(original, "vectorize{loops=i width=4}", hint)
    assert repaired.loop("S0.i").vector == 4


def test_all_repairs_are_legal_and_none_comes_twice() -> None:
    original = Schedule.original(polybench("jacobi-2d"))
    (step,) = parse_pipeline("fuse{loops=S0.i,S1.i}")
    found = list(original.legal_repairs(step))
    assert len(found) == len(set(found)) > 2
    assert all(original.legal_all(steps) for steps in found)


def test_fewer_parts() -> None:
    original = Schedule.original(polybench("fdtd-2d"))
    assert error(original, "distribute{loops=t}").hint is None
    hint = error(schedule_of(CYCLE), "distribute{loops=i}").hint
    assert hint == "distribute{loops=i after=S1} is legal"


def test_says_nothing_where_nothing_helps() -> None:
    found = error(Schedule.original(polybench("cholesky")), "parallel{loops=j}")
    assert found.hint is None
    assert "hint" not in str(found)


def test_a_verdict_searches_no_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def record(*args: object) -> None:
        asked.append(args)

    monkeypatch.setattr(Schedule, "_repair_hint", record)
    original = Schedule.original(polybench("gemm"))
    (step,) = parse_pipeline("parallel{loops=k}")
    assert not original.legal(step)
    found = error(original, "parallel{loops=k}")
    assert not asked
    assert "parallel of k is illegal" in str(found)
    assert len(asked) == 1
