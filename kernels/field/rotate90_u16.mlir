// An image turned by a quarter.
func.func @rotate90_u16(%height: index, %width: index, %src: memref<?x?xi16>,
                        %dst: memref<?x?xi16>) {
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      // dst[x, height - y - 1] = src[y, x]
      %0 = affine.load %src[%y, %x] : memref<?x?xi16>
      affine.store %0, %dst[%x, symbol(%height) - %y - 1] : memref<?x?xi16>
    }
  }
  return
}
