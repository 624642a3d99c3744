// One attention head in which a token sees those before it: products, softmax of rows, product.
func.func @attention_causal(%tokens: index, %features: index, %query: memref<?x?xf32>,
                            %key: memref<?x?xf32>, %value: memref<?x?xf32>,
                            %scores: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant -3.0e+38 : f32
  %c1 = arith.constant 0.0 : f32
  %c2 = arith.constant 0.125 : f32
  affine.for %i = 0 to %tokens {
    %most_1 = affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) iter_args(%most = %c0) -> (f32) {
      %dot_1 = affine.for %k = 0 to %features iter_args(%dot = %c1) -> (f32) {
        // dot = dot + query[i, k] * key[j, k]
        %0 = affine.load %query[%i, %k] : memref<?x?xf32>
        %1 = affine.load %key[%j, %k] : memref<?x?xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %dot, %2 : f32
        affine.yield %3 : f32
      }
      // score = dot * 0.125
      %4 = arith.mulf %dot_1, %c2 : f32
      // scores[i, j] = score
      affine.store %4, %scores[%i, %j] : memref<?x?xf32>
      // most = max(most, score)
      %5 = arith.maximumf %most, %4 : f32
      affine.yield %5 : f32
    }
    %total_1 = affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) iter_args(%total = %c1) -> (f32) {
      // e = exp(scores[i, j] - most)
      %6 = affine.load %scores[%i, %j] : memref<?x?xf32>
      %7 = arith.subf %6, %most_1 : f32
      %8 = math.exp %7 : f32
      // scores[i, j] = e
      affine.store %8, %scores[%i, %j] : memref<?x?xf32>
      // total = total + e
      %9 = arith.addf %total, %8 : f32
      affine.yield %9 : f32
    }
    affine.for %k = 0 to %features {
      // y[i, k] = 0.0
      affine.store %c1, %y[%i, %k] : memref<?x?xf32>
    }
    affine.for %j = 0 to affine_map<(d0) -> (d0 + 1)>(%i) {
      affine.for %k = 0 to %features {
        // y[i, k] += scores[i, j] / total * value[j, k]
        %10 = affine.load %y[%i, %k] : memref<?x?xf32>
        %11 = affine.load %scores[%i, %j] : memref<?x?xf32>
        %12 = arith.divf %11, %total_1 : f32
        %13 = affine.load %value[%j, %k] : memref<?x?xf32>
        %14 = arith.mulf %12, %13 : f32
        %15 = arith.addf %10, %14 : f32
        affine.store %15, %y[%i, %k] : memref<?x?xf32>
      }
    }
  }
  return
}
