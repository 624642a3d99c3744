// The gradient of logistic regression: predictions, then the transposed product with the errors.
func.func @logistic_gradient(%samples: index, %features: index, %x: memref<?x?xf32>,
                             %target: memref<?xf32>, %weights: memref<?xf32>,
                             %error: memref<?xf32>, %gradient: memref<?xf32>) {
  %c0 = arith.constant 0.0 : f32
  %c1 = arith.constant 1.0 : f32
  affine.for %i = 0 to %samples {
    %dot_1 = affine.for %j = 0 to %features iter_args(%dot = %c0) -> (f32) {
      // dot = dot + x[i, j] * weights[j]
      %0 = affine.load %x[%i, %j] : memref<?x?xf32>
      %1 = affine.load %weights[%j] : memref<?xf32>
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %dot, %2 : f32
      affine.yield %3 : f32
    }
    // error[i] = 1.0 / (1.0 + exp(-dot)) - target[i]
    %4 = arith.negf %dot_1 : f32
    %5 = math.exp %4 : f32
    %6 = arith.addf %c1, %5 : f32
    %7 = arith.divf %c1, %6 : f32
    %8 = affine.load %target[%i] : memref<?xf32>
    %9 = arith.subf %7, %8 : f32
    affine.store %9, %error[%i] : memref<?xf32>
  }
  affine.for %j = 0 to %features {
    // gradient[j] = 0.0
    affine.store %c0, %gradient[%j] : memref<?xf32>
  }
  affine.for %i = 0 to %samples {
    affine.for %j = 0 to %features {
      // gradient[j] += error[i] * x[i, j]
      %10 = affine.load %gradient[%j] : memref<?xf32>
      %11 = affine.load %error[%i] : memref<?xf32>
      %12 = affine.load %x[%i, %j] : memref<?x?xf32>
      %13 = arith.mulf %11, %12 : f32
      %14 = arith.addf %10, %13 : f32
      affine.store %14, %gradient[%j] : memref<?xf32>
    }
  }
  return
}
