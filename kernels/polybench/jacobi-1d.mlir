// Jacobi smoothing of a line, on two alternating arrays.
func.func @jacobi_1d(%tsteps: index, %n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  %third = arith.constant 0.33333 : f64
  affine.for %t = 0 to %tsteps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      // B[i] = 0.33333 * (A[i-1] + A[i] + A[i+1])
      %0 = affine.load %A[%i - 1] : memref<?xf64>
      %1 = affine.load %A[%i] : memref<?xf64>
      %2 = arith.addf %0, %1 : f64
      %3 = affine.load %A[%i + 1] : memref<?xf64>
      %4 = arith.addf %2, %3 : f64
      %5 = arith.mulf %third, %4 : f64
      affine.store %5, %B[%i] : memref<?xf64>
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      // A[i] = 0.33333 * (B[i-1] + B[i] + B[i+1])
      %6 = affine.load %B[%i - 1] : memref<?xf64>
      %7 = affine.load %B[%i] : memref<?xf64>
      %8 = arith.addf %6, %7 : f64
      %9 = affine.load %B[%i + 1] : memref<?xf64>
      %10 = arith.addf %8, %9 : f64
      %11 = arith.mulf %third, %10 : f64
      affine.store %11, %A[%i] : memref<?xf64>
    }
  }
  return
}
