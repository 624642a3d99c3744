// The coefficients of the product of two polynomials of n coefficients.
func.func @polynomial_product(%n: index, %a: memref<?xf64>, %b: memref<?xf64>, %c: memref<?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %i = 0 to affine_map<()[s0] -> (2 * s0 - 1)>()[%n] {
    %total = affine.for %k = max affine_map<(d0)[s0] -> (0, d0 - s0 + 1)>(%i)[%n]
        to min affine_map<(d0)[s0] -> (s0, d0 + 1)>(%i)[%n] iter_args(%sum = %c0) -> (f64) {
      // sum = sum + a[k] * b[i - k]
      %0 = affine.load %a[%k] : memref<?xf64>
      %1 = affine.load %b[%i - %k] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      %3 = arith.addf %sum, %2 : f64
      affine.yield %3 : f64
    }
    affine.store %total, %c[%i] : memref<?xf64>
  }
  return
}
