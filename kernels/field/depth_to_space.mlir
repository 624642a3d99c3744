// Four channels become the 2 x 2 pixels of one, as in super-resolution.
func.func @depth_to_space(%channels: index, %height: index, %width: index,
                          %src: memref<?x2x2x?x?xf32>, %dst: memref<?x?x?xf32>) {
  affine.for %c = 0 to %channels {
    affine.for %dy = 0 to 2 {
      affine.for %dx = 0 to 2 {
        affine.for %y = 0 to %height {
          affine.for %x = 0 to %width {
            // dst[c, 2 * y + dy, 2 * x + dx] = src[c, dy, dx, y, x]
            %0 = affine.load %src[%c, %dy, %dx, %y, %x] : memref<?x2x2x?x?xf32>
            affine.store %0, %dst[%c, 2 * %y + %dy, 2 * %x + %dx] : memref<?x?x?xf32>
          }
        }
      }
    }
  }
  return
}
