// C := alpha * A * B + beta * C with A symmetric, its lower triangle stored.
func.func @symm(%m: index, %n: index, %alpha: f64, %beta: f64, %C: memref<?x?xf64>,
                %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %m {
    affine.for %j = 0 to %n {
      %temp2 = memref.alloca() : memref<f64>
      // temp2 = 0.0
      affine.store %zero, %temp2[] : memref<f64>
      affine.for %k = 0 to %i {
        // C[k][j] += alpha * B[i][j] * A[i][k]
        %0 = affine.load %C[%k, %j] : memref<?x?xf64>
        %1 = affine.load %B[%i, %j] : memref<?x?xf64>
        %2 = arith.mulf %alpha, %1 : f64
        %3 = affine.load %A[%i, %k] : memref<?x?xf64>
        %4 = arith.mulf %2, %3 : f64
        %5 = arith.addf %0, %4 : f64
        affine.store %5, %C[%k, %j] : memref<?x?xf64>
        // temp2 += B[k][j] * A[i][k]
        %6 = affine.load %temp2[] : memref<f64>
        %7 = affine.load %B[%k, %j] : memref<?x?xf64>
        %8 = affine.load %A[%i, %k] : memref<?x?xf64>
        %9 = arith.mulf %7, %8 : f64
        %10 = arith.addf %6, %9 : f64
        affine.store %10, %temp2[] : memref<f64>
      }
      // C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2
      %11 = affine.load %C[%i, %j] : memref<?x?xf64>
      %12 = arith.mulf %beta, %11 : f64
      %13 = affine.load %B[%i, %j] : memref<?x?xf64>
      %14 = arith.mulf %alpha, %13 : f64
      %15 = affine.load %A[%i, %i] : memref<?x?xf64>
      %16 = arith.mulf %14, %15 : f64
      %17 = arith.addf %12, %16 : f64
      %18 = affine.load %temp2[] : memref<f64>
      %19 = arith.mulf %alpha, %18 : f64
      %20 = arith.addf %17, %19 : f64
      affine.store %20, %C[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
