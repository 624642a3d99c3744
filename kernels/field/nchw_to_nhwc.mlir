// From planes to interleaved channels.
func.func @nchw_to_nhwc(%batch: index, %channels: index, %height: index, %width: index,
                        %src: memref<?x?x?x?xf32>, %dst: memref<?x?x?x?xf32>) {
  affine.for %n = 0 to %batch {
    affine.for %c = 0 to %channels {
      affine.for %y = 0 to %height {
        affine.for %x = 0 to %width {
          // dst[n, y, x, c] = src[n, c, y, x]
          %0 = affine.load %src[%n, %c, %y, %x] : memref<?x?x?x?xf32>
          affine.store %0, %dst[%n, %y, %x, %c] : memref<?x?x?x?xf32>
        }
      }
    }
  }
  return
}
