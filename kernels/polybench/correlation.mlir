// The correlation matrix of the columns of data.
func.func @correlation(%m: index, %n: index, %float_n: f64, %data: memref<?x?xf64>,
                       %corr: memref<?x?xf64>, %mean: memref<?xf64>, %stddev: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  %eps = arith.constant 0.1 : f64
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
  affine.for %j = 0 to %m {
    // stddev[j] = 0.0
    affine.store %zero, %stddev[%j] : memref<?xf64>
    affine.for %i = 0 to %n {
      // stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j])
      %5 = affine.load %stddev[%j] : memref<?xf64>
      %6 = affine.load %data[%i, %j] : memref<?x?xf64>
      %7 = affine.load %mean[%j] : memref<?xf64>
      %8 = arith.subf %6, %7 : f64
      %9 = arith.mulf %8, %8 : f64
      %10 = arith.addf %5, %9 : f64
      affine.store %10, %stddev[%j] : memref<?xf64>
    }
    // stddev[j] /= float_n
    %11 = affine.load %stddev[%j] : memref<?xf64>
    %12 = arith.divf %11, %float_n : f64
    affine.store %12, %stddev[%j] : memref<?xf64>
    // stddev[j] = sqrt(stddev[j])
    %13 = affine.load %stddev[%j] : memref<?xf64>
    %14 = math.sqrt %13 : f64
    affine.store %14, %stddev[%j] : memref<?xf64>
    // stddev[j] = stddev[j] <= 0.1 ? 1.0 : stddev[j]
    %15 = affine.load %stddev[%j] : memref<?xf64>
    %16 = arith.cmpf ole, %15, %eps : f64
    %17 = arith.select %16, %one, %15 : f64
    affine.store %17, %stddev[%j] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      // data[i][j] -= mean[j]
      %18 = affine.load %data[%i, %j] : memref<?x?xf64>
      %19 = affine.load %mean[%j] : memref<?xf64>
      %20 = arith.subf %18, %19 : f64
      affine.store %20, %data[%i, %j] : memref<?x?xf64>
      // data[i][j] /= sqrt(float_n) * stddev[j]
      %21 = affine.load %data[%i, %j] : memref<?x?xf64>
      %22 = math.sqrt %float_n : f64
      %23 = affine.load %stddev[%j] : memref<?xf64>
      %24 = arith.mulf %22, %23 : f64
      %25 = arith.divf %21, %24 : f64
      affine.store %25, %data[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 0 to affine_map<()[s0] -> (s0 - 1)>()[%m] {
    // corr[i][i] = 1.0
    affine.store %one, %corr[%i, %i] : memref<?x?xf64>
    affine.for %j = affine_map<(d0) -> (d0 + 1)>(%i) to %m {
      // corr[i][j] = 0.0
      affine.store %zero, %corr[%i, %j] : memref<?x?xf64>
      affine.for %k = 0 to %n {
        // corr[i][j] += data[k][i] * data[k][j]
        %26 = affine.load %corr[%i, %j] : memref<?x?xf64>
        %27 = affine.load %data[%k, %i] : memref<?x?xf64>
        %28 = affine.load %data[%k, %j] : memref<?x?xf64>
        %29 = arith.mulf %27, %28 : f64
        %30 = arith.addf %26, %29 : f64
        affine.store %30, %corr[%i, %j] : memref<?x?xf64>
      }
      // corr[j][i] = corr[i][j]
      %31 = affine.load %corr[%i, %j] : memref<?x?xf64>
      affine.store %31, %corr[%j, %i] : memref<?x?xf64>
    }
  }
  // corr[m-1][m-1] = 1.0
  affine.store %one, %corr[symbol(%m) - 1, symbol(%m) - 1] : memref<?x?xf64>
  return
}
