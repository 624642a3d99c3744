// Tridiagonal systems by Thomas's algorithm, each system in a row.
func.func @tridiagonal_rows(%batch: index, %n: index, %lower: memref<?x?xf64>,
                            %diagonal: memref<?x?xf64>, %upper: memref<?x?xf64>,
                            %gamma: memref<?x?xf64>, %x: memref<?x?xf64>) {
  %c0 = arith.constant 1.0 : f64
  affine.for %b = 0 to %batch {
    // gamma[b, 0] = upper[b, 0] / diagonal[b, 0]
    %0 = affine.load %upper[%b, 0] : memref<?x?xf64>
    %1 = affine.load %diagonal[%b, 0] : memref<?x?xf64>
    %2 = arith.divf %0, %1 : f64
    affine.store %2, %gamma[%b, 0] : memref<?x?xf64>
    // x[b, 0] = x[b, 0] / diagonal[b, 0]
    %3 = affine.load %x[%b, 0] : memref<?x?xf64>
    %4 = affine.load %diagonal[%b, 0] : memref<?x?xf64>
    %5 = arith.divf %3, %4 : f64
    affine.store %5, %x[%b, 0] : memref<?x?xf64>
    affine.for %i = 1 to %n {
      // scale = 1.0 / (diagonal[b, i] - lower[b, i] * gamma[b, i - 1])
      %6 = affine.load %diagonal[%b, %i] : memref<?x?xf64>
      %7 = affine.load %lower[%b, %i] : memref<?x?xf64>
      %8 = affine.load %gamma[%b, %i - 1] : memref<?x?xf64>
      %9 = arith.mulf %7, %8 : f64
      %10 = arith.subf %6, %9 : f64
      %11 = arith.divf %c0, %10 : f64
      // gamma[b, i] = upper[b, i] * scale
      %12 = affine.load %upper[%b, %i] : memref<?x?xf64>
      %13 = arith.mulf %12, %11 : f64
      affine.store %13, %gamma[%b, %i] : memref<?x?xf64>
      // x[b, i] = (x[b, i] - lower[b, i] * x[b, i - 1]) * scale
      %14 = affine.load %x[%b, %i] : memref<?x?xf64>
      %15 = affine.load %lower[%b, %i] : memref<?x?xf64>
      %16 = affine.load %x[%b, %i - 1] : memref<?x?xf64>
      %17 = arith.mulf %15, %16 : f64
      %18 = arith.subf %14, %17 : f64
      %19 = arith.mulf %18, %11 : f64
      affine.store %19, %x[%b, %i] : memref<?x?xf64>
    }
    affine.for %i = 1 to %n {
      // x[b, n - i - 1] = x[b, n - i - 1] - gamma[b, n - i - 1] * x[b, n - i]
      %20 = affine.load %x[%b, symbol(%n) - %i - 1] : memref<?x?xf64>
      %21 = affine.load %gamma[%b, symbol(%n) - %i - 1] : memref<?x?xf64>
      %22 = affine.load %x[%b, symbol(%n) - %i] : memref<?x?xf64>
      %23 = arith.mulf %21, %22 : f64
      %24 = arith.subf %20, %23 : f64
      affine.store %24, %x[%b, symbol(%n) - %i - 1] : memref<?x?xf64>
    }
  }
  return
}
