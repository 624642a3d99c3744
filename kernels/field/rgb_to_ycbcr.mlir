// From interleaved RGB to planes of luma and chroma, in fixed point.
func.func @rgb_to_ycbcr(%height: index, %width: index, %rgb: memref<?x?x3xi8>,
                        %luma: memref<?x?xi8>, %cb: memref<?x?xi8>, %cr: memref<?x?xi8>) {
  %c0 = arith.constant 77 : i32
  %c1 = arith.constant 150 : i32
  %c2 = arith.constant 29 : i32
  %c3 = arith.constant 128 : i32
  %c4 = arith.constant 8 : i32
  %c5 = arith.constant 43 : i32
  %c6 = arith.constant 85 : i32
  %c7 = arith.constant 107 : i32
  %c8 = arith.constant 21 : i32
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      // r = u32(rgb[y, x, 0])
      %0 = affine.load %rgb[%y, %x, 0] : memref<?x?x3xi8>
      %1 = arith.extui %0 : i8 to i32
      // g = u32(rgb[y, x, 1])
      %2 = affine.load %rgb[%y, %x, 1] : memref<?x?x3xi8>
      %3 = arith.extui %2 : i8 to i32
      // b = u32(rgb[y, x, 2])
      %4 = affine.load %rgb[%y, %x, 2] : memref<?x?x3xi8>
      %5 = arith.extui %4 : i8 to i32
      // luma[y, x] = i8(77 * r + 150 * g + 29 * b + 128 >> 8)
      %6 = arith.muli %c0, %1 : i32
      %7 = arith.muli %c1, %3 : i32
      %8 = arith.addi %6, %7 : i32
      %9 = arith.muli %c2, %5 : i32
      %10 = arith.addi %8, %9 : i32
      %11 = arith.addi %10, %c3 : i32
      %12 = arith.shrsi %11, %c4 : i32
      %13 = arith.trunci %12 : i32 to i8
      affine.store %13, %luma[%y, %x] : memref<?x?xi8>
      // cb[y, x] = i8((128 * b - 43 * r - 85 * g + 128 >> 8) + 128)
      %14 = arith.muli %c3, %5 : i32
      %15 = arith.muli %c5, %1 : i32
      %16 = arith.subi %14, %15 : i32
      %17 = arith.muli %c6, %3 : i32
      %18 = arith.subi %16, %17 : i32
      %19 = arith.addi %18, %c3 : i32
      %20 = arith.shrsi %19, %c4 : i32
      %21 = arith.addi %20, %c3 : i32
      %22 = arith.trunci %21 : i32 to i8
      affine.store %22, %cb[%y, %x] : memref<?x?xi8>
      // cr[y, x] = i8((128 * r - 107 * g - 21 * b + 128 >> 8) + 128)
      %23 = arith.muli %c3, %1 : i32
      %24 = arith.muli %c7, %3 : i32
      %25 = arith.subi %23, %24 : i32
      %26 = arith.muli %c8, %5 : i32
      %27 = arith.subi %25, %26 : i32
      %28 = arith.addi %27, %c3 : i32
      %29 = arith.shrsi %28, %c4 : i32
      %30 = arith.addi %29, %c3 : i32
      %31 = arith.trunci %30 : i32 to i8
      affine.store %31, %cr[%y, %x] : memref<?x?xi8>
    }
  }
  return
}
