// A finite impulse response filter.
func.func @fir(%samples: index, %taps: index, %x: memref<?xf32>, %h: memref<?xf32>,
               %y: memref<?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %t = 0 to %samples {
    // y[t] = 0.0
    affine.store %c0, %y[%t] : memref<?xf32>
    affine.for %k = 0 to %taps {
      // y[t] += h[k] * x[t + k]
      %0 = affine.load %y[%t] : memref<?xf32>
      %1 = affine.load %h[%k] : memref<?xf32>
      %2 = affine.load %x[%t + %k] : memref<?xf32>
      %3 = arith.mulf %1, %2 : f32
      %4 = arith.addf %0, %3 : f32
      affine.store %4, %y[%t] : memref<?xf32>
    }
  }
  return
}
