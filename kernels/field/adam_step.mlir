// One step of the optimiser Adam on a vector of weights.
func.func @adam_step(%n: index, %gradient: memref<?xf32>, %mean: memref<?xf32>,
                     %square: memref<?xf32>, %weights: memref<?xf32>) {
  %c0 = arith.constant 0.9 : f32
  %c1 = arith.constant 0.1 : f32
  %c2 = arith.constant 0.999 : f32
  %c3 = arith.constant 0.001 : f32
  %c4 = arith.constant 0.01 : f32
  %c5 = arith.constant 1.0e-08 : f32
  affine.for %i = 0 to %n {
    // g = gradient[i]
    %0 = affine.load %gradient[%i] : memref<?xf32>
    // m = 0.9 * mean[i] + 0.1 * g
    %1 = affine.load %mean[%i] : memref<?xf32>
    %2 = arith.mulf %c0, %1 : f32
    %3 = arith.mulf %c1, %0 : f32
    %4 = arith.addf %2, %3 : f32
    // v = 0.999 * square[i] + 0.001 * g * g
    %5 = affine.load %square[%i] : memref<?xf32>
    %6 = arith.mulf %c2, %5 : f32
    %7 = arith.mulf %c3, %0 : f32
    %8 = arith.mulf %7, %0 : f32
    %9 = arith.addf %6, %8 : f32
    // mean[i] = m
    affine.store %4, %mean[%i] : memref<?xf32>
    // square[i] = v
    affine.store %9, %square[%i] : memref<?xf32>
    // weights[i] = weights[i] - 0.01 * m / (sqrt(v) + 1e-08)
    %10 = affine.load %weights[%i] : memref<?xf32>
    %11 = arith.mulf %c4, %4 : f32
    %12 = math.sqrt %9 : f32
    %13 = arith.addf %12, %c5 : f32
    %14 = arith.divf %11, %13 : f32
    %15 = arith.subf %10, %14 : f32
    affine.store %15, %weights[%i] : memref<?xf32>
  }
  return
}
