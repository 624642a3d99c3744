// A two-dimensional correlation with a K x K filter; the image is padded by its caller.
func.func @filter2d(%height: index, %width: index, %k: index, %src: memref<?x?xf32>,
                    %weights: memref<?x?xf32>, %dst: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to %height {
    affine.for %j = 0 to %width {
      affine.store %zero, %dst[%i, %j] : memref<?x?xf32>
      affine.for %u = 0 to %k {
        affine.for %v = 0 to %k {
          %0 = affine.load %dst[%i, %j] : memref<?x?xf32>
          %1 = affine.load %src[%i + %u, %j + %v] : memref<?x?xf32>
          %2 = affine.load %weights[%u, %v] : memref<?x?xf32>
          %3 = arith.mulf %1, %2 : f32
          %4 = arith.addf %0, %3 : f32
          affine.store %4, %dst[%i, %j] : memref<?x?xf32>
        }
      }
    }
  }
  return
}
