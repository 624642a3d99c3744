// C := C + A * B, one dot product per element of C.
func.func @gemm(%M: index, %N: index, %K: index, %C: memref<?x?xf32>, %A: memref<?x?xf32>,
                %B: memref<?x?xf32>) {
  affine.for %i = 0 to %M {
    affine.for %j = 0 to %N {
      affine.for %k = 0 to %K {
        // C[i][j] += A[i][k] * B[k][j]
        %0 = affine.load %C[%i, %j] : memref<?x?xf32>
        %1 = affine.load %A[%i, %k] : memref<?x?xf32>
        %2 = affine.load %B[%k, %j] : memref<?x?xf32>
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %0, %3 : f32
        affine.store %4, %C[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
