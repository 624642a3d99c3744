// The rounded mean of 2 x 2 pixels.
func.func @halve_u8(%height: index, %width: index, %src: memref<?x?xi8>, %dst: memref<?x?xi8>) {
  %c0 = arith.constant 2 : i32
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      // top = u32(src[2 * y, 2 * x]) + u32(src[2 * y, 2 * x + 1])
      %0 = affine.load %src[2 * %y, 2 * %x] : memref<?x?xi8>
      %1 = arith.extui %0 : i8 to i32
      %2 = affine.load %src[2 * %y, 2 * %x + 1] : memref<?x?xi8>
      %3 = arith.extui %2 : i8 to i32
      %4 = arith.addi %1, %3 : i32
      // bottom = u32(src[2 * y + 1, 2 * x]) + u32(src[2 * y + 1, 2 * x + 1])
      %5 = affine.load %src[2 * %y + 1, 2 * %x] : memref<?x?xi8>
      %6 = arith.extui %5 : i8 to i32
      %7 = affine.load %src[2 * %y + 1, 2 * %x + 1] : memref<?x?xi8>
      %8 = arith.extui %7 : i8 to i32
      %9 = arith.addi %6, %8 : i32
      // dst[y, x] = i8(top + bottom + 2 >> 2)
      %10 = arith.addi %4, %9 : i32
      %11 = arith.addi %10, %c0 : i32
      %12 = arith.shrsi %11, %c0 : i32
      %13 = arith.trunci %12 : i32 to i8
      affine.store %13, %dst[%y, %x] : memref<?x?xi8>
    }
  }
  return
}
