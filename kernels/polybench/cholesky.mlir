// The Cholesky factor of A, in the lower triangle of A.
func.func @cholesky(%n: index, %A: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %i {
      affine.for %k = 0 to %j {
        // A[i][j] -= A[i][k] * A[j][k]
        %0 = affine.load %A[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%i, %k] : memref<?x?xf64>
        %2 = affine.load %A[%j, %k] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.subf %0, %3 : f64
        affine.store %4, %A[%i, %j] : memref<?x?xf64>
      }
      // A[i][j] /= A[j][j]
      %5 = affine.load %A[%i, %j] : memref<?x?xf64>
      %6 = affine.load %A[%j, %j] : memref<?x?xf64>
      %7 = arith.divf %5, %6 : f64
      affine.store %7, %A[%i, %j] : memref<?x?xf64>
    }
    affine.for %k = 0 to %i {
      // A[i][i] -= A[i][k] * A[i][k]
      %8 = affine.load %A[%i, %i] : memref<?x?xf64>
      %9 = affine.load %A[%i, %k] : memref<?x?xf64>
      %10 = arith.mulf %9, %9 : f64
      %11 = arith.subf %8, %10 : f64
      affine.store %11, %A[%i, %i] : memref<?x?xf64>
    }
    // A[i][i] = sqrt(A[i][i])
    %12 = affine.load %A[%i, %i] : memref<?x?xf64>
    %13 = math.sqrt %12 : f64
    affine.store %13, %A[%i, %i] : memref<?x?xf64>
  }
  return
}
