// One step of the heat equation in three dimensions.
func.func @heat3d(%depth: index, %height: index, %width: index, %src: memref<?x?x?xf32>,
                  %out: memref<?x?x?xf32>) {
  %eighth = arith.constant 0.125 : f32
  %two = arith.constant 2.0 : f32
  affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%depth] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
      affine.for %k = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
        // out[i][j][k] = 0.125 * (src[i+1][j][k] - 2.0 * src[i][j][k] + src[i-1][j][k]) + 0.125 *
        //     (src[i][j+1][k] - 2.0 * src[i][j][k] + src[i][j-1][k]) + 0.125 * (src[i][j][k+1] -
        //     2.0 * src[i][j][k] + src[i][j][k-1]) + src[i][j][k]
        %0 = affine.load %src[%i + 1, %j, %k] : memref<?x?x?xf32>
        %1 = affine.load %src[%i, %j, %k] : memref<?x?x?xf32>
        %2 = arith.mulf %two, %1 : f32
        %3 = arith.subf %0, %2 : f32
        %4 = affine.load %src[%i - 1, %j, %k] : memref<?x?x?xf32>
        %5 = arith.addf %3, %4 : f32
        %6 = arith.mulf %eighth, %5 : f32
        %7 = affine.load %src[%i, %j + 1, %k] : memref<?x?x?xf32>
        %8 = arith.subf %7, %2 : f32
        %9 = affine.load %src[%i, %j - 1, %k] : memref<?x?x?xf32>
        %10 = arith.addf %8, %9 : f32
        %11 = arith.mulf %eighth, %10 : f32
        %12 = arith.addf %6, %11 : f32
        %13 = affine.load %src[%i, %j, %k + 1] : memref<?x?x?xf32>
        %14 = arith.subf %13, %2 : f32
        %15 = affine.load %src[%i, %j, %k - 1] : memref<?x?x?xf32>
        %16 = arith.addf %14, %15 : f32
        %17 = arith.mulf %eighth, %16 : f32
        %18 = arith.addf %12, %17 : f32
        %19 = arith.addf %18, %1 : f32
        affine.store %19, %out[%i, %j, %k] : memref<?x?x?xf32>
      }
    }
  }
  return
}
