// A 7 x 7 convolution of every channel with a filter of its own, as in ConvNeXt: nothing is added
// up beyond the borders of an image.
func.func @conv2d_depthwise_same(%channels: index, %height: index, %width: index,
                                 %src: memref<?x?x?xf32>, %weights: memref<?x7x7xf32>,
                                 %bias: memref<?xf32>, %dst: memref<?x?x?xf32>) {
  affine.for %c = 0 to %channels {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to %width {
        %0 = affine.load %bias[%c] : memref<?xf32>
        affine.store %0, %dst[%c, %y, %x] : memref<?x?x?xf32>
        affine.for %ky = 0 to 7 {
          affine.for %kx = 0 to 7 {
            affine.if affine_set<(y, x, ky, kx)[h, w] : (y + ky - 3 >= 0, h + 2 - y - ky >= 0,
                x + kx - 3 >= 0, w + 2 - x - kx >= 0)>(%y, %x, %ky, %kx)[%height, %width] {
              // dst[c, y, x] += src[c, y + ky - 3, x + kx - 3] * weights[c, ky, kx]
              %1 = affine.load %dst[%c, %y, %x] : memref<?x?x?xf32>
              %2 = affine.load %src[%c, %y + %ky - 3, %x + %kx - 3] : memref<?x?x?xf32>
              %3 = affine.load %weights[%c, %ky, %kx] : memref<?x7x7xf32>
              %4 = arith.mulf %2, %3 : f32
              %5 = arith.addf %1, %4 : f32
              affine.store %5, %dst[%c, %y, %x] : memref<?x?x?xf32>
            }
          }
        }
      }
    }
  }
  return
}
