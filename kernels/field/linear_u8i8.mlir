// A quantised dense layer: unsigned activations, signed weights in rows, scaled back to 8 bits.
func.func @linear_u8i8(%rows: index, %features_in: index, %features_out: index,
                       %x: memref<?x?xi8>, %weights: memref<?x?xi8>, %bias: memref<?xi32>,
                       %y: memref<?x?xi8>) {
  %c0 = arith.constant 5 : i32
  %c1 = arith.constant 8192 : i32
  %c2 = arith.constant 14 : i32
  %c3 = arith.constant -128 : i32
  %c4 = arith.constant 127 : i32
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %features_out {
      // sum = bias[j]
      %0 = affine.load %bias[%j] : memref<?xi32>
      %sum_1 = affine.for %k = 0 to %features_in iter_args(%sum = %0) -> (i32) {
        // sum = sum + u32(x[i, k]) * i32(weights[j, k])
        %1 = affine.load %x[%i, %k] : memref<?x?xi8>
        %2 = arith.extui %1 : i8 to i32
        %3 = affine.load %weights[%j, %k] : memref<?x?xi8>
        %4 = arith.extsi %3 : i8 to i32
        %5 = arith.muli %2, %4 : i32
        %6 = arith.addi %sum, %5 : i32
        affine.yield %6 : i32
      }
      // scaled = sum * 5 + 8192 >> 14
      %7 = arith.muli %sum_1, %c0 : i32
      %8 = arith.addi %7, %c1 : i32
      %9 = arith.shrsi %8, %c2 : i32
      // y[i, j] = i8(min(max(scaled, -128), 127))
      %10 = arith.maxsi %9, %c3 : i32
      %11 = arith.minsi %10, %c4 : i32
      %12 = arith.trunci %11 : i32 to i8
      affine.store %12, %y[%i, %j] : memref<?x?xi8>
    }
  }
  return
}
