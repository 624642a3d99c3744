// An exponential moving average of every channel; the channels of a moment lie together.
func.func @exponential_average(%samples: index, %channels: index, %x: memref<?x?xf32>,
                               %y: memref<?x?xf32>) {
  %c0 = arith.constant 0.1 : f32
  affine.for %c = 0 to %channels {
    // y[0, c] = x[0, c]
    %0 = affine.load %x[0, %c] : memref<?x?xf32>
    affine.store %0, %y[0, %c] : memref<?x?xf32>
  }
  affine.for %t = 1 to %samples {
    affine.for %c = 0 to %channels {
      // y[t, c] = y[t - 1, c] + 0.1 * (x[t, c] - y[t - 1, c])
      %1 = affine.load %y[%t - 1, %c] : memref<?x?xf32>
      %2 = affine.load %x[%t, %c] : memref<?x?xf32>
      %3 = affine.load %y[%t - 1, %c] : memref<?x?xf32>
      %4 = arith.subf %2, %3 : f32
      %5 = arith.mulf %c0, %4 : f32
      %6 = arith.addf %1, %5 : f32
      affine.store %6, %y[%t, %c] : memref<?x?xf32>
    }
  }
  return
}
