// From interleaved RGB to gray with 14 bits after the point, as image libraries do it.
func.func @fixed_point_gray(%src: memref<?x?x3xi32>, %dst: memref<?x?xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %height = memref.dim %src, %c0 : memref<?x?x3xi32>
  %width = memref.dim %src, %c1 : memref<?x?x3xi32>
  %red = arith.constant 4899 : i32
  %green = arith.constant 9617 : i32
  %blue = arith.constant 1868 : i32
  %half = arith.constant 8192 : i32
  %bits = arith.constant 14 : i32
  affine.for %i = 0 to %height {
    affine.for %j = 0 to %width {
      %0 = affine.load %src[%i, %j, 0] : memref<?x?x3xi32>
      %1 = affine.load %src[%i, %j, 1] : memref<?x?x3xi32>
      %2 = affine.load %src[%i, %j, 2] : memref<?x?x3xi32>
      %3 = arith.muli %0, %red : i32
      %4 = arith.muli %1, %green : i32
      %5 = arith.muli %2, %blue : i32
      %6 = arith.addi %3, %4 : i32
      %7 = arith.addi %6, %5 : i32
      %8 = arith.addi %7, %half : i32
      %9 = arith.shrsi %8, %bits : i32
      affine.store %9, %dst[%i, %j] : memref<?x?xi32>
    }
  }
  return
}
