// A level of a Gaussian pyramid: five taps along rows, then along columns, each with stride 2.
func.func @pyramid_down(%height: index, %width: index, %src: memref<?x?xf32>,
                        %half: memref<?x?xf32>, %dst: memref<?x?xf32>) {
  %c0 = arith.constant 0.0625 : f32
  %c1 = arith.constant 0.25 : f32
  %c2 = arith.constant 0.375 : f32
  affine.for %y = 0 to affine_map<()[s0] -> (2 * s0 + 3)>()[%height] {
    affine.for %x = 0 to %width {
      // half[y, x] = 0.0625 * (src[y, 2 * x] + src[y, 2 * x + 4]) + 0.25 * (src[y, 2 * x + 1] +
      // src[y, 2 * x + 3]) + 0.375 * src[y, 2 * x + 2]
      %0 = affine.load %src[%y, 2 * %x] : memref<?x?xf32>
      %1 = affine.load %src[%y, 2 * %x + 4] : memref<?x?xf32>
      %2 = arith.addf %0, %1 : f32
      %3 = arith.mulf %c0, %2 : f32
      %4 = affine.load %src[%y, 2 * %x + 1] : memref<?x?xf32>
      %5 = affine.load %src[%y, 2 * %x + 3] : memref<?x?xf32>
      %6 = arith.addf %4, %5 : f32
      %7 = arith.mulf %c1, %6 : f32
      %8 = arith.addf %3, %7 : f32
      %9 = affine.load %src[%y, 2 * %x + 2] : memref<?x?xf32>
      %10 = arith.mulf %c2, %9 : f32
      %11 = arith.addf %8, %10 : f32
      affine.store %11, %half[%y, %x] : memref<?x?xf32>
    }
  }
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      // dst[y, x] = 0.0625 * (half[2 * y, x] + half[2 * y + 4, x]) + 0.25 * (half[2 * y + 1, x]
      // + half[2 * y + 3, x]) + 0.375 * half[2 * y + 2, x]
      %12 = affine.load %half[2 * %y, %x] : memref<?x?xf32>
      %13 = affine.load %half[2 * %y + 4, %x] : memref<?x?xf32>
      %14 = arith.addf %12, %13 : f32
      %15 = arith.mulf %c0, %14 : f32
      %16 = affine.load %half[2 * %y + 1, %x] : memref<?x?xf32>
      %17 = affine.load %half[2 * %y + 3, %x] : memref<?x?xf32>
      %18 = arith.addf %16, %17 : f32
      %19 = arith.mulf %c1, %18 : f32
      %20 = arith.addf %15, %19 : f32
      %21 = affine.load %half[2 * %y + 2, %x] : memref<?x?xf32>
      %22 = arith.mulf %c2, %21 : f32
      %23 = arith.addf %20, %22 : f32
      affine.store %23, %dst[%y, %x] : memref<?x?xf32>
    }
  }
  return
}
