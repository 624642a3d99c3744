// A 1 x 1 convolution on interleaved channels: a matrix product with few rows.
func.func @conv2d_pointwise_nhwc(%height: index, %width: index, %features_in: index,
                                 %features_out: index, %src: memref<?x?x?xf32>,
                                 %weights: memref<?x?xf32>, %dst: memref<?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      affine.for %f = 0 to %features_out {
        // dst[y, x, f] = 0.0
        affine.store %c0, %dst[%y, %x, %f] : memref<?x?x?xf32>
        affine.for %c = 0 to %features_in {
          // dst[y, x, f] += src[y, x, c] * weights[c, f]
          %0 = affine.load %dst[%y, %x, %f] : memref<?x?x?xf32>
          %1 = affine.load %src[%y, %x, %c] : memref<?x?x?xf32>
          %2 = affine.load %weights[%c, %f] : memref<?x?xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %0, %3 : f32
          affine.store %4, %dst[%y, %x, %f] : memref<?x?x?xf32>
        }
      }
    }
  }
  return
}
