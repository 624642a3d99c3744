"""Programs that a server must survive: one that never ends, one for arrays of any size."""

ENDLESS = """
func.func @endless(%A: memref<1xf64>) {
  affine.for %i = 0 to 1000000000000000 {
    %a = affine.load %A[0] : memref<1xf64>
    %b = arith.addf %a, %a : f64
    affine.store %b, %A[0] : memref<1xf64>
  }
  return
}
"""

VAST = """
func.func @vast(%n: index, %A: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    affine.store %a, %A[%i] : memref<?xf64>
  }
  return
}
"""
