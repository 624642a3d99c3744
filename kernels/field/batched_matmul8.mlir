// A batch of products of 8 x 8 matrices.
func.func @batched_matmul8(%batch: index, %A: memref<?x8x8xf32>, %B: memref<?x8x8xf32>,
                           %C: memref<?x8x8xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %b = 0 to %batch {
    affine.for %i = 0 to 8 {
      affine.for %j = 0 to 8 {
        // C[b, i, j] = 0.0
        affine.store %c0, %C[%b, %i, %j] : memref<?x8x8xf32>
        affine.for %k = 0 to 8 {
          // C[b, i, j] += A[b, i, k] * B[b, k, j]
          %0 = affine.load %C[%b, %i, %j] : memref<?x8x8xf32>
          %1 = affine.load %A[%b, %i, %k] : memref<?x8x8xf32>
          %2 = affine.load %B[%b, %k, %j] : memref<?x8x8xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %0, %3 : f32
          affine.store %4, %C[%b, %i, %j] : memref<?x8x8xf32>
        }
      }
    }
  }
  return
}
