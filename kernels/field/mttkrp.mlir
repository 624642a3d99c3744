// A tensor, matricised, times a Khatri-Rao product: the bottleneck of CP decomposition.
func.func @mttkrp(%rows: index, %columns: index, %depth: index, %rank: index,
                  %X: memref<?x?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>,
                  %M: memref<?x?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %i = 0 to %rows {
    affine.for %r = 0 to %rank {
      // M[i, r] = 0.0
      affine.store %c0, %M[%i, %r] : memref<?x?xf64>
    }
    affine.for %j = 0 to %columns {
      affine.for %k = 0 to %depth {
        affine.for %r = 0 to %rank {
          // M[i, r] += X[i, j, k] * B[j, r] * C[k, r]
          %0 = affine.load %M[%i, %r] : memref<?x?xf64>
          %1 = affine.load %X[%i, %j, %k] : memref<?x?x?xf64>
          %2 = affine.load %B[%j, %r] : memref<?x?xf64>
          %3 = arith.mulf %1, %2 : f64
          %4 = affine.load %C[%k, %r] : memref<?x?xf64>
          %5 = arith.mulf %3, %4 : f64
          %6 = arith.addf %0, %5 : f64
          affine.store %6, %M[%i, %r] : memref<?x?xf64>
        }
      }
    }
  }
  return
}
