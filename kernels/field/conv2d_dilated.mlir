// A 3 x 3 convolution with dilation 2; the sums over input channels are the outer loop.
func.func @conv2d_dilated(%features_out: index, %features_in: index, %height: index,
                          %width: index, %src: memref<?x?x?xf32>, %weights: memref<?x?x3x3xf32>,
                          %dst: memref<?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %f = 0 to %features_out {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to %width {
        // dst[f, y, x] = 0.0
        affine.store %c0, %dst[%f, %y, %x] : memref<?x?x?xf32>
      }
    }
    affine.for %c = 0 to %features_in {
      affine.for %ky = 0 to 3 {
        affine.for %kx = 0 to 3 {
          affine.for %y = 0 to %height {
            affine.for %x = 0 to %width {
              // dst[f, y, x] += src[c, y + 2 * ky, x + 2 * kx] * weights[f, c, ky, kx]
              %0 = affine.load %dst[%f, %y, %x] : memref<?x?x?xf32>
              %1 = affine.load %src[%c, %y + 2 * %ky, %x + 2 * %kx] : memref<?x?x?xf32>
              %2 = affine.load %weights[%f, %c, %ky, %kx] : memref<?x?x3x3xf32>
              %3 = arith.mulf %1, %2 : f32
              %4 = arith.addf %0, %3 : f32
              affine.store %4, %dst[%f, %y, %x] : memref<?x?x?xf32>
            }
          }
        }
      }
    }
  }
  return
}
