// From three planes of bytes to interleaved pixels.
func.func @planes_to_rgb(%height: index, %width: index, %planes: memref<3x?x?xi8>,
                         %rgb: memref<?x?x3xi8>) {
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      affine.for %c = 0 to 3 {
        // rgb[y, x, c] = planes[c, y, x]
        %0 = affine.load %planes[%c, %y, %x] : memref<3x?x?xi8>
        affine.store %0, %rgb[%y, %x, %c] : memref<?x?x3xi8>
      }
    }
  }
  return
}
