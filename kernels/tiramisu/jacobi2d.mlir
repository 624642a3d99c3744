// One Jacobi sweep over a plane, five points.
func.func @jacobi2d(%height: index, %width: index, %A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  %fifth = arith.constant 0.2 : f32
  affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
      // B[i][j] = 0.2 * (A[i][j] + A[i][j-1] + A[i][j+1] + A[i+1][j] + A[i-1][j])
      %0 = affine.load %A[%i, %j] : memref<?x?xf32>
      %1 = affine.load %A[%i, %j - 1] : memref<?x?xf32>
      %2 = arith.addf %0, %1 : f32
      %3 = affine.load %A[%i, %j + 1] : memref<?x?xf32>
      %4 = arith.addf %2, %3 : f32
      %5 = affine.load %A[%i + 1, %j] : memref<?x?xf32>
      %6 = arith.addf %4, %5 : f32
      %7 = affine.load %A[%i - 1, %j] : memref<?x?xf32>
      %8 = arith.addf %6, %7 : f32
      %9 = arith.mulf %fifth, %8 : f32
      affine.store %9, %B[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
