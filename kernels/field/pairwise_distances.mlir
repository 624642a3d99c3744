// Euclidean distances between all points of two sets.
func.func @pairwise_distances(%n: index, %m: index, %features: index, %x: memref<?x?xf32>,
                              %y: memref<?x?xf32>, %distance: memref<?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %m {
      %sum_1 = affine.for %k = 0 to %features iter_args(%sum = %c0) -> (f32) {
        // d = x[i, k] - y[j, k]
        %0 = affine.load %x[%i, %k] : memref<?x?xf32>
        %1 = affine.load %y[%j, %k] : memref<?x?xf32>
        %2 = arith.subf %0, %1 : f32
        // sum = sum + d * d
        %3 = arith.mulf %2, %2 : f32
        %4 = arith.addf %sum, %3 : f32
        affine.yield %4 : f32
      }
      // distance[i, j] = sqrt(sum)
      %5 = math.sqrt %sum_1 : f32
      affine.store %5, %distance[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
