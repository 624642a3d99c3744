// The magnitude of the gradient, limited to 8 bits.
func.func @sobel_u8(%height: index, %width: index, %src: memref<?x?xi8>, %dst: memref<?x?xi8>) {
  %c0 = arith.constant 2 : i16
  %c1 = arith.constant 255 : i16
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      // nw = u16(src[y, x])
      %0 = affine.load %src[%y, %x] : memref<?x?xi8>
      %1 = arith.extui %0 : i8 to i16
      // n = u16(src[y, x + 1])
      %2 = affine.load %src[%y, %x + 1] : memref<?x?xi8>
      %3 = arith.extui %2 : i8 to i16
      // ne = u16(src[y, x + 2])
      %4 = affine.load %src[%y, %x + 2] : memref<?x?xi8>
      %5 = arith.extui %4 : i8 to i16
      // w = u16(src[y + 1, x])
      %6 = affine.load %src[%y + 1, %x] : memref<?x?xi8>
      %7 = arith.extui %6 : i8 to i16
      // e = u16(src[y + 1, x + 2])
      %8 = affine.load %src[%y + 1, %x + 2] : memref<?x?xi8>
      %9 = arith.extui %8 : i8 to i16
      // sw = u16(src[y + 2, x])
      %10 = affine.load %src[%y + 2, %x] : memref<?x?xi8>
      %11 = arith.extui %10 : i8 to i16
      // s = u16(src[y + 2, x + 1])
      %12 = affine.load %src[%y + 2, %x + 1] : memref<?x?xi8>
      %13 = arith.extui %12 : i8 to i16
      // se = u16(src[y + 2, x + 2])
      %14 = affine.load %src[%y + 2, %x + 2] : memref<?x?xi8>
      %15 = arith.extui %14 : i8 to i16
      // gx = ne - nw + 2 * (e - w) + (se - sw)
      %16 = arith.subi %5, %1 : i16
      %17 = arith.subi %9, %7 : i16
      %18 = arith.muli %c0, %17 : i16
      %19 = arith.addi %16, %18 : i16
      %20 = arith.subi %15, %11 : i16
      %21 = arith.addi %19, %20 : i16
      // gy = sw - nw + 2 * (s - n) + (se - ne)
      %22 = arith.subi %11, %1 : i16
      %23 = arith.subi %13, %3 : i16
      %24 = arith.muli %c0, %23 : i16
      %25 = arith.addi %22, %24 : i16
      %26 = arith.subi %15, %5 : i16
      %27 = arith.addi %25, %26 : i16
      // dst[y, x] = i8(min(abs(gx) + abs(gy), 255))
      %28 = math.absi %21 : i16
      %29 = math.absi %27 : i16
      %30 = arith.addi %28, %29 : i16
      %31 = arith.minsi %30, %c1 : i16
      %32 = arith.trunci %31 : i16 to i8
      affine.store %32, %dst[%y, %x] : memref<?x?xi8>
    }
  }
  return
}
