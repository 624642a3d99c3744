// A dense layer with the weights of each output in a row, and GELU in its tanh form.
func.func @linear_gelu(%rows: index, %features_in: index, %features_out: index,
                       %x: memref<?x?xf32>, %weights: memref<?x?xf32>, %bias: memref<?xf32>,
                       %y: memref<?x?xf32>) {
  %c0 = arith.constant 0.044715 : f32
  %c1 = arith.constant 0.7978845608 : f32
  %c2 = arith.constant 0.5 : f32
  %c3 = arith.constant 1.0 : f32
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %features_out {
      // sum = bias[j]
      %0 = affine.load %bias[%j] : memref<?xf32>
      %sum_1 = affine.for %k = 0 to %features_in iter_args(%sum = %0) -> (f32) {
        // sum = sum + x[i, k] * weights[j, k]
        %1 = affine.load %x[%i, %k] : memref<?x?xf32>
        %2 = affine.load %weights[%j, %k] : memref<?x?xf32>
        %3 = arith.mulf %1, %2 : f32
        %4 = arith.addf %sum, %3 : f32
        affine.yield %4 : f32
      }
      // inner = 0.7978845608 * (sum + 0.044715 * sum * sum * sum)
      %5 = arith.mulf %c0, %sum_1 : f32
      %6 = arith.mulf %5, %sum_1 : f32
      %7 = arith.mulf %6, %sum_1 : f32
      %8 = arith.addf %sum_1, %7 : f32
      %9 = arith.mulf %c1, %8 : f32
      // y[i, j] = 0.5 * sum * (1.0 + tanh(inner))
      %10 = arith.mulf %c2, %sum_1 : f32
      %11 = math.tanh %9 : f32
      %12 = arith.addf %c3, %11 : f32
      %13 = arith.mulf %10, %12 : f32
      affine.store %13, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
