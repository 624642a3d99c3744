// The finite-difference time-domain method for an electromagnetic field in two dimensions.
func.func @fdtd_2d(%tmax: index, %nx: index, %ny: index, %ex: memref<?x?xf64>, %ey: memref<?x?xf64>,
                   %hz: memref<?x?xf64>, %_fict_: memref<?xf64>) {
  %half = arith.constant 0.5 : f64
  %seven_tenths = arith.constant 0.7 : f64
  affine.for %t = 0 to %tmax {
    affine.for %j = 0 to %ny {
      // ey[0][j] = _fict_[t]
      %0 = affine.load %_fict_[%t] : memref<?xf64>
      affine.store %0, %ey[0, %j] : memref<?x?xf64>
    }
    affine.for %i = 1 to %nx {
      affine.for %j = 0 to %ny {
        // ey[i][j] = ey[i][j] - 0.5 * (hz[i][j] - hz[i-1][j])
        %1 = affine.load %ey[%i, %j] : memref<?x?xf64>
        %2 = affine.load %hz[%i, %j] : memref<?x?xf64>
        %3 = affine.load %hz[%i - 1, %j] : memref<?x?xf64>
        %4 = arith.subf %2, %3 : f64
        %5 = arith.mulf %half, %4 : f64
        %6 = arith.subf %1, %5 : f64
        affine.store %6, %ey[%i, %j] : memref<?x?xf64>
      }
    }
    affine.for %i = 0 to %nx {
      affine.for %j = 1 to %ny {
        // ex[i][j] = ex[i][j] - 0.5 * (hz[i][j] - hz[i][j-1])
        %7 = affine.load %ex[%i, %j] : memref<?x?xf64>
        %8 = affine.load %hz[%i, %j] : memref<?x?xf64>
        %9 = affine.load %hz[%i, %j - 1] : memref<?x?xf64>
        %10 = arith.subf %8, %9 : f64
        %11 = arith.mulf %half, %10 : f64
        %12 = arith.subf %7, %11 : f64
        affine.store %12, %ex[%i, %j] : memref<?x?xf64>
      }
    }
    affine.for %i = 0 to affine_map<()[s0] -> (s0 - 1)>()[%nx] {
      affine.for %j = 0 to affine_map<()[s0] -> (s0 - 1)>()[%ny] {
        // hz[i][j] = hz[i][j] - 0.7 * (ex[i][j+1] - ex[i][j] + ey[i+1][j] - ey[i][j])
        %13 = affine.load %hz[%i, %j] : memref<?x?xf64>
        %14 = affine.load %ex[%i, %j + 1] : memref<?x?xf64>
        %15 = affine.load %ex[%i, %j] : memref<?x?xf64>
        %16 = arith.subf %14, %15 : f64
        %17 = affine.load %ey[%i + 1, %j] : memref<?x?xf64>
        %18 = arith.addf %16, %17 : f64
        %19 = affine.load %ey[%i, %j] : memref<?x?xf64>
        %20 = arith.subf %18, %19 : f64
        %21 = arith.mulf %seven_tenths, %20 : f64
        %22 = arith.subf %13, %21 : f64
        affine.store %22, %hz[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
