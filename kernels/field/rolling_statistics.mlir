// Mean and variance in a moving window of each series, from running sums.
func.func @rolling_statistics(%series: index, %n: index, %window: index, %x: memref<?x?xf64>,
                              %mean: memref<?x?xf64>, %variance: memref<?x?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %s = 0 to %series {
    %sum_1, %squares_1 = affine.for %t = 0 to %window iter_args(%sum = %c0, %squares = %c0) -> (f64, f64) {
      // sum = sum + x[s, t]
      %0 = affine.load %x[%s, %t] : memref<?x?xf64>
      %1 = arith.addf %sum, %0 : f64
      // squares = squares + x[s, t] * x[s, t]
      %2 = affine.load %x[%s, %t] : memref<?x?xf64>
      %3 = affine.load %x[%s, %t] : memref<?x?xf64>
      %4 = arith.mulf %2, %3 : f64
      %5 = arith.addf %squares, %4 : f64
      affine.yield %1, %5 : f64, f64
    }
    %sum_3, %squares_3 = affine.for %t = 0 to %n iter_args(%sum_2 = %sum_1, %squares_2 = %squares_1) -> (f64, f64) {
      // m = sum / f64(window)
      %6 = arith.index_cast %window : index to i32
      %7 = arith.sitofp %6 : i32 to f64
      %8 = arith.divf %sum_2, %7 : f64
      // mean[s, t] = m
      affine.store %8, %mean[%s, %t] : memref<?x?xf64>
      // variance[s, t] = squares / f64(window) - m * m
      %9 = arith.index_cast %window : index to i32
      %10 = arith.sitofp %9 : i32 to f64
      %11 = arith.divf %squares_2, %10 : f64
      %12 = arith.mulf %8, %8 : f64
      %13 = arith.subf %11, %12 : f64
      affine.store %13, %variance[%s, %t] : memref<?x?xf64>
      // sum = sum + x[s, t + window] - x[s, t]
      %14 = affine.load %x[%s, %t + symbol(%window)] : memref<?x?xf64>
      %15 = arith.addf %sum_2, %14 : f64
      %16 = affine.load %x[%s, %t] : memref<?x?xf64>
      %17 = arith.subf %15, %16 : f64
      // squares = squares + x[s, t + window] * x[s, t + window] - x[s, t] * x[s, t]
      %18 = affine.load %x[%s, %t + symbol(%window)] : memref<?x?xf64>
      %19 = affine.load %x[%s, %t + symbol(%window)] : memref<?x?xf64>
      %20 = arith.mulf %18, %19 : f64
      %21 = arith.addf %squares_2, %20 : f64
      %22 = affine.load %x[%s, %t] : memref<?x?xf64>
      %23 = affine.load %x[%s, %t] : memref<?x?xf64>
      %24 = arith.mulf %22, %23 : f64
      %25 = arith.subf %21, %24 : f64
      affine.yield %17, %25 : f64, f64
    }
  }
  return
}
