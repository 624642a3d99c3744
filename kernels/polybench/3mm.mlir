// Three matrix products: G := (A * B) * (C * D).
func.func @kernel_3mm(%ni: index, %nj: index, %nk: index, %nl: index, %nm: index,
                      %E: memref<?x?xf64>, %A: memref<?x?xf64>, %B: memref<?x?xf64>,
                      %F: memref<?x?xf64>, %C: memref<?x?xf64>, %D: memref<?x?xf64>,
                      %G: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %ni {
    affine.for %j = 0 to %nj {
      // E[i][j] = 0.0
      affine.store %zero, %E[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %nk {
        // E[i][j] += A[i][k] * B[k][j]
        %0 = affine.load %E[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%i, %k] : memref<?x?xf64>
        %2 = affine.load %B[%k, %j] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.addf %0, %3 : f64
        affine.store %4, %E[%i, %j] : memref<?x?xf64>
      }
    }
  }
  affine.for %i = 0 to %nj {
    affine.for %j = 0 to %nl {
      // F[i][j] = 0.0
      affine.store %zero, %F[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %nm {
        // F[i][j] += C[i][k] * D[k][j]
        %5 = affine.load %F[%i, %j] : memref<?x?xf64>
        %6 = affine.load %C[%i, %k] : memref<?x?xf64>
        %7 = affine.load %D[%k, %j] : memref<?x?xf64>
        %8 = arith.mulf %6, %7 : f64
        %9 = arith.addf %5, %8 : f64
        affine.store %9, %F[%i, %j] : memref<?x?xf64>
      }
    }
  }
  affine.for %i = 0 to %ni {
    affine.for %j = 0 to %nl {
      // G[i][j] = 0.0
      affine.store %zero, %G[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %nj {
        // G[i][j] += E[i][k] * F[k][j]
        %10 = affine.load %G[%i, %j] : memref<?x?xf64>
        %11 = affine.load %E[%i, %k] : memref<?x?xf64>
        %12 = affine.load %F[%k, %j] : memref<?x?xf64>
        %13 = arith.mulf %11, %12 : f64
        %14 = arith.addf %10, %13 : f64
        affine.store %14, %G[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
