// The sums of products of a series with itself at several lags.
func.func @autocorrelation(%n: index, %lags: index, %x: memref<?xf64>, %r: memref<?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %l = 0 to %lags {
    %sum_1 = affine.for %t = 0 to %n iter_args(%sum = %c0) -> (f64) {
      // sum = sum + x[t] * x[t + l]
      %0 = affine.load %x[%t] : memref<?xf64>
      %1 = affine.load %x[%t + %l] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      %3 = arith.addf %sum, %2 : f64
      affine.yield %3 : f64
    }
    // r[l] = sum
    affine.store %sum_1, %r[%l] : memref<?xf64>
  }
  return
}
