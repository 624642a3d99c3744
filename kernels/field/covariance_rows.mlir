// Covariances of assets, the returns of each asset in a row; the matrix is symmetric.
func.func @covariance_rows(%assets: index, %days: index, %returns: memref<?x?xf64>,
                           %mean: memref<?xf64>, %covariance: memref<?x?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %i = 0 to %assets {
    %sum_1 = affine.for %t = 0 to %days iter_args(%sum = %c0) -> (f64) {
      // sum = sum + returns[i, t]
      %0 = affine.load %returns[%i, %t] : memref<?x?xf64>
      %1 = arith.addf %sum, %0 : f64
      affine.yield %1 : f64
    }
    // mean[i] = sum / f64(days)
    %2 = arith.index_cast %days : index to i32
    %3 = arith.sitofp %2 : i32 to f64
    %4 = arith.divf %sum_1, %3 : f64
    affine.store %4, %mean[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %assets {
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      %sum_3 = affine.for %t = 0 to %days iter_args(%sum_2 = %c0) -> (f64) {
        // sum = sum + (returns[i, t] - mean[i]) * (returns[j, t] - mean[j])
        %5 = affine.load %returns[%i, %t] : memref<?x?xf64>
        %6 = affine.load %mean[%i] : memref<?xf64>
        %7 = arith.subf %5, %6 : f64
        %8 = affine.load %returns[%j, %t] : memref<?x?xf64>
        %9 = affine.load %mean[%j] : memref<?xf64>
        %10 = arith.subf %8, %9 : f64
        %11 = arith.mulf %7, %10 : f64
        %12 = arith.addf %sum_2, %11 : f64
        affine.yield %12 : f64
      }
      // c = sum / f64(days)
      %13 = arith.index_cast %days : index to i32
      %14 = arith.sitofp %13 : i32 to f64
      %15 = arith.divf %sum_3, %14 : f64
      // covariance[i, j] = c
      affine.store %15, %covariance[%i, %j] : memref<?x?xf64>
      // covariance[j, i] = c
      affine.store %15, %covariance[%j, %i] : memref<?x?xf64>
    }
  }
  return
}
