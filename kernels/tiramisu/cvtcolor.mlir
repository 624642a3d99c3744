// From RGB planes to gray.
func.func @cvtcolor(%height: index, %width: index, %src: memref<?x?x?xf32>, %dst: memref<?x?xf32>) {
  %red = arith.constant 0.299 : f32
  %green = arith.constant 0.587 : f32
  %blue = arith.constant 0.114 : f32
  affine.for %i = 0 to %height {
    affine.for %j = 0 to %width {
      // dst[i][j] = 0.299 * src[0][i][j] + 0.587 * src[1][i][j] + 0.114 * src[2][i][j]
      %0 = affine.load %src[0, %i, %j] : memref<?x?x?xf32>
      %1 = arith.mulf %red, %0 : f32
      %2 = affine.load %src[1, %i, %j] : memref<?x?x?xf32>
      %3 = arith.mulf %green, %2 : f32
      %4 = arith.addf %1, %3 : f32
      %5 = affine.load %src[2, %i, %j] : memref<?x?x?xf32>
      %6 = arith.mulf %blue, %5 : f32
      %7 = arith.addf %4, %6 : f32
      affine.store %7, %dst[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
