// C + A^T * B^T.
func.func @matmul_tt(%rows: index, %columns: index, %inner: index, %A: memref<?x?xf64>,
                     %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %columns {
      affine.for %k = 0 to %inner {
        // C[i, j] += A[k, i] * B[j, k]
        %0 = affine.load %C[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%k, %i] : memref<?x?xf64>
        %2 = affine.load %B[%j, %k] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.addf %0, %3 : f64
        affine.store %4, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
