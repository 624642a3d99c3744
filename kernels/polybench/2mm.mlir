// Two matrix products: D := alpha * A * B * C + beta * D.
func.func @kernel_2mm(%ni: index, %nj: index, %nk: index, %nl: index, %alpha: f64, %beta: f64,
                      %tmp: memref<?x?xf64>, %A: memref<?x?xf64>, %B: memref<?x?xf64>,
                      %C: memref<?x?xf64>, %D: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %ni {
    affine.for %j = 0 to %nj {
      // tmp[i][j] = 0.0
      affine.store %zero, %tmp[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %nk {
        // tmp[i][j] += alpha * A[i][k] * B[k][j]
        %0 = affine.load %tmp[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%i, %k] : memref<?x?xf64>
        %2 = arith.mulf %alpha, %1 : f64
        %3 = affine.load %B[%k, %j] : memref<?x?xf64>
        %4 = arith.mulf %2, %3 : f64
        %5 = arith.addf %0, %4 : f64
        affine.store %5, %tmp[%i, %j] : memref<?x?xf64>
      }
    }
  }
  affine.for %i = 0 to %ni {
    affine.for %j = 0 to %nl {
      // D[i][j] *= beta
      %6 = affine.load %D[%i, %j] : memref<?x?xf64>
      %7 = arith.mulf %6, %beta : f64
      affine.store %7, %D[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %nj {
        // D[i][j] += tmp[i][k] * C[k][j]
        %8 = affine.load %D[%i, %j] : memref<?x?xf64>
        %9 = affine.load %tmp[%i, %k] : memref<?x?xf64>
        %10 = affine.load %C[%k, %j] : memref<?x?xf64>
        %11 = arith.mulf %9, %10 : f64
        %12 = arith.addf %8, %11 : f64
        affine.store %12, %D[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
