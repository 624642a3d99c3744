// A convolution along time, as in networks for speech.
func.func @conv1d(%features_out: index, %features_in: index, %length: index, %taps: index,
                  %src: memref<?x?xf32>, %weights: memref<?x?x?xf32>, %bias: memref<?xf32>,
                  %dst: memref<?x?xf32>) {
  affine.for %f = 0 to %features_out {
    affine.for %t = 0 to %length {
      // dst[f, t] = bias[f]
      %0 = affine.load %bias[%f] : memref<?xf32>
      affine.store %0, %dst[%f, %t] : memref<?x?xf32>
      affine.for %c = 0 to %features_in {
        affine.for %k = 0 to %taps {
          // dst[f, t] += src[c, t + k] * weights[f, c, k]
          %1 = affine.load %dst[%f, %t] : memref<?x?xf32>
          %2 = affine.load %src[%c, %t + %k] : memref<?x?xf32>
          %3 = affine.load %weights[%f, %c, %k] : memref<?x?x?xf32>
          %4 = arith.mulf %2, %3 : f32
          %5 = arith.addf %1, %4 : f32
          affine.store %5, %dst[%f, %t] : memref<?x?xf32>
        }
      }
    }
  }
  return
}
