// From a Bayer pattern of 16-bit pixels to interleaved RGB, by the means of neighbours.
func.func @demosaic_u16(%height: index, %width: index, %src: memref<?x?xi16>,
                        %dst: memref<?x?x3xi16>) {
  %c0 = arith.constant 2 : i32
  %c1 = arith.constant 1 : i32
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      // dst[2 * y, 2 * x, 0] = src[2 * y + 1, 2 * x + 1]
      %0 = affine.load %src[2 * %y + 1, 2 * %x + 1] : memref<?x?xi16>
      affine.store %0, %dst[2 * %y, 2 * %x, 0] : memref<?x?x3xi16>
      // dst[2 * y, 2 * x, 1] = i16(u32(src[2 * y, 2 * x + 1]) + u32(src[2 * y + 2, 2 * x + 1]) +
      // u32(src[2 * y + 1, 2 * x]) + u32(src[2 * y + 1, 2 * x + 2]) >> 2)
      %1 = affine.load %src[2 * %y, 2 * %x + 1] : memref<?x?xi16>
      %2 = arith.extui %1 : i16 to i32
      %3 = affine.load %src[2 * %y + 2, 2 * %x + 1] : memref<?x?xi16>
      %4 = arith.extui %3 : i16 to i32
      %5 = arith.addi %2, %4 : i32
      %6 = affine.load %src[2 * %y + 1, 2 * %x] : memref<?x?xi16>
      %7 = arith.extui %6 : i16 to i32
      %8 = arith.addi %5, %7 : i32
      %9 = affine.load %src[2 * %y + 1, 2 * %x + 2] : memref<?x?xi16>
      %10 = arith.extui %9 : i16 to i32
      %11 = arith.addi %8, %10 : i32
      %12 = arith.shrsi %11, %c0 : i32
      %13 = arith.trunci %12 : i32 to i16
      affine.store %13, %dst[2 * %y, 2 * %x, 1] : memref<?x?x3xi16>
      // dst[2 * y, 2 * x, 2] = i16(u32(src[2 * y, 2 * x]) + u32(src[2 * y, 2 * x + 2]) +
      // u32(src[2 * y + 2, 2 * x]) + u32(src[2 * y + 2, 2 * x + 2]) >> 2)
      %14 = affine.load %src[2 * %y, 2 * %x] : memref<?x?xi16>
      %15 = arith.extui %14 : i16 to i32
      %16 = affine.load %src[2 * %y, 2 * %x + 2] : memref<?x?xi16>
      %17 = arith.extui %16 : i16 to i32
      %18 = arith.addi %15, %17 : i32
      %19 = affine.load %src[2 * %y + 2, 2 * %x] : memref<?x?xi16>
      %20 = arith.extui %19 : i16 to i32
      %21 = arith.addi %18, %20 : i32
      %22 = affine.load %src[2 * %y + 2, 2 * %x + 2] : memref<?x?xi16>
      %23 = arith.extui %22 : i16 to i32
      %24 = arith.addi %21, %23 : i32
      %25 = arith.shrsi %24, %c0 : i32
      %26 = arith.trunci %25 : i32 to i16
      affine.store %26, %dst[2 * %y, 2 * %x, 2] : memref<?x?x3xi16>
      // dst[2 * y, 2 * x + 1, 0] = i16(u32(src[2 * y + 1, 2 * x + 1]) + u32(src[2 * y + 1, 2 * x
      // + 3]) >> 1)
      %27 = affine.load %src[2 * %y + 1, 2 * %x + 1] : memref<?x?xi16>
      %28 = arith.extui %27 : i16 to i32
      %29 = affine.load %src[2 * %y + 1, 2 * %x + 3] : memref<?x?xi16>
      %30 = arith.extui %29 : i16 to i32
      %31 = arith.addi %28, %30 : i32
      %32 = arith.shrsi %31, %c1 : i32
      %33 = arith.trunci %32 : i32 to i16
      affine.store %33, %dst[2 * %y, 2 * %x + 1, 0] : memref<?x?x3xi16>
      // dst[2 * y, 2 * x + 1, 1] = src[2 * y + 1, 2 * x + 2]
      %34 = affine.load %src[2 * %y + 1, 2 * %x + 2] : memref<?x?xi16>
      affine.store %34, %dst[2 * %y, 2 * %x + 1, 1] : memref<?x?x3xi16>
      // dst[2 * y, 2 * x + 1, 2] = i16(u32(src[2 * y, 2 * x + 2]) + u32(src[2 * y + 2, 2 * x +
      // 2]) >> 1)
      %35 = affine.load %src[2 * %y, 2 * %x + 2] : memref<?x?xi16>
      %36 = arith.extui %35 : i16 to i32
      %37 = affine.load %src[2 * %y + 2, 2 * %x + 2] : memref<?x?xi16>
      %38 = arith.extui %37 : i16 to i32
      %39 = arith.addi %36, %38 : i32
      %40 = arith.shrsi %39, %c1 : i32
      %41 = arith.trunci %40 : i32 to i16
      affine.store %41, %dst[2 * %y, 2 * %x + 1, 2] : memref<?x?x3xi16>
      // dst[2 * y + 1, 2 * x, 0] = i16(u32(src[2 * y + 1, 2 * x + 1]) + u32(src[2 * y + 3, 2 * x
      // + 1]) >> 1)
      %42 = affine.load %src[2 * %y + 1, 2 * %x + 1] : memref<?x?xi16>
      %43 = arith.extui %42 : i16 to i32
      %44 = affine.load %src[2 * %y + 3, 2 * %x + 1] : memref<?x?xi16>
      %45 = arith.extui %44 : i16 to i32
      %46 = arith.addi %43, %45 : i32
      %47 = arith.shrsi %46, %c1 : i32
      %48 = arith.trunci %47 : i32 to i16
      affine.store %48, %dst[2 * %y + 1, 2 * %x, 0] : memref<?x?x3xi16>
      // dst[2 * y + 1, 2 * x, 1] = src[2 * y + 2, 2 * x + 1]
      %49 = affine.load %src[2 * %y + 2, 2 * %x + 1] : memref<?x?xi16>
      affine.store %49, %dst[2 * %y + 1, 2 * %x, 1] : memref<?x?x3xi16>
      // dst[2 * y + 1, 2 * x, 2] = i16(u32(src[2 * y + 2, 2 * x]) + u32(src[2 * y + 2, 2 * x +
      // 2]) >> 1)
      %50 = affine.load %src[2 * %y + 2, 2 * %x] : memref<?x?xi16>
      %51 = arith.extui %50 : i16 to i32
      %52 = affine.load %src[2 * %y + 2, 2 * %x + 2] : memref<?x?xi16>
      %53 = arith.extui %52 : i16 to i32
      %54 = arith.addi %51, %53 : i32
      %55 = arith.shrsi %54, %c1 : i32
      %56 = arith.trunci %55 : i32 to i16
      affine.store %56, %dst[2 * %y + 1, 2 * %x, 2] : memref<?x?x3xi16>
      // dst[2 * y + 1, 2 * x + 1, 0] = i16(u32(src[2 * y + 1, 2 * x + 1]) + u32(src[2 * y + 1, 2
      // * x + 3]) + u32(src[2 * y + 3, 2 * x + 1]) + u32(src[2 * y + 3, 2 * x + 3]) >> 2)
      %57 = affine.load %src[2 * %y + 1, 2 * %x + 1] : memref<?x?xi16>
      %58 = arith.extui %57 : i16 to i32
      %59 = affine.load %src[2 * %y + 1, 2 * %x + 3] : memref<?x?xi16>
      %60 = arith.extui %59 : i16 to i32
      %61 = arith.addi %58, %60 : i32
      %62 = affine.load %src[2 * %y + 3, 2 * %x + 1] : memref<?x?xi16>
      %63 = arith.extui %62 : i16 to i32
      %64 = arith.addi %61, %63 : i32
      %65 = affine.load %src[2 * %y + 3, 2 * %x + 3] : memref<?x?xi16>
      %66 = arith.extui %65 : i16 to i32
      %67 = arith.addi %64, %66 : i32
      %68 = arith.shrsi %67, %c0 : i32
      %69 = arith.trunci %68 : i32 to i16
      affine.store %69, %dst[2 * %y + 1, 2 * %x + 1, 0] : memref<?x?x3xi16>
      // dst[2 * y + 1, 2 * x + 1, 1] = i16(u32(src[2 * y + 1, 2 * x + 2]) + u32(src[2 * y + 3, 2
      // * x + 2]) + u32(src[2 * y + 2, 2 * x + 1]) + u32(src[2 * y + 2, 2 * x + 3]) >> 2)
      %70 = affine.load %src[2 * %y + 1, 2 * %x + 2] : memref<?x?xi16>
      %71 = arith.extui %70 : i16 to i32
      %72 = affine.load %src[2 * %y + 3, 2 * %x + 2] : memref<?x?xi16>
      %73 = arith.extui %72 : i16 to i32
      %74 = arith.addi %71, %73 : i32
      %75 = affine.load %src[2 * %y + 2, 2 * %x + 1] : memref<?x?xi16>
      %76 = arith.extui %75 : i16 to i32
      %77 = arith.addi %74, %76 : i32
      %78 = affine.load %src[2 * %y + 2, 2 * %x + 3] : memref<?x?xi16>
      %79 = arith.extui %78 : i16 to i32
      %80 = arith.addi %77, %79 : i32
      %81 = arith.shrsi %80, %c0 : i32
      %82 = arith.trunci %81 : i32 to i16
      affine.store %82, %dst[2 * %y + 1, 2 * %x + 1, 1] : memref<?x?x3xi16>
      // dst[2 * y + 1, 2 * x + 1, 2] = src[2 * y + 2, 2 * x + 2]
      %83 = affine.load %src[2 * %y + 2, 2 * %x + 2] : memref<?x?xi16>
      affine.store %83, %dst[2 * %y + 1, 2 * %x + 1, 2] : memref<?x?x3xi16>
    }
  }
  return
}
