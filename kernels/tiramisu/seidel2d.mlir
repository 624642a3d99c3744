// One Gauss-Seidel sweep over a plane, nine points, in place.
func.func @seidel2d(%height: index, %width: index, %A: memref<?x?xf32>) {
  %nine = arith.constant 9.0 : f32
  affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
      // A[i][j] = (A[i-1][j-1] + A[i-1][j] + A[i-1][j+1] + A[i][j-1] + A[i][j] + A[i][j+1] +
      //     A[i+1][j-1] + A[i+1][j] + A[i+1][j+1]) / 9.0
      %0 = affine.load %A[%i - 1, %j - 1] : memref<?x?xf32>
      %1 = affine.load %A[%i - 1, %j] : memref<?x?xf32>
      %2 = arith.addf %0, %1 : f32
      %3 = affine.load %A[%i - 1, %j + 1] : memref<?x?xf32>
      %4 = arith.addf %2, %3 : f32
      %5 = affine.load %A[%i, %j - 1] : memref<?x?xf32>
      %6 = arith.addf %4, %5 : f32
      %7 = affine.load %A[%i, %j] : memref<?x?xf32>
      %8 = arith.addf %6, %7 : f32
      %9 = affine.load %A[%i, %j + 1] : memref<?x?xf32>
      %10 = arith.addf %8, %9 : f32
      %11 = affine.load %A[%i + 1, %j - 1] : memref<?x?xf32>
      %12 = arith.addf %10, %11 : f32
      %13 = affine.load %A[%i + 1, %j] : memref<?x?xf32>
      %14 = arith.addf %12, %13 : f32
      %15 = affine.load %A[%i + 1, %j + 1] : memref<?x?xf32>
      %16 = arith.addf %14, %15 : f32
      %17 = arith.divf %16, %nine : f32
      affine.store %17, %A[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
