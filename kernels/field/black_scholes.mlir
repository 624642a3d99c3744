// The prices of European calls and puts by Black and Scholes.
func.func @black_scholes(%n: index, %spot: memref<?xf32>, %strike: memref<?xf32>,
                         %time: memref<?xf32>, %call: memref<?xf32>, %put: memref<?xf32>) {
  %c0 = arith.constant 0.3 : f32
  %c1 = arith.constant 0.065 : f32
  %c2 = arith.constant 0.70710678 : f32
  %c3 = arith.constant 0.5 : f32
  %c4 = arith.constant -0.02 : f32
  affine.for %i = 0 to %n {
    // s = spot[i]
    %0 = affine.load %spot[%i] : memref<?xf32>
    // k = strike[i]
    %1 = affine.load %strike[%i] : memref<?xf32>
    // t = time[i]
    %2 = affine.load %time[%i] : memref<?xf32>
    // deviation = 0.3 * sqrt(t)
    %3 = math.sqrt %2 : f32
    %4 = arith.mulf %c0, %3 : f32
    // d1 = (log(s / k) + 0.065 * t) / deviation
    %5 = arith.divf %0, %1 : f32
    %6 = math.log %5 : f32
    %7 = arith.mulf %c1, %2 : f32
    %8 = arith.addf %6, %7 : f32
    %9 = arith.divf %8, %4 : f32
    // d2 = d1 - deviation
    %10 = arith.subf %9, %4 : f32
    // p1 = 0.5 + 0.5 * erf(0.70710678 * d1)
    %11 = arith.mulf %c2, %9 : f32
    %12 = math.erf %11 : f32
    %13 = arith.mulf %c3, %12 : f32
    %14 = arith.addf %c3, %13 : f32
    // p2 = 0.5 + 0.5 * erf(0.70710678 * d2)
    %15 = arith.mulf %c2, %10 : f32
    %16 = math.erf %15 : f32
    %17 = arith.mulf %c3, %16 : f32
    %18 = arith.addf %c3, %17 : f32
    // discounted = k * exp(-0.02 * t)
    %19 = arith.mulf %c4, %2 : f32
    %20 = math.exp %19 : f32
    %21 = arith.mulf %1, %20 : f32
    // c = s * p1 - discounted * p2
    %22 = arith.mulf %0, %14 : f32
    %23 = arith.mulf %21, %18 : f32
    %24 = arith.subf %22, %23 : f32
    // call[i] = c
    affine.store %24, %call[%i] : memref<?xf32>
    // put[i] = c - s + discounted
    %25 = arith.subf %24, %0 : f32
    %26 = arith.addf %25, %21 : f32
    affine.store %26, %put[%i] : memref<?xf32>
  }
  return
}
