// The maximum of 2 x 2 pixels with stride 2, on interleaved channels.
func.func @maxpool2_nhwc(%height: index, %width: index, %channels: index, %src: memref<?x?x?xf32>,
                         %dst: memref<?x?x?xf32>) {
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      affine.for %c = 0 to %channels {
        // top = max(src[2 * y, 2 * x, c], src[2 * y, 2 * x + 1, c])
        %0 = affine.load %src[2 * %y, 2 * %x, %c] : memref<?x?x?xf32>
        %1 = affine.load %src[2 * %y, 2 * %x + 1, %c] : memref<?x?x?xf32>
        %2 = arith.maximumf %0, %1 : f32
        // bottom = max(src[2 * y + 1, 2 * x, c], src[2 * y + 1, 2 * x + 1, c])
        %3 = affine.load %src[2 * %y + 1, 2 * %x, %c] : memref<?x?x?xf32>
        %4 = affine.load %src[2 * %y + 1, 2 * %x + 1, %c] : memref<?x?x?xf32>
        %5 = arith.maximumf %3, %4 : f32
        // dst[y, x, c] = max(top, bottom)
        %6 = arith.maximumf %2, %5 : f32
        affine.store %6, %dst[%y, %x, %c] : memref<?x?x?xf32>
      }
    }
  }
  return
}
