// Jacobi smoothing of a plane, five points, on two alternating arrays.
func.func @jacobi_2d(%tsteps: index, %n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>) {
  %fifth = arith.constant 0.2 : f64
  affine.for %t = 0 to %tsteps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        // B[i][j] = 0.2 * (A[i][j] + A[i][j-1] + A[i][j+1] + A[i+1][j] + A[i-1][j])
        %0 = affine.load %A[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%i, %j - 1] : memref<?x?xf64>
        %2 = arith.addf %0, %1 : f64
        %3 = affine.load %A[%i, %j + 1] : memref<?x?xf64>
        %4 = arith.addf %2, %3 : f64
        %5 = affine.load %A[%i + 1, %j] : memref<?x?xf64>
        %6 = arith.addf %4, %5 : f64
        %7 = affine.load %A[%i - 1, %j] : memref<?x?xf64>
        %8 = arith.addf %6, %7 : f64
        %9 = arith.mulf %fifth, %8 : f64
        affine.store %9, %B[%i, %j] : memref<?x?xf64>
      }
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        // A[i][j] = 0.2 * (B[i][j] + B[i][j-1] + B[i][j+1] + B[i+1][j] + B[i-1][j])
        %10 = affine.load %B[%i, %j] : memref<?x?xf64>
        %11 = affine.load %B[%i, %j - 1] : memref<?x?xf64>
        %12 = arith.addf %10, %11 : f64
        %13 = affine.load %B[%i, %j + 1] : memref<?x?xf64>
        %14 = arith.addf %12, %13 : f64
        %15 = affine.load %B[%i + 1, %j] : memref<?x?xf64>
        %16 = arith.addf %14, %15 : f64
        %17 = affine.load %B[%i - 1, %j] : memref<?x?xf64>
        %18 = arith.addf %16, %17 : f64
        %19 = arith.mulf %fifth, %18 : f64
        affine.store %19, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
