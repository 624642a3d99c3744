// Rows resampled from two to three pixels, with four taps for each of three phases.
func.func @resample_3_to_2(%height: index, %width: index, %src: memref<?x?xf32>,
                           %weights: memref<3x4xf32>, %dst: memref<?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %y = 0 to %height {
    affine.for %x = 0 to %width {
      affine.for %p = 0 to 3 {
        %sum_1 = affine.for %k = 0 to 4 iter_args(%sum = %c0) -> (f32) {
          // sum = sum + weights[p, k] * src[y, 2 * x + k]
          %0 = affine.load %weights[%p, %k] : memref<3x4xf32>
          %1 = affine.load %src[%y, 2 * %x + %k] : memref<?x?xf32>
          %2 = arith.mulf %0, %1 : f32
          %3 = arith.addf %sum, %2 : f32
          affine.yield %3 : f32
        }
        // dst[y, 3 * x + p] = sum
        affine.store %sum_1, %dst[%y, 3 * %x + %p] : memref<?x?xf32>
      }
    }
  }
  return
}
