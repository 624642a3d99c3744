// A 4 x 4 matrix times many points of four coordinates.
func.func @transform_points(%n: index, %M: memref<4x4xf32>, %x: memref<?x4xf32>,
                            %y: memref<?x4xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %p = 0 to %n {
    affine.for %i = 0 to 4 {
      %sum_1 = affine.for %j = 0 to 4 iter_args(%sum = %c0) -> (f32) {
        // sum = sum + M[i, j] * x[p, j]
        %0 = affine.load %M[%i, %j] : memref<4x4xf32>
        %1 = affine.load %x[%p, %j] : memref<?x4xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %sum, %2 : f32
        affine.yield %3 : f32
      }
      // y[p, i] = sum
      affine.store %sum_1, %y[%p, %i] : memref<?x4xf32>
    }
  }
  return
}
