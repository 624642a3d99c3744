// Covariances of two series in a moving window, summed anew in each.
func.func @rolling_covariance(%series: index, %n: index, %x: memref<?x?xf32>, %y: memref<?x?xf32>,
                              %covariance: memref<?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  %c20 = arith.constant 20.0 : f32
  affine.for %s = 0 to %series {
    affine.for %t = 0 to %n {
      %a, %b, %products = affine.for %k = 0 to 20 iter_args(%p = %c0, %q = %c0, %r = %c0) -> (f32, f32, f32) {
        %0 = affine.load %x[%s, %t + %k] : memref<?x?xf32>
        %1 = affine.load %y[%s, %t + %k] : memref<?x?xf32>
        %2 = arith.addf %p, %0 : f32
        %3 = arith.addf %q, %1 : f32
        %4 = arith.mulf %0, %1 : f32
        %5 = arith.addf %r, %4 : f32
        affine.yield %2, %3, %5 : f32, f32, f32
      }
      // covariance[s, t] = (products - a * b / 20) / 20
      %6 = arith.mulf %a, %b : f32
      %7 = arith.divf %6, %c20 : f32
      %8 = arith.subf %products, %7 : f32
      %9 = arith.divf %8, %c20 : f32
      affine.store %9, %covariance[%s, %t] : memref<?x?xf32>
    }
  }
  return
}
