// Normalisation of channels with given statistics, and rectification.
func.func @batch_norm_relu(%batch: index, %channels: index, %pixels: index, %x: memref<?x?x?xf32>,
                           %mean: memref<?xf32>, %variance: memref<?xf32>, %gamma: memref<?xf32>,
                           %beta: memref<?xf32>, %y: memref<?x?x?xf32>) {
  %c0 = arith.constant 1.0e-05 : f32
  %c1 = arith.constant 0.0 : f32
  affine.for %n = 0 to %batch {
    affine.for %c = 0 to %channels {
      affine.for %p = 0 to %pixels {
        // scale = gamma[c] / sqrt(variance[c] + 1e-05)
        %0 = affine.load %gamma[%c] : memref<?xf32>
        %1 = affine.load %variance[%c] : memref<?xf32>
        %2 = arith.addf %1, %c0 : f32
        %3 = math.sqrt %2 : f32
        %4 = arith.divf %0, %3 : f32
        // y[n, c, p] = max((x[n, c, p] - mean[c]) * scale + beta[c], 0.0)
        %5 = affine.load %x[%n, %c, %p] : memref<?x?x?xf32>
        %6 = affine.load %mean[%c] : memref<?xf32>
        %7 = arith.subf %5, %6 : f32
        %8 = arith.mulf %7, %4 : f32
        %9 = affine.load %beta[%c] : memref<?xf32>
        %10 = arith.addf %8, %9 : f32
        %11 = arith.maximumf %10, %c1 : f32
        affine.store %11, %y[%n, %c, %p] : memref<?x?x?xf32>
      }
    }
  }
  return
}
