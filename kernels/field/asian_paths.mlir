// The payoff of an Asian option along simulated paths.
func.func @asian_paths(%paths: index, %steps: index, %normal: memref<?x?xf32>,
                       %payoff: memref<?xf32>) {
  %c0 = arith.constant 100.0 : f32
  %c1 = arith.constant 0.0 : f32
  %c2 = arith.constant 0.02 : f32
  %c3 = arith.constant 0.0001 : f32
  affine.for %p = 0 to %paths {
    %price_1, %sum_1 = affine.for %t = 0 to %steps iter_args(%price = %c0, %sum = %c1) -> (f32, f32) {
      // price = price * exp(0.0001 + 0.02 * normal[p, t])
      %0 = affine.load %normal[%p, %t] : memref<?x?xf32>
      %1 = arith.mulf %c2, %0 : f32
      %2 = arith.addf %c3, %1 : f32
      %3 = math.exp %2 : f32
      %4 = arith.mulf %price, %3 : f32
      // sum = sum + price
      %5 = arith.addf %sum, %4 : f32
      affine.yield %4, %5 : f32, f32
    }
    // payoff[p] = max(sum / f32(steps) - 100.0, 0.0)
    %6 = arith.index_cast %steps : index to i32
    %7 = arith.sitofp %6 : i32 to f32
    %8 = arith.divf %sum_1, %7 : f32
    %9 = arith.subf %8, %c0 : f32
    %10 = arith.maximumf %9, %c1 : f32
    affine.store %10, %payoff[%p] : memref<?xf32>
  }
  return
}
