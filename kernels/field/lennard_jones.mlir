// Forces between atoms closer than a cutoff; the coordinates of an atom lie together.
func.func @lennard_jones(%n: index, %position: memref<?x3xf64>, %force: memref<?x3xf64>) {
  %c0 = arith.constant 0.0 : f64
  %c1 = arith.constant 0.64 : f64
  %c2 = arith.constant 1.0 : f64
  %c3 = arith.constant 9.0 : f64
  %c4 = arith.constant 24.0 : f64
  %c5 = arith.constant 2.0 : f64
  affine.for %i = 0 to %n {
    %fx_1, %fy_1, %fz_1 = affine.for %j = 0 to %n iter_args(%fx = %c0, %fy = %c0, %fz = %c0) -> (f64, f64, f64) {
      // dx = position[i, 0] - position[j, 0]
      %0 = affine.load %position[%i, 0] : memref<?x3xf64>
      %1 = affine.load %position[%j, 0] : memref<?x3xf64>
      %2 = arith.subf %0, %1 : f64
      // dy = position[i, 1] - position[j, 1]
      %3 = affine.load %position[%i, 1] : memref<?x3xf64>
      %4 = affine.load %position[%j, 1] : memref<?x3xf64>
      %5 = arith.subf %3, %4 : f64
      // dz = position[i, 2] - position[j, 2]
      %6 = affine.load %position[%i, 2] : memref<?x3xf64>
      %7 = affine.load %position[%j, 2] : memref<?x3xf64>
      %8 = arith.subf %6, %7 : f64
      // r2 = dx * dx + dy * dy + dz * dz
      %9 = arith.mulf %2, %2 : f64
      %10 = arith.mulf %5, %5 : f64
      %11 = arith.addf %9, %10 : f64
      %12 = arith.mulf %8, %8 : f64
      %13 = arith.addf %11, %12 : f64
      // inverse = 1.0 / max(r2, 0.64)
      %14 = arith.maximumf %13, %c1 : f64
      %15 = arith.divf %c2, %14 : f64
      // sixth = inverse * inverse * inverse
      %16 = arith.mulf %15, %15 : f64
      %17 = arith.mulf %16, %15 : f64
      // w = where(r2 < 9.0, 24.0 * inverse * sixth * (2.0 * sixth - 1.0), 0.0)
      %18 = arith.cmpf olt, %13, %c3 : f64
      %19 = arith.mulf %c4, %15 : f64
      %20 = arith.mulf %19, %17 : f64
      %21 = arith.mulf %c5, %17 : f64
      %22 = arith.subf %21, %c2 : f64
      %23 = arith.mulf %20, %22 : f64
      %24 = arith.select %18, %23, %c0 : f64
      // fx = fx + w * dx
      %25 = arith.mulf %24, %2 : f64
      %26 = arith.addf %fx, %25 : f64
      // fy = fy + w * dy
      %27 = arith.mulf %24, %5 : f64
      %28 = arith.addf %fy, %27 : f64
      // fz = fz + w * dz
      %29 = arith.mulf %24, %8 : f64
      %30 = arith.addf %fz, %29 : f64
      affine.yield %26, %28, %30 : f64, f64, f64
    }
    // force[i, 0] = fx
    affine.store %fx_1, %force[%i, 0] : memref<?x3xf64>
    // force[i, 1] = fy
    affine.store %fy_1, %force[%i, 1] : memref<?x3xf64>
    // force[i, 2] = fz
    affine.store %fz_1, %force[%i, 2] : memref<?x3xf64>
  }
  return
}
