// A 3 x 3 convolution and its rectification on a small image with many channels, sums in
// registers.
func.func @conv2d_deep(%features_out: index, %features_in: index, %height: index, %width: index,
                       %src: memref<?x?x?xf32>, %weights: memref<?x?x3x3xf32>,
                       %bias: memref<?xf32>, %dst: memref<?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %f = 0 to %features_out {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to %width {
        // sum = bias[f]
        %0 = affine.load %bias[%f] : memref<?xf32>
        %sum_1 = affine.for %c = 0 to %features_in iter_args(%sum = %0) -> (f32) {
          %sum_3 = affine.for %ky = 0 to 3 iter_args(%sum_2 = %sum) -> (f32) {
            %sum_5 = affine.for %kx = 0 to 3 iter_args(%sum_4 = %sum_2) -> (f32) {
              // sum = sum + src[c, y + ky, x + kx] * weights[f, c, ky, kx]
              %1 = affine.load %src[%c, %y + %ky, %x + %kx] : memref<?x?x?xf32>
              %2 = affine.load %weights[%f, %c, %ky, %kx] : memref<?x?x3x3xf32>
              %3 = arith.mulf %1, %2 : f32
              %4 = arith.addf %sum_4, %3 : f32
              affine.yield %4 : f32
            }
            affine.yield %sum_5 : f32
          }
          affine.yield %sum_3 : f32
        }
        // dst[f, y, x] = max(sum, 0.0)
        %5 = arith.maximumf %sum_1, %c0 : f32
        affine.store %5, %dst[%f, %y, %x] : memref<?x?x?xf32>
      }
    }
  }
  return
}
