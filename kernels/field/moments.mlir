// Mean, variance, skewness, kurtosis, minimum and maximum of every row.
func.func @moments(%rows: index, %n: index, %x: memref<?x?xf64>, %summary: memref<?x6xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %i = 0 to %rows {
    // least = x[i, 0]
    %0 = affine.load %x[%i, 0] : memref<?x?xf64>
    // most = x[i, 0]
    %1 = affine.load %x[%i, 0] : memref<?x?xf64>
    %sum_1, %least_1, %most_1 = affine.for %j = 0 to %n iter_args(%sum = %c0, %least = %0, %most = %1) -> (f64, f64, f64) {
      // v = x[i, j]
      %2 = affine.load %x[%i, %j] : memref<?x?xf64>
      // sum = sum + v
      %3 = arith.addf %sum, %2 : f64
      // least = min(least, v)
      %4 = arith.minimumf %least, %2 : f64
      // most = max(most, v)
      %5 = arith.maximumf %most, %2 : f64
      affine.yield %3, %4, %5 : f64, f64, f64
    }
    // mean = sum / f64(n)
    %6 = arith.index_cast %n : index to i32
    %7 = arith.sitofp %6 : i32 to f64
    %8 = arith.divf %sum_1, %7 : f64
    %second_1, %third_1, %fourth_1 = affine.for %j = 0 to %n iter_args(%second = %c0, %third = %c0, %fourth = %c0) -> (f64, f64, f64) {
      // d = x[i, j] - mean
      %9 = affine.load %x[%i, %j] : memref<?x?xf64>
      %10 = arith.subf %9, %8 : f64
      // square = d * d
      %11 = arith.mulf %10, %10 : f64
      // second = second + square
      %12 = arith.addf %second, %11 : f64
      // third = third + square * d
      %13 = arith.mulf %11, %10 : f64
      %14 = arith.addf %third, %13 : f64
      // fourth = fourth + square * square
      %15 = arith.mulf %11, %11 : f64
      %16 = arith.addf %fourth, %15 : f64
      affine.yield %12, %14, %16 : f64, f64, f64
    }
    // variance = second / f64(n)
    %17 = arith.index_cast %n : index to i32
    %18 = arith.sitofp %17 : i32 to f64
    %19 = arith.divf %second_1, %18 : f64
    // summary[i, 0] = mean
    affine.store %8, %summary[%i, 0] : memref<?x6xf64>
    // summary[i, 1] = variance
    affine.store %19, %summary[%i, 1] : memref<?x6xf64>
    // summary[i, 2] = third / f64(n) / (variance * sqrt(variance))
    %20 = arith.index_cast %n : index to i32
    %21 = arith.sitofp %20 : i32 to f64
    %22 = arith.divf %third_1, %21 : f64
    %23 = math.sqrt %19 : f64
    %24 = arith.mulf %19, %23 : f64
    %25 = arith.divf %22, %24 : f64
    affine.store %25, %summary[%i, 2] : memref<?x6xf64>
    // summary[i, 3] = fourth / f64(n) / (variance * variance)
    %26 = arith.index_cast %n : index to i32
    %27 = arith.sitofp %26 : i32 to f64
    %28 = arith.divf %fourth_1, %27 : f64
    %29 = arith.mulf %19, %19 : f64
    %30 = arith.divf %28, %29 : f64
    affine.store %30, %summary[%i, 3] : memref<?x6xf64>
    // summary[i, 4] = least
    affine.store %least_1, %summary[%i, 4] : memref<?x6xf64>
    // summary[i, 5] = most
    affine.store %most_1, %summary[%i, 5] : memref<?x6xf64>
  }
  return
}
