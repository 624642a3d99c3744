// y := A^T * (A * x).
func.func @atax(%m: index, %n: index, %A: memref<?x?xf64>, %x: memref<?xf64>, %y: memref<?xf64>,
                %tmp: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    // y[i] = 0.0
    affine.store %zero, %y[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %m {
    // tmp[i] = 0.0
    affine.store %zero, %tmp[%i] : memref<?xf64>
    affine.for %j = 0 to %n {
      // tmp[i] = tmp[i] + A[i][j] * x[j]
      %0 = affine.load %tmp[%i] : memref<?xf64>
      %1 = affine.load %A[%i, %j] : memref<?x?xf64>
      %2 = affine.load %x[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = arith.addf %0, %3 : f64
      affine.store %4, %tmp[%i] : memref<?xf64>
    }
    affine.for %j = 0 to %n {
      // y[j] = y[j] + A[i][j] * tmp[i]
      %5 = affine.load %y[%j] : memref<?xf64>
      %6 = affine.load %A[%i, %j] : memref<?x?xf64>
      %7 = affine.load %tmp[%i] : memref<?xf64>
      %8 = arith.mulf %6, %7 : f64
      %9 = arith.addf %5, %8 : f64
      affine.store %9, %y[%j] : memref<?xf64>
    }
  }
  return
}
