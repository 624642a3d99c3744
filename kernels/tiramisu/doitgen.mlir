// Multiresolution analysis: every row A[r][q] is multiplied by C4.
func.func @doitgen(%nr: index, %nq: index, %np: index, %A: memref<?x?x?xf32>, %C4: memref<?x?xf32>,
                   %sum: memref<?xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %r = 0 to %nr {
    affine.for %q = 0 to %nq {
      affine.for %p = 0 to %np {
        // sum[p] = 0.0
        affine.store %zero, %sum[%p] : memref<?xf32>
        affine.for %s = 0 to %np {
          // sum[p] += A[r][q][s] * C4[s][p]
          %0 = affine.load %sum[%p] : memref<?xf32>
          %1 = affine.load %A[%r, %q, %s] : memref<?x?x?xf32>
          %2 = affine.load %C4[%s, %p] : memref<?x?xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %0, %3 : f32
          affine.store %4, %sum[%p] : memref<?xf32>
        }
      }
      affine.for %p = 0 to %np {
        // A[r][q][p] = sum[p]
        %5 = affine.load %sum[%p] : memref<?xf32>
        affine.store %5, %A[%r, %q, %p] : memref<?x?x?xf32>
      }
    }
  }
  return
}
