// A quantised 3 x 3 convolution on interleaved channels with exact sums.
func.func @conv2d_i8(%height: index, %width: index, %features_in: index, %features_out: index,
                     %src: memref<?x?x?xi8>, %weights: memref<?x3x3x?xi8>,
                     %dst: memref<?x?x?xi32>) {
  %c0 = arith.constant 0 : i32
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      affine.for %f = 0 to %features_out {
        // dst[y, x, f] = 0
        affine.store %c0, %dst[%y, %x, %f] : memref<?x?x?xi32>
        affine.for %ky = 0 to 3 {
          affine.for %kx = 0 to 3 {
            affine.for %c = 0 to %features_in {
              // dst[y, x, f] += i32(src[y + ky, x + kx, c]) * i32(weights[f, ky, kx, c])
              %0 = affine.load %dst[%y, %x, %f] : memref<?x?x?xi32>
              %1 = affine.load %src[%y + %ky, %x + %kx, %c] : memref<?x?x?xi8>
              %2 = arith.extsi %1 : i8 to i32
              %3 = affine.load %weights[%f, %ky, %kx, %c] : memref<?x3x3x?xi8>
              %4 = arith.extsi %3 : i8 to i32
              %5 = arith.muli %2, %4 : i32
              %6 = arith.addi %0, %5 : i32
              affine.store %6, %dst[%y, %x, %f] : memref<?x?x?xi32>
            }
          }
        }
      }
    }
  }
  return
}
