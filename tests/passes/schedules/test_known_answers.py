"""Known answers from the literature: schedules of which it is known that they are legal and pay.

Each runs at several sizes, on one to three threads, against the kernel's reference.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.reference_runs import Size, check_run, function_of
from support.scops import schedule_of

from loopwright.passes.schedules.errors import IllegalTransformation, MalformedTransformation
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.runtime.program import load

TILED = "affine-schedule,tile{loops=t,i,j sizes=4,8,8}"
LINEAR = "affine-schedule,tile{loops=k,i,j sizes=8,8,8}"
STENCIL = ("MINI", "SMALL", (1, 3), (7, 21))
SQUARE = ("MINI", "SMALL", (1,), (33,))

# The outer ones of the loops over tiles run over wavefronts, the next ones are parallel.
SCHEDULES: dict[str, tuple[str, str, tuple[Size, ...]]] = {
    "box blur, whose outermost loop has three iterations": (
        "interchange/blur",
        "interchange{loops=x,c},parallel{loops=x},vectorize{loops=y}",
        ("MINI", "SMALL", (3, 3, 3), (3, 7, 50)),
    ),
    "jacobi-2d, skewed and tiled, wavefronts": (
        "polybench/jacobi-2d",
        f"{TILED},wavefront{{loops=tt,it factors=1,1}},parallel{{loops=it}}",
        STENCIL,
    ),
    "jacobi-2d, fused with a shift and skewed by hand": (
        "polybench/jacobi-2d",
        "fuse{loops=S0.i,S1.i shift=auto},fuse{loops=S0.j,S1.j shift=auto},"
        "shift{loops=j offset=1 statements=S1},skew{loops=t,i,j factors=2,2},"
        "tile{loops=t,i,j sizes=4,8,8},wavefront{loops=tt,it factors=1,1},parallel{loops=it}",
        STENCIL,
    ),
    "jacobi-1d, diamonds": (
        "polybench/jacobi-1d",
        "fuse{loops=S0.i,S1.i shift=auto},diamond{loops=t,i size=8},parallel{loops=it},"
        "distribute{loops=i},vectorize{loops=S0.i,S1.i}",
        ("MINI", "SMALL", (1, 3), (7, 50)),
    ),
    "heat-3d, diamonds": (
        "polybench/heat-3d",
        "affine-schedule,diamond{loops=t,i size=4},parallel{loops=it}",
        ("MINI", (1, 3), (7, 13)),
    ),
    "seidel-2d, wavefronts by skewing the loops over tiles": (
        "polybench/seidel-2d",
        f"{TILED},skew{{loops=tt,it factors=1}},interchange{{loops=it,tt}},parallel{{loops=tt}}",
        STENCIL,
    ),
    "fdtd-2d, skewed and tiled, wavefronts": (
        "polybench/fdtd-2d",
        f"{TILED},wavefront{{loops=tt,it factors=1,1}},parallel{{loops=it}},distribute{{loops=j}},"
        "vectorize{loops=S1.j,S2.j,S3.j}",
        ("MINI", "SMALL", (1, 3, 2), (7, 21, 30)),
    ),
    "cholesky, tiled, wavefronts": (
        "polybench/cholesky",
        f"{LINEAR},wavefront{{loops=kt,it factors=1,1}},parallel{{loops=it}}",
        SQUARE,
    ),
    "lu, tiled, wavefronts": (
        "polybench/lu",
        f"{LINEAR},wavefront{{loops=kt,it factors=1,1}},parallel{{loops=it}}",
        SQUARE,
    ),
    "nussinov, tiled, wavefronts": (
        "polybench/nussinov",
        "tile{loops=i,j sizes=8,8},wavefront{loops=it,jt factors=1,1},parallel{loops=jt}",
        SQUARE,
    ),
    "cholesky: distributed, each part is parallel": (
        "polybench/cholesky",
        "affine-schedule,reorder{statements=S3,S1,S0,S2},distribute{loops=i,j},"
        "parallel{loops=S1.i,S0.i,S2.i},vectorize{loops=S0.j}",
        SQUARE,
    ),
    "nussinov: diagonals, distributed, each part is parallel": (
        "polybench/nussinov",
        "wavefront{loops=i,j factors=1,1},distribute{loops=j},"
        "parallel{loops=S0.j,S1.j,S2.j,S3.j,S4.j}",
        SQUARE,
    ),
    "gemm: two levels of tiles, packed operands, register tile": (
        "polybench/gemm",
        "distribute{loops=i},interchange{loops=S1.i,S1.j,k},"
        "tile{loops=S1.i,S1.j,k sizes=32,48,64},interchange{loops=jt,kt,it},"
        "tile{loops=S1.i,S1.j sizes=4,8},interchange{loops=k,S1.i,S1.j},"
        "pack{loops=kt array=B panels=0,8},pack{loops=it array=A panels=4,0},"
        "unroll{loops=S1.i},vectorize{loops=S1.j width=8},parallel{loops=jt}",
        ("MINI", "SMALL", (1, 2, 3), (33, 49, 65)),
    ),
}


@pytest.mark.parametrize("title", list(SCHEDULES))
def test_known_schedules(title: str) -> None:
    name, pipeline, sizes = SCHEDULES[title]
    schedule = function_of(name).schedule(pipeline)
    for number, size in enumerate(sizes):
        check_run(name, schedule, size, threads=1 + number % 3)


def test_faces_of_diamonds() -> None:
    """Two sweeps per time step, each of which moves by one point."""
    schedule = function_of("polybench/jacobi-1d").schedule(
        "fuse{loops=S0.i,S1.i shift=auto},diamond{loops=t,i size=16}"
    )
    assert schedule.describe_loops() == "tt, it, t, i"
    values = {name: str(aff) for name, aff in schedule.loop("tt").schedule.items()}
    assert values["S0"].endswith("[(floor((2t - i)/16) + floor((2t + i)/16))] }")
    assert values["S1"].endswith("[(floor((1 + 2t - i)/16) + floor((1 + 2t + i)/16))] }")


def test_no_diamonds_where_the_cone_is_open() -> None:
    with pytest.raises(MalformedTransformation, match="diamond of t, i: no diamond has all"):
        function_of("polybench/seidel-2d").schedule("diamond{loops=t,i size=8}")


COVARIANCE = """
func.func @covariance(%m: index, %n: index, %data: memref<?x?xf64>, %cov: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  %size = arith.index_cast %n : index to i64
  %points = arith.sitofp %size : i64 to f64
  %mean = memref.alloca() : memref<f64>
  %sum = memref.alloca() : memref<f64>
  affine.for %j = 0 to %m {
    affine.store %zero, %mean[] : memref<f64>
    affine.for %i = 0 to %n {
      %0 = affine.load %mean[] : memref<f64>
      %1 = affine.load %data[%i, %j] : memref<?x?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %mean[] : memref<f64>
    }
    affine.for %i = 0 to %n {
      %3 = affine.load %data[%i, %j] : memref<?x?xf64>
      %4 = affine.load %mean[] : memref<f64>
      %5 = arith.divf %4, %points : f64
      %6 = arith.subf %3, %5 : f64
      affine.store %6, %data[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %p = 0 to %m {
    affine.for %q = %p to %m {
      affine.store %zero, %sum[] : memref<f64>
      affine.for %k = 0 to %n {
        %7 = affine.load %sum[] : memref<f64>
        %8 = affine.load %data[%k, %p] : memref<?x?xf64>
        %9 = affine.load %data[%k, %q] : memref<?x?xf64>
        %10 = arith.mulf %8, %9 : f64
        %11 = arith.addf %7, %10 : f64
        affine.store %11, %sum[] : memref<f64>
      }
      %12 = affine.load %sum[] : memref<f64>
      affine.store %12, %cov[%p, %q] : memref<?x?xf64>
      affine.store %12, %cov[%q, %p] : memref<?x?xf64>
    }
  }
  return
}
"""

CORRELATION = """
func.func @deviations(%m: index, %n: index, %data: memref<?x?xf64>, %out: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  %least = arith.constant 0.1 : f64
  %square = memref.alloca() : memref<f64>
  affine.for %j = 0 to %m {
    affine.store %zero, %square[] : memref<f64>
    affine.for %i = 0 to %n {
      %0 = affine.load %square[] : memref<f64>
      %1 = affine.load %data[%i, %j] : memref<?x?xf64>
      %2 = arith.mulf %1, %1 : f64
      %3 = arith.addf %0, %2 : f64
      affine.store %3, %square[] : memref<f64>
    }
    %4 = affine.load %square[] : memref<f64>
    %5 = math.sqrt %4 : f64
    %6 = arith.cmpf ole, %5, %least : f64
    %7 = arith.select %6, %one, %5 : f64
    affine.store %7, %out[%j] : memref<?xf64>
  }
  return
}
"""

EXPANSIONS = [
    (COVARIANCE, "expand{loops=S0.j array=mean}", "parallel{loops=S0.j}"),
    (COVARIANCE, "expand{loops=p,q array=sum}", "parallel{loops=p}"),
    (
        COVARIANCE,
        "expand{loops=p,q array=sum},distribute{loops=p,q}",
        "interchange{loops=k,p,S4.q},tile{loops=p,S4.q sizes=8,8},vectorize{loops=S4.q}",
    ),
    (CORRELATION, "expand{loops=j array=square}", "parallel{loops=j}"),
    (
        CORRELATION,
        "expand{loops=j array=square},distribute{loops=j}",
        "interchange{loops=i,S1.j},vectorize{loops=S1.j}",
    ),
]


@pytest.mark.parametrize(("text", "expansion", "rest"), EXPANSIONS)
def test_expanded_scalars(text: str, expansion: str, rest: str) -> None:
    with pytest.raises(IllegalTransformation):
        schedule_of(text).apply_all(parse_pipeline(f"{expansion},{rest}".split("},", 1)[1]))
    (function,) = load(text).values()
    for n in (1, 5, 20):
        results: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []
        for steps in (None, f"{expansion},{rest}"):
            data = np.random.default_rng(n).normal(size=(n + 3, n))
            out = np.zeros(n if text is CORRELATION else (n, n))
            function.compile(steps, threads=2)(n, n + 3, data, out)
            results.append(out)
        assert np.allclose(*results, rtol=1e-12, atol=1e-12)
