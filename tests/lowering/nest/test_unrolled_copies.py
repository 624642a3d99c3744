"""Register tiles that unrolled loops around them must not break."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.dialects import affine
from loopwright.lowering.generate import generate
from loopwright.lowering.loops.operations import operations

SMALL_KERNEL = """
func.func @correlate(%f: index, %c: index, %x: index, %src: memref<?x{padded}xf32>,
                     %weights: memref<?x?x{taps}x{taps}xf32>, %dst: memref<?x?xf32>) {{
  affine.for %i = 0 to %f {{
    affine.for %j = 0 to %x {{
      affine.for %k = 0 to %c {{
        affine.for %u = 0 to {taps} {{
          affine.for %v = 0 to {taps} {{
            %0 = affine.load %dst[%i, %j] : memref<?x?xf32>
            %1 = affine.load %src[%k, %j + %u + %v] : memref<?x{padded}xf32>
            %2 = affine.load %weights[%i, %k, %u, %v] : memref<?x?x{taps}x{taps}xf32>
            %3 = arith.mulf %1, %2 : f32
            %4 = arith.addf %0, %3 : f32
            affine.store %4, %dst[%i, %j] : memref<?x?xf32>
          }}
        }}
      }}
    }}
  }}
  return
}}
"""


@pytest.mark.parametrize(
    ("taps", "rows", "width"), [(3, 29, 16), (3, 16, 16), (5, 6, 8), (2, 40, 4), (7, 13, 8)]
)
def test_sums_stay_in_registers(taps: int, rows: int, width: int) -> None:
    """More copies than are made: the loops around the tile are unrolled less, not the tile."""
    text = SMALL_KERNEL.format(taps=taps, padded=width + 2 * taps)
    function = loopwright.load(text)["correlate"]
    features, channels = 2 * rows + 3, 3
    schedule = function.schedule(
        f"tile{{loops=i,j sizes={rows},{width}}},interchange{{loops=k,u,v,i,j}},"
        f"unroll{{loops=u,v,i,j}},vectorize{{loops=j width={width}}}"
    )
    sizes = {"f": features, "c": channels, "x": width, "src_dim0": channels}
    sizes |= {"weights_dim0": features, "weights_dim1": channels}
    sizes |= {"dst_dim0": features, "dst_dim1": width}
    loops = operations(generate(schedule, sizes))
    carried = [len(op.inits) for op in loops if isinstance(op, affine.ForOp)]
    assert max(carried) == rows

    rng = np.random.default_rng(taps)
    src = rng.random((channels, width + 2 * taps), np.float32)
    weights = rng.random((features, channels, taps, taps), np.float32)
    dst = np.zeros((features, width), np.float32)
    expected = dst.copy()
    function.compile(schedule)(features, channels, width, src, weights, dst)
    function.compile(None)(features, channels, width, src, weights, expected)
    np.testing.assert_array_equal(dst, expected)
