// The cost of aligning two series: each cell takes the cheapest of three neighbours.
func.func @dynamic_time_warping(%n: index, %m: index, %x: memref<?xf32>, %y: memref<?xf32>,
                                %cost: memref<?x?xf32>) {
  affine.for %i = 1 to affine_map<()[s0] -> (s0 + 1)>()[%n] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 + 1)>()[%m] {
      // least = min(min(cost[i - 1, j], cost[i, j - 1]), cost[i - 1, j - 1])
      %0 = affine.load %cost[%i - 1, %j] : memref<?x?xf32>
      %1 = affine.load %cost[%i, %j - 1] : memref<?x?xf32>
      %2 = arith.minimumf %0, %1 : f32
      %3 = affine.load %cost[%i - 1, %j - 1] : memref<?x?xf32>
      %4 = arith.minimumf %2, %3 : f32
      // cost[i, j] = least + abs(x[i - 1] - y[j - 1])
      %5 = affine.load %x[%i - 1] : memref<?xf32>
      %6 = affine.load %y[%j - 1] : memref<?xf32>
      %7 = arith.subf %5, %6 : f32
      %8 = math.absf %7 : f32
      %9 = arith.addf %4, %8 : f32
      affine.store %9, %cost[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
