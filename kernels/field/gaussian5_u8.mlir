// A binomial filter of 5 x 5 taps: along rows into 16 bits, then along columns with rounding.
func.func @gaussian5_u8(%height: index, %width: index, %src: memref<?x?xi8>,
                        %rows: memref<?x?xi16>, %dst: memref<?x?xi8>) {
  %c0 = arith.constant 4 : i16
  %c1 = arith.constant 6 : i16
  %c2 = arith.constant 4 : i32
  %c3 = arith.constant 6 : i32
  %c4 = arith.constant 128 : i32
  %c5 = arith.constant 8 : i32
  affine.for %y = 0 to affine_map<()[s0] -> (s0 + 4)>()[%height] {
    affine.for %x = 0 to %width {
      // rows[y, x] = u16(src[y, x]) + u16(src[y, x + 4]) + 4 * (u16(src[y, x + 1]) + u16(src[y,
      // x + 3])) + 6 * u16(src[y, x + 2])
      %0 = affine.load %src[%y, %x] : memref<?x?xi8>
      %1 = arith.extui %0 : i8 to i16
      %2 = affine.load %src[%y, %x + 4] : memref<?x?xi8>
      %3 = arith.extui %2 : i8 to i16
      %4 = arith.addi %1, %3 : i16
      %5 = affine.load %src[%y, %x + 1] : memref<?x?xi8>
      %6 = arith.extui %5 : i8 to i16
      %7 = affine.load %src[%y, %x + 3] : memref<?x?xi8>
      %8 = arith.extui %7 : i8 to i16
      %9 = arith.addi %6, %8 : i16
      %10 = arith.muli %c0, %9 : i16
      %11 = arith.addi %4, %10 : i16
      %12 = affine.load %src[%y, %x + 2] : memref<?x?xi8>
      %13 = arith.extui %12 : i8 to i16
      %14 = arith.muli %c1, %13 : i16
      %15 = arith.addi %11, %14 : i16
      affine.store %15, %rows[%y, %x] : memref<?x?xi16>
    }
  }
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      // sum = u32(rows[y, x]) + u32(rows[y + 4, x]) + 4 * (u32(rows[y + 1, x]) + u32(rows[y + 3,
      // x])) + 6 * u32(rows[y + 2, x])
      %16 = affine.load %rows[%y, %x] : memref<?x?xi16>
      %17 = arith.extui %16 : i16 to i32
      %18 = affine.load %rows[%y + 4, %x] : memref<?x?xi16>
      %19 = arith.extui %18 : i16 to i32
      %20 = arith.addi %17, %19 : i32
      %21 = affine.load %rows[%y + 1, %x] : memref<?x?xi16>
      %22 = arith.extui %21 : i16 to i32
      %23 = affine.load %rows[%y + 3, %x] : memref<?x?xi16>
      %24 = arith.extui %23 : i16 to i32
      %25 = arith.addi %22, %24 : i32
      %26 = arith.muli %c2, %25 : i32
      %27 = arith.addi %20, %26 : i32
      %28 = affine.load %rows[%y + 2, %x] : memref<?x?xi16>
      %29 = arith.extui %28 : i16 to i32
      %30 = arith.muli %c3, %29 : i32
      %31 = arith.addi %27, %30 : i32
      // dst[y, x] = i8(sum + 128 >> 8)
      %32 = arith.addi %31, %c4 : i32
      %33 = arith.shrsi %32, %c5 : i32
      %34 = arith.trunci %33 : i32 to i8
      affine.store %34, %dst[%y, %x] : memref<?x?xi8>
    }
  }
  return
}
