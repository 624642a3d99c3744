// A direct neural network convolution on a padded input: batch x features x rows x columns.
func.func @convolution(%batch: index, %features_out: index, %features_in: index, %height: index,
                       %width: index, %kernel: index, %src: memref<?x?x?x?xf32>,
                       %weights: memref<?x?x?x?xf32>, %bias: memref<?xf32>,
                       %dst: memref<?x?x?x?xf32>) {
  affine.for %n = 0 to %batch {
    affine.for %fout = 0 to %features_out {
      affine.for %y = 0 to %height {
        affine.for %x = 0 to %width {
          // dst[n][fout][y][x] = bias[fout]
          %0 = affine.load %bias[%fout] : memref<?xf32>
          affine.store %0, %dst[%n, %fout, %y, %x] : memref<?x?x?x?xf32>
          affine.for %fin = 0 to %features_in {
            affine.for %k_y = 0 to %kernel {
              affine.for %k_x = 0 to %kernel {
                // dst[n][fout][y][x] += src[n][fin][y+k_y][x+k_x] * weights[fout][fin][k_y][k_x]
                %1 = affine.load %dst[%n, %fout, %y, %x] : memref<?x?x?x?xf32>
                %2 = affine.load %src[%n, %fin, %y + %k_y, %x + %k_x] : memref<?x?x?x?xf32>
                %3 = affine.load %weights[%fout, %fin, %k_y, %k_x] : memref<?x?x?x?xf32>
                %4 = arith.mulf %2, %3 : f32
                %5 = arith.addf %1, %4 : f32
                affine.store %5, %dst[%n, %fout, %y, %x] : memref<?x?x?x?xf32>
              }
            }
          }
        }
      }
    }
  }
  return
}
