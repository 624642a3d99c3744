// A 3 x 3 convolution of every channel with a filter of its own, limited to 0 ... 6, as in
// MobileNet.
func.func @conv2d_depthwise(%channels: index, %height: index, %width: index,
                            %src: memref<?x?x?xf32>, %weights: memref<?x3x3xf32>,
                            %dst: memref<?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  %c1 = arith.constant 6.0 : f32
  affine.for %c = 0 to %channels {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to %width {
        %sum_1 = affine.for %ky = 0 to 3 iter_args(%sum = %c0) -> (f32) {
          %sum_3 = affine.for %kx = 0 to 3 iter_args(%sum_2 = %sum) -> (f32) {
            // sum = sum + src[c, y + ky, x + kx] * weights[c, ky, kx]
            %0 = affine.load %src[%c, %y + %ky, %x + %kx] : memref<?x?x?xf32>
            %1 = affine.load %weights[%c, %ky, %kx] : memref<?x3x3xf32>
            %2 = arith.mulf %0, %1 : f32
            %3 = arith.addf %sum_2, %2 : f32
            affine.yield %3 : f32
          }
          affine.yield %sum_3 : f32
        }
        // dst[c, y, x] = min(max(sum, 0.0), 6.0)
        %4 = arith.maximumf %sum_1, %c0 : f32
        %5 = arith.minimumf %4, %c1 : f32
        affine.store %5, %dst[%c, %y, %x] : memref<?x?x?xf32>
      }
    }
  }
  return
}
