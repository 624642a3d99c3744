// Harris's corner response: gradients, sums of their products over 3 x 3 pixels, and the response.
func.func @harris(%height: index, %width: index, %src: memref<?x?xf32>, %gx: memref<?x?xf32>,
                  %gy: memref<?x?xf32>, %dst: memref<?x?xf32>) {
  %c0 = arith.constant 0.25 : f32
  %c1 = arith.constant 0.125 : f32
  %c2 = arith.constant 0.0 : f32
  %c3 = arith.constant 0.04 : f32
  affine.for %y = 0 to affine_map<()[s0] -> (s0 + 2)>()[%height] {
    affine.for %x = 0 to affine_map<()[s0] -> (s0 + 2)>()[%width] {
      // gx[y, x] = 0.25 * (src[y + 1, x + 2] - src[y + 1, x]) + 0.125 * (src[y, x + 2] - src[y,
      // x] + src[y + 2, x + 2] - src[y + 2, x])
      %0 = affine.load %src[%y + 1, %x + 2] : memref<?x?xf32>
      %1 = affine.load %src[%y + 1, %x] : memref<?x?xf32>
      %2 = arith.subf %0, %1 : f32
      %3 = arith.mulf %c0, %2 : f32
      %4 = affine.load %src[%y, %x + 2] : memref<?x?xf32>
      %5 = affine.load %src[%y, %x] : memref<?x?xf32>
      %6 = arith.subf %4, %5 : f32
      %7 = affine.load %src[%y + 2, %x + 2] : memref<?x?xf32>
      %8 = arith.addf %6, %7 : f32
      %9 = affine.load %src[%y + 2, %x] : memref<?x?xf32>
      %10 = arith.subf %8, %9 : f32
      %11 = arith.mulf %c1, %10 : f32
      %12 = arith.addf %3, %11 : f32
      affine.store %12, %gx[%y, %x] : memref<?x?xf32>
      // gy[y, x] = 0.25 * (src[y + 2, x + 1] - src[y, x + 1]) + 0.125 * (src[y + 2, x] - src[y,
      // x] + src[y + 2, x + 2] - src[y, x + 2])
      %13 = affine.load %src[%y + 2, %x + 1] : memref<?x?xf32>
      %14 = affine.load %src[%y, %x + 1] : memref<?x?xf32>
      %15 = arith.subf %13, %14 : f32
      %16 = arith.mulf %c0, %15 : f32
      %17 = affine.load %src[%y + 2, %x] : memref<?x?xf32>
      %18 = affine.load %src[%y, %x] : memref<?x?xf32>
      %19 = arith.subf %17, %18 : f32
      %20 = affine.load %src[%y + 2, %x + 2] : memref<?x?xf32>
      %21 = arith.addf %19, %20 : f32
      %22 = affine.load %src[%y, %x + 2] : memref<?x?xf32>
      %23 = arith.subf %21, %22 : f32
      %24 = arith.mulf %c1, %23 : f32
      %25 = arith.addf %16, %24 : f32
      affine.store %25, %gy[%y, %x] : memref<?x?xf32>
    }
  }
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      %xx_1, %xy_1, %yy_1 = affine.for %ky = 0 to 3 iter_args(%xx = %c2, %xy = %c2, %yy = %c2) -> (f32, f32, f32) {
        %xx_3, %xy_3, %yy_3 = affine.for %kx = 0 to 3 iter_args(%xx_2 = %xx, %xy_2 = %xy, %yy_2 = %yy) -> (f32, f32, f32) {
          // a = gx[y + ky, x + kx]
          %26 = affine.load %gx[%y + %ky, %x + %kx] : memref<?x?xf32>
          // b = gy[y + ky, x + kx]
          %27 = affine.load %gy[%y + %ky, %x + %kx] : memref<?x?xf32>
          // xx = xx + a * a
          %28 = arith.mulf %26, %26 : f32
          %29 = arith.addf %xx_2, %28 : f32
          // xy = xy + a * b
          %30 = arith.mulf %26, %27 : f32
          %31 = arith.addf %xy_2, %30 : f32
          // yy = yy + b * b
          %32 = arith.mulf %27, %27 : f32
          %33 = arith.addf %yy_2, %32 : f32
          affine.yield %29, %31, %33 : f32, f32, f32
        }
        affine.yield %xx_3, %xy_3, %yy_3 : f32, f32, f32
      }
      // dst[y, x] = xx * yy - xy * xy - 0.04 * (xx + yy) * (xx + yy)
      %34 = arith.mulf %xx_1, %yy_1 : f32
      %35 = arith.mulf %xy_1, %xy_1 : f32
      %36 = arith.subf %34, %35 : f32
      %37 = arith.addf %xx_1, %yy_1 : f32
      %38 = arith.mulf %c3, %37 : f32
      %39 = arith.addf %xx_1, %yy_1 : f32
      %40 = arith.mulf %38, %39 : f32
      %41 = arith.subf %36, %40 : f32
      affine.store %41, %dst[%y, %x] : memref<?x?xf32>
    }
  }
  return
}
