// Successive over-relaxation in place, the two colours in turn: the first column depends on the
// row.
func.func @checkerboard_sor(%sweeps: index, %rows: index, %columns: index, %u: memref<?x?xf64>,
                            %f: memref<?x?xf64>) {
  %c0 = arith.constant 4.0 : f64
  %c1 = arith.constant 0.375 : f64
  affine.for %t = 0 to %sweeps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%rows] {
      affine.for %j = affine_map<(d0) -> ((d0 + 1) mod 2 + 1)>(%i) to affine_map<()[s0] -> (s0 - 1)>()[%columns] step 2 {
        // u[i, j] = u[i, j] + 0.375 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] -
        // 4.0 * u[i, j] + f[i, j])
        %0 = affine.load %u[%i, %j] : memref<?x?xf64>
        %1 = affine.load %u[%i - 1, %j] : memref<?x?xf64>
        %2 = affine.load %u[%i + 1, %j] : memref<?x?xf64>
        %3 = arith.addf %1, %2 : f64
        %4 = affine.load %u[%i, %j - 1] : memref<?x?xf64>
        %5 = arith.addf %3, %4 : f64
        %6 = affine.load %u[%i, %j + 1] : memref<?x?xf64>
        %7 = arith.addf %5, %6 : f64
        %8 = affine.load %u[%i, %j] : memref<?x?xf64>
        %9 = arith.mulf %c0, %8 : f64
        %10 = arith.subf %7, %9 : f64
        %11 = affine.load %f[%i, %j] : memref<?x?xf64>
        %12 = arith.addf %10, %11 : f64
        %13 = arith.mulf %c1, %12 : f64
        %14 = arith.addf %0, %13 : f64
        affine.store %14, %u[%i, %j] : memref<?x?xf64>
      }
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%rows] {
      affine.for %j = affine_map<(d0) -> (d0 mod 2 + 1)>(%i) to affine_map<()[s0] -> (s0 - 1)>()[%columns] step 2 {
        // u[i, j] = u[i, j] + 0.375 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] -
        // 4.0 * u[i, j] + f[i, j])
        %15 = affine.load %u[%i, %j] : memref<?x?xf64>
        %16 = affine.load %u[%i - 1, %j] : memref<?x?xf64>
        %17 = affine.load %u[%i + 1, %j] : memref<?x?xf64>
        %18 = arith.addf %16, %17 : f64
        %19 = affine.load %u[%i, %j - 1] : memref<?x?xf64>
        %20 = arith.addf %18, %19 : f64
        %21 = affine.load %u[%i, %j + 1] : memref<?x?xf64>
        %22 = arith.addf %20, %21 : f64
        %23 = affine.load %u[%i, %j] : memref<?x?xf64>
        %24 = arith.mulf %c0, %23 : f64
        %25 = arith.subf %22, %24 : f64
        %26 = affine.load %f[%i, %j] : memref<?x?xf64>
        %27 = arith.addf %25, %26 : f64
        %28 = arith.mulf %c1, %27 : f64
        %29 = arith.addf %15, %28 : f64
        affine.store %29, %u[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
