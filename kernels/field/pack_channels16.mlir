// From planes to blocks of sixteen interleaved channels, as libraries for networks store images.
func.func @pack_channels16(%channels: index, %height: index, %width: index,
                           %src: memref<?x?x?xf32>, %dst: memref<?x?x?x16xf32>) {
  affine.for %c = 0 to %channels {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to %width {
        // dst[c // 16, y, x, c % 16] = src[c, y, x]
        %0 = affine.load %src[%c, %y, %x] : memref<?x?x?xf32>
        affine.store %0, %dst[%c floordiv 16, %y, %x, %c mod 16] : memref<?x?x?x16xf32>
      }
    }
  }
  return
}
