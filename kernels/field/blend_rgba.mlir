// One image over another one by its alpha, interleaved pixels of four bytes.
func.func @blend_rgba(%height: index, %width: index, %top: memref<?x?x4xi8>,
                      %bottom: memref<?x?x4xi8>, %dst: memref<?x?x4xi8>) {
  %c0 = arith.constant 255 : i32
  %c1 = arith.constant 128 : i32
  %c2 = arith.constant 8 : i32
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      affine.for %c = 0 to 4 {
        // alpha = u32(top[y, x, 3])
        %0 = affine.load %top[%y, %x, 3] : memref<?x?x4xi8>
        %1 = arith.extui %0 : i8 to i32
        // t = u32(top[y, x, c]) * alpha + u32(bottom[y, x, c]) * (255 - alpha) + 128
        %2 = affine.load %top[%y, %x, %c] : memref<?x?x4xi8>
        %3 = arith.extui %2 : i8 to i32
        %4 = arith.muli %3, %1 : i32
        %5 = affine.load %bottom[%y, %x, %c] : memref<?x?x4xi8>
        %6 = arith.extui %5 : i8 to i32
        %7 = arith.subi %c0, %1 : i32
        %8 = arith.muli %6, %7 : i32
        %9 = arith.addi %4, %8 : i32
        %10 = arith.addi %9, %c1 : i32
        // dst[y, x, c] = i8(t + (t >> 8) >> 8)
        %11 = arith.shrsi %10, %c2 : i32
        %12 = arith.addi %10, %11 : i32
        %13 = arith.shrsi %12, %c2 : i32
        %14 = arith.trunci %13 : i32 to i8
        affine.store %14, %dst[%y, %x, %c] : memref<?x?x4xi8>
      }
    }
  }
  return
}
