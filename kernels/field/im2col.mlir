// The 3 x 3 neighbours of every pixel as columns of a matrix.
func.func @im2col(%channels: index, %height: index, %width: index, %src: memref<?x?x?xf32>,
                  %dst: memref<?x3x3x?x?xf32>) {
  affine.for %c = 0 to %channels {
    affine.for %ky = 0 to 3 {
      affine.for %kx = 0 to 3 {
        affine.for %y = 0 to %height {
          affine.for %x = 0 to %width {
            // dst[c, ky, kx, y, x] = src[c, y + ky, x + kx]
            %0 = affine.load %src[%c, %y + %ky, %x + %kx] : memref<?x?x?xf32>
            affine.store %0, %dst[%c, %ky, %kx, %y, %x] : memref<?x3x3x?x?xf32>
          }
        }
      }
    }
  }
  return
}
