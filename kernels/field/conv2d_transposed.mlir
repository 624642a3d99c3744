// A transposed 3 x 3 convolution with stride 2: every input pixel is added to nine output pixels.
func.func @conv2d_transposed(%features_in: index, %features_out: index, %height: index,
                             %width: index, %src: memref<?x?x?xf32>,
                             %weights: memref<?x?x3x3xf32>, %dst: memref<?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %f = 0 to %features_out {
    affine.for %y = 0 to affine_map<()[s0] -> (2 * s0 + 1)>()[%height] {
      affine.for %x = 0 to affine_map<()[s0] -> (2 * s0 + 1)>()[%width] {
        // dst[f, y, x] = 0.0
        affine.store %c0, %dst[%f, %y, %x] : memref<?x?x?xf32>
      }
    }
  }
  affine.for %c = 0 to %features_in {
    affine.for %f = 0 to %features_out {
      affine.for %y = 0 to %height {
        affine.for %x = 0 to %width {
          affine.for %ky = 0 to 3 {
            affine.for %kx = 0 to 3 {
              // dst[f, 2 * y + ky, 2 * x + kx] += src[c, y, x] * weights[c, f, ky, kx]
              %0 = affine.load %dst[%f, 2 * %y + %ky, 2 * %x + %kx] : memref<?x?x?xf32>
              %1 = affine.load %src[%c, %y, %x] : memref<?x?x?xf32>
              %2 = affine.load %weights[%c, %f, %ky, %kx] : memref<?x?x3x3xf32>
              %3 = arith.mulf %1, %2 : f32
              %4 = arith.addf %0, %3 : f32
              affine.store %4, %dst[%f, 2 * %y + %ky, 2 * %x + %kx] : memref<?x?x?xf32>
            }
          }
        }
      }
    }
  }
  return
}
