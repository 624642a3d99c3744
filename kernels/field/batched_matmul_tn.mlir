// A batch of matrix products, the first factor transposed.
func.func @batched_matmul_tn(%batch: index, %rows: index, %columns: index, %inner: index,
                             %A: memref<?x?x?xf32>, %B: memref<?x?x?xf32>,
                             %C: memref<?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %b = 0 to %batch {
    affine.for %i = 0 to %rows {
      affine.for %j = 0 to %columns {
        %sum_1 = affine.for %k = 0 to %inner iter_args(%sum = %c0) -> (f32) {
          // sum = sum + A[b, k, i] * B[b, k, j]
          %0 = affine.load %A[%b, %k, %i] : memref<?x?x?xf32>
          %1 = affine.load %B[%b, %k, %j] : memref<?x?x?xf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %sum, %2 : f32
          affine.yield %3 : f32
        }
        // C[b, i, j] = sum
        affine.store %sum_1, %C[%b, %i, %j] : memref<?x?x?xf32>
      }
    }
  }
  return
}
