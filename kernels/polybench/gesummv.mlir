// y := alpha * A * x + beta * B * x.
func.func @gesummv(%n: index, %alpha: f64, %beta: f64, %A: memref<?x?xf64>, %B: memref<?x?xf64>,
                   %tmp: memref<?xf64>, %x: memref<?xf64>, %y: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    // tmp[i] = 0.0
    affine.store %zero, %tmp[%i] : memref<?xf64>
    // y[i] = 0.0
    affine.store %zero, %y[%i] : memref<?xf64>
    affine.for %j = 0 to %n {
      // tmp[i] = A[i][j] * x[j] + tmp[i]
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = affine.load %x[%j] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      %3 = affine.load %tmp[%i] : memref<?xf64>
      %4 = arith.addf %2, %3 : f64
      affine.store %4, %tmp[%i] : memref<?xf64>
      // y[i] = B[i][j] * x[j] + y[i]
      %5 = affine.load %B[%i, %j] : memref<?x?xf64>
      %6 = affine.load %x[%j] : memref<?xf64>
      %7 = arith.mulf %5, %6 : f64
      %8 = affine.load %y[%i] : memref<?xf64>
      %9 = arith.addf %7, %8 : f64
      affine.store %9, %y[%i] : memref<?xf64>
    }
    // y[i] = alpha * tmp[i] + beta * y[i]
    %10 = affine.load %tmp[%i] : memref<?xf64>
    %11 = arith.mulf %alpha, %10 : f64
    %12 = affine.load %y[%i] : memref<?xf64>
    %13 = arith.mulf %beta, %12 : f64
    %14 = arith.addf %11, %13 : f64
    affine.store %14, %y[%i] : memref<?xf64>
  }
  return
}
