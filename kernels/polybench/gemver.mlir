// A rank-2 update of A, then x := beta * A^T * y + z and w := alpha * A * x.
func.func @gemver(%n: index, %alpha: f64, %beta: f64, %A: memref<?x?xf64>, %u1: memref<?xf64>,
                  %v1: memref<?xf64>, %u2: memref<?xf64>, %v2: memref<?xf64>, %w: memref<?xf64>,
                  %x: memref<?xf64>, %y: memref<?xf64>, %z: memref<?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      // A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j]
      %0 = affine.load %A[%i, %j] : memref<?x?xf64>
      %1 = affine.load %u1[%i] : memref<?xf64>
      %2 = affine.load %v1[%j] : memref<?xf64>
      %3 = arith.mulf %1, %2 : f64
      %4 = arith.addf %0, %3 : f64
      %5 = affine.load %u2[%i] : memref<?xf64>
      %6 = affine.load %v2[%j] : memref<?xf64>
      %7 = arith.mulf %5, %6 : f64
      %8 = arith.addf %4, %7 : f64
      affine.store %8, %A[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      // x[i] = x[i] + beta * A[j][i] * y[j]
      %9 = affine.load %x[%i] : memref<?xf64>
      %10 = affine.load %A[%j, %i] : memref<?x?xf64>
      %11 = arith.mulf %beta, %10 : f64
      %12 = affine.load %y[%j] : memref<?xf64>
      %13 = arith.mulf %11, %12 : f64
      %14 = arith.addf %9, %13 : f64
      affine.store %14, %x[%i] : memref<?xf64>
    }
  }
  affine.for %i = 0 to %n {
    // x[i] = x[i] + z[i]
    %15 = affine.load %x[%i] : memref<?xf64>
    %16 = affine.load %z[%i] : memref<?xf64>
    %17 = arith.addf %15, %16 : f64
    affine.store %17, %x[%i] : memref<?xf64>
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      // w[i] = w[i] + alpha * A[i][j] * x[j]
      %18 = affine.load %w[%i] : memref<?xf64>
      %19 = affine.load %A[%i, %j] : memref<?x?xf64>
      %20 = arith.mulf %alpha, %19 : f64
      %21 = affine.load %x[%j] : memref<?xf64>
      %22 = arith.mulf %20, %21 : f64
      %23 = arith.addf %18, %22 : f64
      affine.store %23, %w[%i] : memref<?xf64>
    }
  }
  return
}
