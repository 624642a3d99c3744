// The nearest centre of every point: an index and a squared distance.
func.func @kmeans_assign(%points: index, %centres: index, %features: index, %x: memref<?x?xf32>,
                         %centre: memref<?x?xf32>, %label: memref<?xi32>,
                         %distance: memref<?xf32>) {
  %c0 = arith.constant 1.0e+30 : f32
  %c1 = arith.constant 0 : i32
  %c2 = arith.constant 0.0 : f32
  affine.for %i = 0 to %points {
    %index_1, %best_1 = affine.for %c = 0 to %centres iter_args(%index = %c1, %best = %c0) -> (i32, f32) {
      %sum_1 = affine.for %k = 0 to %features iter_args(%sum = %c2) -> (f32) {
        // d = x[i, k] - centre[c, k]
        %0 = affine.load %x[%i, %k] : memref<?x?xf32>
        %1 = affine.load %centre[%c, %k] : memref<?x?xf32>
        %2 = arith.subf %0, %1 : f32
        // sum = sum + d * d
        %3 = arith.mulf %2, %2 : f32
        %4 = arith.addf %sum, %3 : f32
        affine.yield %4 : f32
      }
      // index = where(sum < best, i32(c), index)
      %5 = arith.cmpf olt, %sum_1, %best : f32
      %6 = arith.index_cast %c : index to i32
      %7 = arith.select %5, %6, %index : i32
      // best = where(sum < best, sum, best)
      %8 = arith.cmpf olt, %sum_1, %best : f32
      %9 = arith.select %8, %sum_1, %best : f32
      affine.yield %7, %9 : i32, f32
    }
    // label[i] = index
    affine.store %index_1, %label[%i] : memref<?xi32>
    // distance[i] = best
    affine.store %best_1, %distance[%i] : memref<?xf32>
  }
  return
}
