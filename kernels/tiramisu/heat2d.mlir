// One step of the heat equation in two dimensions.
func.func @heat2d(%height: index, %width: index, %alpha: f32, %beta: f32, %src: memref<?x?xf32>,
                  %out: memref<?x?xf32>) {
  affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
      // out[i][j] = alpha * src[i][j] + beta * (src[i][j+1] + src[i][j-1] + src[i+1][j] +
      //     src[i-1][j])
      %0 = affine.load %src[%i, %j] : memref<?x?xf32>
      %1 = arith.mulf %alpha, %0 : f32
      %2 = affine.load %src[%i, %j + 1] : memref<?x?xf32>
      %3 = affine.load %src[%i, %j - 1] : memref<?x?xf32>
      %4 = arith.addf %2, %3 : f32
      %5 = affine.load %src[%i + 1, %j] : memref<?x?xf32>
      %6 = arith.addf %4, %5 : f32
      %7 = affine.load %src[%i - 1, %j] : memref<?x?xf32>
      %8 = arith.addf %6, %7 : f32
      %9 = arith.mulf %beta, %8 : f32
      %10 = arith.addf %1, %9 : f32
      affine.store %10, %out[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
