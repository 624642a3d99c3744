"""Programs and schedules whose reports are looked at."""

from __future__ import annotations

HOSTILE = """\
// </script><script>alert(1)</script> <img src=x onerror=alert(2)>
func.func @copy(%n: index, %A: memref<?xf64>) {
  affine.for %i = 1 to %n {
    %0 = affine.load %A[%i - 1] : memref<?xf64>  // </pre><b> & "quotes"
    affine.store %0, %A[%i] : memref<?xf64>
  }
  return
}
"""

TILED = (
    "distribute{loops=i},interchange{loops=S1.j,k},tile{loops=S1.i,S1.j,k sizes=4,8,5},"
    "parallel{loops=it}"
)

PACKED = (
    "distribute{loops=f},tile{loops=S1.f sizes=16},pack{loops=ft array=weights},"
    "tile{loops=weights0,weights1,weights2,weights3 sizes=16,3,3,16}"
)

REPORTS = {
    "gemm": ["polybench/gemm", "--size", "MINI", "-p", TILED, "--threads", "2"],
    "illegal": ["polybench/jacobi-2d", "--size", "MINI", "-p", "parallel{loops=t}"],
    "field": ["field/dynamic_time_warping"],
    "hostile": ["<b>.mlir"],
    "packed": ["field/conv2d_i8", "-p", PACKED],
}
"""Arguments of `loopwright report`: a tiled product, an illegal step, a field kernel, a file of
which no size is known, integers and copies with long names of loops."""

NAMES = tuple(REPORTS)
