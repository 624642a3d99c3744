// A 3 x 3 convolution in groups of channels, as in ResNeXt.
func.func @conv2d_grouped(%groups: index, %features_out: index, %features_in: index,
                          %height: index, %width: index, %src: memref<?x?x?x?xf32>,
                          %weights: memref<?x?x?x3x3xf32>, %dst: memref<?x?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %g = 0 to %groups {
    affine.for %f = 0 to %features_out {
      affine.for %y = 0 to %height {
        affine.for %x = 0 to %width {
          %sum_1 = affine.for %c = 0 to %features_in iter_args(%sum = %c0) -> (f32) {
            %sum_3 = affine.for %ky = 0 to 3 iter_args(%sum_2 = %sum) -> (f32) {
              %sum_5 = affine.for %kx = 0 to 3 iter_args(%sum_4 = %sum_2) -> (f32) {
                // sum = sum + src[g, c, y + ky, x + kx] * weights[g, f, c, ky, kx]
                %0 = affine.load %src[%g, %c, %y + %ky, %x + %kx] : memref<?x?x?x?xf32>
                %1 = affine.load %weights[%g, %f, %c, %ky, %kx] : memref<?x?x?x3x3xf32>
                %2 = arith.mulf %0, %1 : f32
                %3 = arith.addf %sum_4, %2 : f32
                affine.yield %3 : f32
              }
              affine.yield %sum_5 : f32
            }
            affine.yield %sum_3 : f32
          }
          // dst[g, f, y, x] = sum
          affine.store %sum_1, %dst[%g, %f, %y, %x] : memref<?x?x?x?xf32>
        }
      }
    }
  }
  return
}
