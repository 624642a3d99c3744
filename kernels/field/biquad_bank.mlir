// A second-order recursive filter for each channel, in transposed direct form II.
func.func @biquad_bank(%channels: index, %samples: index, %x: memref<?x?xf32>,
                       %b: memref<?x3xf32>, %a: memref<?x2xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %c = 0 to %channels {
    %s1_1, %s2_1 = affine.for %t = 0 to %samples iter_args(%s1 = %c0, %s2 = %c0) -> (f32, f32) {
      // v = x[c, t]
      %0 = affine.load %x[%c, %t] : memref<?x?xf32>
      // w = b[c, 0] * v + s1
      %1 = affine.load %b[%c, 0] : memref<?x3xf32>
      %2 = arith.mulf %1, %0 : f32
      %3 = arith.addf %2, %s1 : f32
      // s1 = b[c, 1] * v - a[c, 0] * w + s2
      %4 = affine.load %b[%c, 1] : memref<?x3xf32>
      %5 = arith.mulf %4, %0 : f32
      %6 = affine.load %a[%c, 0] : memref<?x2xf32>
      %7 = arith.mulf %6, %3 : f32
      %8 = arith.subf %5, %7 : f32
      %9 = arith.addf %8, %s2 : f32
      // s2 = b[c, 2] * v - a[c, 1] * w
      %10 = affine.load %b[%c, 2] : memref<?x3xf32>
      %11 = arith.mulf %10, %0 : f32
      %12 = affine.load %a[%c, 1] : memref<?x2xf32>
      %13 = arith.mulf %12, %3 : f32
      %14 = arith.subf %11, %13 : f32
      // y[c, t] = w
      affine.store %3, %y[%c, %t] : memref<?x?xf32>
      affine.yield %9, %14 : f32, f32
    }
  }
  return
}
