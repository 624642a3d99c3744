// The potential of charged atoms on a plane of grid points, every pair (Parboil's problem).
func.func @coulomb_grid(%height: index, %width: index, %atoms: index, %x: memref<?xf32>,
                        %y: memref<?xf32>, %z: memref<?xf32>, %charge: memref<?xf32>,
                        %potential: memref<?x?xf32>) {
  %c0 = arith.constant 0.01 : f32
  %c1 = arith.constant 0.0 : f32
  affine.for %i = 0 to %height {
    affine.for %j = 0 to %width {
      // py = f32(i) * 0.01
      %0 = arith.index_cast %i : index to i32
      %1 = arith.sitofp %0 : i32 to f32
      %2 = arith.mulf %1, %c0 : f32
      // px = f32(j) * 0.01
      %3 = arith.index_cast %j : index to i32
      %4 = arith.sitofp %3 : i32 to f32
      %5 = arith.mulf %4, %c0 : f32
      %sum_1 = affine.for %a = 0 to %atoms iter_args(%sum = %c1) -> (f32) {
        // dx = px - x[a]
        %6 = affine.load %x[%a] : memref<?xf32>
        %7 = arith.subf %5, %6 : f32
        // dy = py - y[a]
        %8 = affine.load %y[%a] : memref<?xf32>
        %9 = arith.subf %2, %8 : f32
        // sum = sum + charge[a] * rsqrt(dx * dx + dy * dy + z[a] * z[a])
        %10 = affine.load %charge[%a] : memref<?xf32>
        %11 = arith.mulf %7, %7 : f32
        %12 = arith.mulf %9, %9 : f32
        %13 = arith.addf %11, %12 : f32
        %14 = affine.load %z[%a] : memref<?xf32>
        %15 = affine.load %z[%a] : memref<?xf32>
        %16 = arith.mulf %14, %15 : f32
        %17 = arith.addf %13, %16 : f32
        %18 = math.rsqrt %17 : f32
        %19 = arith.mulf %10, %18 : f32
        %20 = arith.addf %sum, %19 : f32
        affine.yield %20 : f32
      }
      // potential[i, j] = sum
      affine.store %sum_1, %potential[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
