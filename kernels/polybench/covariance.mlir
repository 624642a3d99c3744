// The covariance matrix of the columns of data.
func.func @covariance(%m: index, %n: index, %float_n: f64, %data: memref<?x?xf64>,
                      %cov: memref<?x?xf64>, %mean: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  %one = arith.constant 1.0 : f64
  affine.for %j = 0 to %m {
    // mean[j] = 0.0
    affine.store %zero, %mean[%j] : memref<?xf64>
    affine.for %i = 0 to %n {
      // mean[j] += data[i][j]
      %0 = affine.load %mean[%j] : memref<?xf64>
      %1 = affine.load %data[%i, %j] : memref<?x?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %mean[%j] : memref<?xf64>
    }
    // mean[j] /= float_n
    %3 = affine.load %mean[%j] : memref<?xf64>
    %4 = arith.divf %3, %float_n : f64
    affine.store %4, %mean[%j] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      // data[i][j] -= mean[j]
      %5 = affine.load %data[%i, %j] : memref<?x?xf64>
      %6 = affine.load %mean[%j] : memref<?xf64>
      %7 = arith.subf %5, %6 : f64
      affine.store %7, %data[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 0 to %m {
    affine.for %j = %i to %m {
      // cov[i][j] = 0.0
      affine.store %zero, %cov[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %n {
        // cov[i][j] += data[k][i] * data[k][j]
        %8 = affine.load %cov[%i, %j] : memref<?x?xf64>
        %9 = affine.load %data[%k, %i] : memref<?x?xf64>
        %10 = affine.load %data[%k, %j] : memref<?x?xf64>
        %11 = arith.mulf %9, %10 : f64
        %12 = arith.addf %8, %11 : f64
        affine.store %12, %cov[%i, %j] : memref<?x?xf64>
      }
      // cov[i][j] /= float_n - 1.0
      %13 = affine.load %cov[%i, %j] : memref<?x?xf64>
      %14 = arith.subf %float_n, %one : f64
      %15 = arith.divf %13, %14 : f64
      affine.store %15, %cov[%i, %j] : memref<?x?xf64>
      // cov[j][i] = cov[i][j]
      %16 = affine.load %cov[%i, %j] : memref<?x?xf64>
      affine.store %16, %cov[%j, %i] : memref<?x?xf64>
    }
  }
  return
}
