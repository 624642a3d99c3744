// A 3 x 3 x 3 convolution of a volume, as in networks for video and for medical images.
func.func @conv3d(%features_out: index, %features_in: index, %depth: index, %height: index,
                  %width: index, %src: memref<?x?x?x?xf32>, %weights: memref<?x?x3x3x3xf32>,
                  %dst: memref<?x?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %f = 0 to %features_out {
    affine.for %z = 0 to %depth {
      affine.for %y = 0 to %height {
        affine.for %x = 0 to %width {
          %sum_1 = affine.for %c = 0 to %features_in iter_args(%sum = %c0) -> (f32) {
            %sum_3 = affine.for %kz = 0 to 3 iter_args(%sum_2 = %sum) -> (f32) {
              %sum_5 = affine.for %ky = 0 to 3 iter_args(%sum_4 = %sum_2) -> (f32) {
                %sum_7 = affine.for %kx = 0 to 3 iter_args(%sum_6 = %sum_4) -> (f32) {
                  // sum = sum + src[c, z + kz, y + ky, x + kx] * weights[f, c, kz, ky, kx]
                  %0 = affine.load %src[%c, %z + %kz, %y + %ky, %x + %kx] : memref<?x?x?x?xf32>
                  %1 = affine.load %weights[%f, %c, %kz, %ky, %kx] : memref<?x?x3x3x3xf32>
                  %2 = arith.mulf %0, %1 : f32
                  %3 = arith.addf %sum_6, %2 : f32
                  affine.yield %3 : f32
                }
                affine.yield %sum_7 : f32
              }
              affine.yield %sum_5 : f32
            }
            affine.yield %sum_3 : f32
          }
          // dst[f, z, y, x] = sum
          affine.store %sum_1, %dst[%f, %z, %y, %x] : memref<?x?x?x?xf32>
        }
      }
    }
  }
  return
}
