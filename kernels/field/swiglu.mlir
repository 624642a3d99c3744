// The gate of the feed-forward layers of language models: x * sigmoid(x) * up.
func.func @swiglu(%rows: index, %features: index, %gate: memref<?x?xf32>, %up: memref<?x?xf32>,
                  %y: memref<?x?xf32>) {
  %c0 = arith.constant 1.0 : f32
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %features {
      // y[i, j] = gate[i, j] / (1.0 + exp(-gate[i, j])) * up[i, j]
      %0 = affine.load %gate[%i, %j] : memref<?x?xf32>
      %1 = affine.load %gate[%i, %j] : memref<?x?xf32>
      %2 = arith.negf %1 : f32
      %3 = math.exp %2 : f32
      %4 = arith.addf %c0, %3 : f32
      %5 = arith.divf %0, %4 : f32
      %6 = affine.load %up[%i, %j] : memref<?x?xf32>
      %7 = arith.mulf %5, %6 : f32
      affine.store %7, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
