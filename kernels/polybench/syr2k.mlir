// C := alpha * (A * B^T + B * A^T) + beta * C on the lower triangle of C.
func.func @syr2k(%n: index, %m: index, %alpha: f64, %beta: f64, %C: memref<?x?xf64>,
                 %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      // C[i][j] *= beta
      %0 = affine.load %C[%i, %j] : memref<?x?xf64>
      %1 = arith.mulf %0, %beta : f64
      affine.store %1, %C[%i, %j] : memref<?x?xf64>
    }
    affine.for %k = 0 to %m {
      affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
        // C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k]
        %2 = affine.load %C[%i, %j] : memref<?x?xf64>
        %3 = affine.load %A[%j, %k] : memref<?x?xf64>
        %4 = arith.mulf %3, %alpha : f64
        %5 = affine.load %B[%i, %k] : memref<?x?xf64>
        %6 = arith.mulf %4, %5 : f64
        %7 = affine.load %B[%j, %k] : memref<?x?xf64>
        %8 = arith.mulf %7, %alpha : f64
        %9 = affine.load %A[%i, %k] : memref<?x?xf64>
        %10 = arith.mulf %8, %9 : f64
        %11 = arith.addf %6, %10 : f64
        %12 = arith.addf %2, %11 : f64
        affine.store %12, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
