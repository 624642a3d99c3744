// Two matrix-vector products: x1 := x1 + A * y_1 and x2 := x2 + A^T * y_2.
func.func @mvt(%n: index, %x1: memref<?xf32>, %x2: memref<?xf32>, %y_1: memref<?xf32>,
               %y_2: memref<?xf32>, %A: memref<?x?xf32>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      // x1[i] = x1[i] + A[i][j] * y_1[j]
      %0 = affine.load %x1[%i] : memref<?xf32>
      %1 = affine.load %A[%i, %j] : memref<?x?xf32>
      %2 = affine.load %y_1[%j] : memref<?xf32>
      %3 = arith.mulf %1, %2 : f32
      %4 = arith.addf %0, %3 : f32
      affine.store %4, %x1[%i] : memref<?xf32>
    }
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      // x2[i] = x2[i] + A[j][i] * y_2[j]
      %5 = affine.load %x2[%i] : memref<?xf32>
      %6 = affine.load %A[%j, %i] : memref<?x?xf32>
      %7 = affine.load %y_2[%j] : memref<?xf32>
      %8 = arith.mulf %6, %7 : f32
      %9 = arith.addf %5, %8 : f32
      affine.store %9, %x2[%i] : memref<?xf32>
    }
  }
  return
}
