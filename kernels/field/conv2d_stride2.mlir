// A 3 x 3 convolution with stride 2 on a padded image, as at the start of a ResNet stage.
func.func @conv2d_stride2(%features_out: index, %features_in: index, %height: index,
                          %width: index, %src: memref<?x?x?xf32>, %weights: memref<?x?x3x3xf32>,
                          %bias: memref<?xf32>, %dst: memref<?x?x?xf32>) {
  affine.for %f = 0 to %features_out {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to %width {
        // dst[f, y, x] = bias[f]
        %0 = affine.load %bias[%f] : memref<?xf32>
        affine.store %0, %dst[%f, %y, %x] : memref<?x?x?xf32>
        affine.for %c = 0 to %features_in {
          affine.for %ky = 0 to 3 {
            affine.for %kx = 0 to 3 {
              // dst[f, y, x] += src[c, 2 * y + ky, 2 * x + kx] * weights[f, c, ky, kx]
              %1 = affine.load %dst[%f, %y, %x] : memref<?x?x?xf32>
              %2 = affine.load %src[%c, 2 * %y + %ky, 2 * %x + %kx] : memref<?x?x?xf32>
              %3 = affine.load %weights[%f, %c, %ky, %kx] : memref<?x?x3x3xf32>
              %4 = arith.mulf %2, %3 : f32
              %5 = arith.addf %1, %4 : f32
              affine.store %5, %dst[%f, %y, %x] : memref<?x?x?xf32>
            }
          }
        }
      }
    }
  }
  return
}
