// Every row with mean 0 and variance 1, then scaled and shifted.
func.func @layer_norm(%rows: index, %features: index, %x: memref<?x?xf32>, %gamma: memref<?xf32>,
                      %beta: memref<?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  %c1 = arith.constant 1.0e-05 : f32
  affine.for %i = 0 to %rows {
    %total_1 = affine.for %j = 0 to %features iter_args(%total = %c0) -> (f32) {
      // total = total + x[i, j]
      %0 = affine.load %x[%i, %j] : memref<?x?xf32>
      %1 = arith.addf %total, %0 : f32
      affine.yield %1 : f32
    }
    // mean = total / f32(features)
    %2 = arith.index_cast %features : index to i32
    %3 = arith.sitofp %2 : i32 to f32
    %4 = arith.divf %total_1, %3 : f32
    %squares_1 = affine.for %j = 0 to %features iter_args(%squares = %c0) -> (f32) {
      // d = x[i, j] - mean
      %5 = affine.load %x[%i, %j] : memref<?x?xf32>
      %6 = arith.subf %5, %4 : f32
      // squares = squares + d * d
      %7 = arith.mulf %6, %6 : f32
      %8 = arith.addf %squares, %7 : f32
      affine.yield %8 : f32
    }
    // scale = rsqrt(squares / f32(features) + 1e-05)
    %9 = arith.index_cast %features : index to i32
    %10 = arith.sitofp %9 : i32 to f32
    %11 = arith.divf %squares_1, %10 : f32
    %12 = arith.addf %11, %c1 : f32
    %13 = math.rsqrt %12 : f32
    affine.for %j = 0 to %features {
      // y[i, j] = (x[i, j] - mean) * scale * gamma[j] + beta[j]
      %14 = affine.load %x[%i, %j] : memref<?x?xf32>
      %15 = arith.subf %14, %4 : f32
      %16 = arith.mulf %15, %13 : f32
      %17 = affine.load %gamma[%j] : memref<?xf32>
      %18 = arith.mulf %16, %17 : f32
      %19 = affine.load %beta[%j] : memref<?xf32>
      %20 = arith.addf %18, %19 : f32
      affine.store %20, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
