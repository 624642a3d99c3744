// The gates of an LSTM cell, from sums that are already there.
func.func @lstm_cell(%rows: index, %hidden: index, %sums: memref<?x4x?xf32>,
                     %cell: memref<?x?xf32>, %y: memref<?x?xf32>) {
  %c0 = arith.constant 1.0 : f32
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %hidden {
      // forget = 1.0 / (1.0 + exp(-sums[i, 1, j]))
      %0 = affine.load %sums[%i, 1, %j] : memref<?x4x?xf32>
      %1 = arith.negf %0 : f32
      %2 = math.exp %1 : f32
      %3 = arith.addf %c0, %2 : f32
      %4 = arith.divf %c0, %3 : f32
      // input = 1.0 / (1.0 + exp(-sums[i, 0, j]))
      %5 = affine.load %sums[%i, 0, %j] : memref<?x4x?xf32>
      %6 = arith.negf %5 : f32
      %7 = math.exp %6 : f32
      %8 = arith.addf %c0, %7 : f32
      %9 = arith.divf %c0, %8 : f32
      // output = 1.0 / (1.0 + exp(-sums[i, 3, j]))
      %10 = affine.load %sums[%i, 3, %j] : memref<?x4x?xf32>
      %11 = arith.negf %10 : f32
      %12 = math.exp %11 : f32
      %13 = arith.addf %c0, %12 : f32
      %14 = arith.divf %c0, %13 : f32
      // c = forget * cell[i, j] + input * tanh(sums[i, 2, j])
      %15 = affine.load %cell[%i, %j] : memref<?x?xf32>
      %16 = arith.mulf %4, %15 : f32
      %17 = affine.load %sums[%i, 2, %j] : memref<?x4x?xf32>
      %18 = math.tanh %17 : f32
      %19 = arith.mulf %9, %18 : f32
      %20 = arith.addf %16, %19 : f32
      // cell[i, j] = c
      affine.store %20, %cell[%i, %j] : memref<?x?xf32>
      // y[i, j] = output * tanh(c)
      %21 = math.tanh %20 : f32
      %22 = arith.mulf %14, %21 : f32
      affine.store %22, %y[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
