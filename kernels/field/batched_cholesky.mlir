// Cholesky factors of a batch of small matrices, in place.
func.func @batched_cholesky(%batch: index, %n: index, %A: memref<?x?x?xf64>) {
  affine.for %b = 0 to %batch {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to affine_map<(d0) -> (d0)>(%i) {
        affine.for %k = 0 to affine_map<(d0) -> (d0)>(%j) {
          // A[b, i, j] = A[b, i, j] - A[b, i, k] * A[b, j, k]
          %0 = affine.load %A[%b, %i, %j] : memref<?x?x?xf64>
          %1 = affine.load %A[%b, %i, %k] : memref<?x?x?xf64>
          %2 = affine.load %A[%b, %j, %k] : memref<?x?x?xf64>
          %3 = arith.mulf %1, %2 : f64
          %4 = arith.subf %0, %3 : f64
          affine.store %4, %A[%b, %i, %j] : memref<?x?x?xf64>
        }
        // A[b, i, j] = A[b, i, j] / A[b, j, j]
        %5 = affine.load %A[%b, %i, %j] : memref<?x?x?xf64>
        %6 = affine.load %A[%b, %j, %j] : memref<?x?x?xf64>
        %7 = arith.divf %5, %6 : f64
        affine.store %7, %A[%b, %i, %j] : memref<?x?x?xf64>
      }
      affine.for %k = 0 to affine_map<(d0) -> (d0)>(%i) {
        // A[b, i, i] = A[b, i, i] - A[b, i, k] * A[b, i, k]
        %8 = affine.load %A[%b, %i, %i] : memref<?x?x?xf64>
        %9 = affine.load %A[%b, %i, %k] : memref<?x?x?xf64>
        %10 = affine.load %A[%b, %i, %k] : memref<?x?x?xf64>
        %11 = arith.mulf %9, %10 : f64
        %12 = arith.subf %8, %11 : f64
        affine.store %12, %A[%b, %i, %i] : memref<?x?x?xf64>
      }
      // A[b, i, i] = sqrt(A[b, i, i])
      %13 = affine.load %A[%b, %i, %i] : memref<?x?x?xf64>
      %14 = math.sqrt %13 : f64
      affine.store %14, %A[%b, %i, %i] : memref<?x?x?xf64>
    }
  }
  return
}
