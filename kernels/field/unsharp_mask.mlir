// Sharpening where the image differs enough from its blurred self, on three planes.
func.func @unsharp_mask(%height: index, %width: index, %src: memref<3x?x?xf32>,
                        %blurred: memref<3x?x?xf32>, %dst: memref<3x?x?xf32>) {
  %c0 = arith.constant 0.0625 : f32
  %c1 = arith.constant 0.25 : f32
  %c2 = arith.constant 0.375 : f32
  %c3 = arith.constant 0.01 : f32
  %c4 = arith.constant 3.0 : f32
  %c5 = arith.constant 2.0 : f32
  affine.for %c = 0 to 3 {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to %width {
        // blurred[c, y, x] = 0.0625 * (src[c, y, x] + src[c, y + 4, x]) + 0.25 * (src[c, y + 1,
        // x] + src[c, y + 3, x]) + 0.375 * src[c, y + 2, x]
        %0 = affine.load %src[%c, %y, %x] : memref<3x?x?xf32>
        %1 = affine.load %src[%c, %y + 4, %x] : memref<3x?x?xf32>
        %2 = arith.addf %0, %1 : f32
        %3 = arith.mulf %c0, %2 : f32
        %4 = affine.load %src[%c, %y + 1, %x] : memref<3x?x?xf32>
        %5 = affine.load %src[%c, %y + 3, %x] : memref<3x?x?xf32>
        %6 = arith.addf %4, %5 : f32
        %7 = arith.mulf %c1, %6 : f32
        %8 = arith.addf %3, %7 : f32
        %9 = affine.load %src[%c, %y + 2, %x] : memref<3x?x?xf32>
        %10 = arith.mulf %c2, %9 : f32
        %11 = arith.addf %8, %10 : f32
        affine.store %11, %blurred[%c, %y, %x] : memref<3x?x?xf32>
      }
    }
  }
  affine.for %c = 0 to 3 {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to affine_map<()[s0] -> (s0 - 4)>()[%width] {
        // mean = 0.0625 * (blurred[c, y, x] + blurred[c, y, x + 4]) + 0.25 * (blurred[c, y, x +
        // 1] + blurred[c, y, x + 3]) + 0.375 * blurred[c, y, x + 2]
        %12 = affine.load %blurred[%c, %y, %x] : memref<3x?x?xf32>
        %13 = affine.load %blurred[%c, %y, %x + 4] : memref<3x?x?xf32>
        %14 = arith.addf %12, %13 : f32
        %15 = arith.mulf %c0, %14 : f32
        %16 = affine.load %blurred[%c, %y, %x + 1] : memref<3x?x?xf32>
        %17 = affine.load %blurred[%c, %y, %x + 3] : memref<3x?x?xf32>
        %18 = arith.addf %16, %17 : f32
        %19 = arith.mulf %c1, %18 : f32
        %20 = arith.addf %15, %19 : f32
        %21 = affine.load %blurred[%c, %y, %x + 2] : memref<3x?x?xf32>
        %22 = arith.mulf %c2, %21 : f32
        %23 = arith.addf %20, %22 : f32
        // p = src[c, y + 2, x + 2]
        %24 = affine.load %src[%c, %y + 2, %x + 2] : memref<3x?x?xf32>
        // dst[c, y, x] = where(abs(p - mean) < 0.01, p, 3.0 * p - 2.0 * mean)
        %25 = arith.subf %24, %23 : f32
        %26 = math.absf %25 : f32
        %27 = arith.cmpf olt, %26, %c3 : f32
        %28 = arith.mulf %c4, %24 : f32
        %29 = arith.mulf %c5, %23 : f32
        %30 = arith.subf %28, %29 : f32
        %31 = arith.select %27, %24, %30 : f32
        affine.store %31, %dst[%c, %y, %x] : memref<3x?x?xf32>
      }
    }
  }
  return
}
