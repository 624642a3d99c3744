// Tridiagonal systems by Thomas's algorithm, the same equation of all systems in a row.
func.func @tridiagonal_columns(%batch: index, %n: index, %lower: memref<?x?xf64>,
                               %diagonal: memref<?x?xf64>, %upper: memref<?x?xf64>,
                               %gamma: memref<?x?xf64>, %x: memref<?x?xf64>) {
  %c0 = arith.constant 1.0 : f64
  affine.for %b = 0 to %batch {
    // gamma[0, b] = upper[0, b] / diagonal[0, b]
    %0 = affine.load %upper[0, %b] : memref<?x?xf64>
    %1 = affine.load %diagonal[0, %b] : memref<?x?xf64>
    %2 = arith.divf %0, %1 : f64
    affine.store %2, %gamma[0, %b] : memref<?x?xf64>
    // x[0, b] = x[0, b] / diagonal[0, b]
    %3 = affine.load %x[0, %b] : memref<?x?xf64>
    %4 = affine.load %diagonal[0, %b] : memref<?x?xf64>
    %5 = arith.divf %3, %4 : f64
    affine.store %5, %x[0, %b] : memref<?x?xf64>
  }
  affine.for %i = 1 to %n {
    affine.for %b = 0 to %batch {
      // scale = 1.0 / (diagonal[i, b] - lower[i, b] * gamma[i - 1, b])
      %6 = affine.load %diagonal[%i, %b] : memref<?x?xf64>
      %7 = affine.load %lower[%i, %b] : memref<?x?xf64>
      %8 = affine.load %gamma[%i - 1, %b] : memref<?x?xf64>
      %9 = arith.mulf %7, %8 : f64
      %10 = arith.subf %6, %9 : f64
      %11 = arith.divf %c0, %10 : f64
      // gamma[i, b] = upper[i, b] * scale
      %12 = affine.load %upper[%i, %b] : memref<?x?xf64>
      %13 = arith.mulf %12, %11 : f64
      affine.store %13, %gamma[%i, %b] : memref<?x?xf64>
      // x[i, b] = (x[i, b] - lower[i, b] * x[i - 1, b]) * scale
      %14 = affine.load %x[%i, %b] : memref<?x?xf64>
      %15 = affine.load %lower[%i, %b] : memref<?x?xf64>
      %16 = affine.load %x[%i - 1, %b] : memref<?x?xf64>
      %17 = arith.mulf %15, %16 : f64
      %18 = arith.subf %14, %17 : f64
      %19 = arith.mulf %18, %11 : f64
      affine.store %19, %x[%i, %b] : memref<?x?xf64>
    }
  }
  affine.for %i = 1 to %n {
    affine.for %b = 0 to %batch {
      // x[n - i - 1, b] = x[n - i - 1, b] - gamma[n - i - 1, b] * x[n - i, b]
      %20 = affine.load %x[symbol(%n) - %i - 1, %b] : memref<?x?xf64>
      %21 = affine.load %gamma[symbol(%n) - %i - 1, %b] : memref<?x?xf64>
      %22 = affine.load %x[symbol(%n) - %i, %b] : memref<?x?xf64>
      %23 = arith.mulf %21, %22 : f64
      %24 = arith.subf %20, %23 : f64
      affine.store %24, %x[symbol(%n) - %i - 1, %b] : memref<?x?xf64>
    }
  }
  return
}
