// The accelerations of bodies that attract each other, every pair; coordinates in arrays of their
// own.
func.func @gravity(%n: index, %x: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>,
                   %mass: memref<?xf32>, %ax: memref<?xf32>, %ay: memref<?xf32>,
                   %az: memref<?xf32>) {
  %c0 = arith.constant 0.0 : f32
  %c1 = arith.constant 0.01 : f32
  affine.for %i = 0 to %n {
    %fx_1, %fy_1, %fz_1 = affine.for %j = 0 to %n iter_args(%fx = %c0, %fy = %c0, %fz = %c0) -> (f32, f32, f32) {
      // dx = x[j] - x[i]
      %0 = affine.load %x[%j] : memref<?xf32>
      %1 = affine.load %x[%i] : memref<?xf32>
      %2 = arith.subf %0, %1 : f32
      // dy = y[j] - y[i]
      %3 = affine.load %y[%j] : memref<?xf32>
      %4 = affine.load %y[%i] : memref<?xf32>
      %5 = arith.subf %3, %4 : f32
      // dz = z[j] - z[i]
      %6 = affine.load %z[%j] : memref<?xf32>
      %7 = affine.load %z[%i] : memref<?xf32>
      %8 = arith.subf %6, %7 : f32
      // inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01)
      %9 = arith.mulf %2, %2 : f32
      %10 = arith.mulf %5, %5 : f32
      %11 = arith.addf %9, %10 : f32
      %12 = arith.mulf %8, %8 : f32
      %13 = arith.addf %11, %12 : f32
      %14 = arith.addf %13, %c1 : f32
      %15 = math.rsqrt %14 : f32
      // w = mass[j] * inverse * inverse * inverse
      %16 = affine.load %mass[%j] : memref<?xf32>
      %17 = arith.mulf %16, %15 : f32
      %18 = arith.mulf %17, %15 : f32
      %19 = arith.mulf %18, %15 : f32
      // fx = fx + w * dx
      %20 = arith.mulf %19, %2 : f32
      %21 = arith.addf %fx, %20 : f32
      // fy = fy + w * dy
      %22 = arith.mulf %19, %5 : f32
      %23 = arith.addf %fy, %22 : f32
      // fz = fz + w * dz
      %24 = arith.mulf %19, %8 : f32
      %25 = arith.addf %fz, %24 : f32
      affine.yield %21, %23, %25 : f32, f32, f32
    }
    // ax[i] = fx
    affine.store %fx_1, %ax[%i] : memref<?xf32>
    // ay[i] = fy
    affine.store %fy_1, %ay[%i] : memref<?xf32>
    // az[i] = fz
    affine.store %fz_1, %az[%i] : memref<?xf32>
  }
  return
}
