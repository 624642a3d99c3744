// American puts on a binomial tree, one option after the other, in place.
func.func @american_put(%options: index, %steps: index, %strike: memref<?xf64>,
                        %price: memref<?xf64>, %value: memref<?x?xf64>, %put: memref<?xf64>) {
  %c0 = arith.constant 0.0 : f64
  %c1 = arith.constant 0.4997 : f64
  %c2 = arith.constant 0.5001 : f64
  affine.for %o = 0 to %options {
    affine.for %i = 0 to affine_map<()[s0] -> (s0 + 1)>()[%steps] {
      // value[o, i] = max(strike[o] - price[2 * i], 0.0)
      %0 = affine.load %strike[%o] : memref<?xf64>
      %1 = affine.load %price[2 * %i] : memref<?xf64>
      %2 = arith.subf %0, %1 : f64
      %3 = arith.maximumf %2, %c0 : f64
      affine.store %3, %value[%o, %i] : memref<?x?xf64>
    }
    affine.for %t = 0 to %steps {
      affine.for %i = 0 to affine_map<(d0)[s0] -> (s0 - d0)>(%t)[%steps] {
        // hold = 0.4997 * value[o, i + 1] + 0.5001 * value[o, i]
        %4 = affine.load %value[%o, %i + 1] : memref<?x?xf64>
        %5 = arith.mulf %c1, %4 : f64
        %6 = affine.load %value[%o, %i] : memref<?x?xf64>
        %7 = arith.mulf %c2, %6 : f64
        %8 = arith.addf %5, %7 : f64
        // value[o, i] = max(hold, strike[o] - price[2 * i + t + 1])
        %9 = affine.load %strike[%o] : memref<?xf64>
        %10 = affine.load %price[2 * %i + %t + 1] : memref<?xf64>
        %11 = arith.subf %9, %10 : f64
        %12 = arith.maximumf %8, %11 : f64
        affine.store %12, %value[%o, %i] : memref<?x?xf64>
      }
    }
    // put[o] = value[o, 0]
    %13 = affine.load %value[%o, 0] : memref<?x?xf64>
    affine.store %13, %put[%o] : memref<?xf64>
  }
  return
}
