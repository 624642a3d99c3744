// Binarises an image, then keeps the pixels whose 3 x 3 neighbours are all set.
func.func @erosion(%height: index, %width: index, %threshold: i32, %src: memref<?x?xi32>,
                   %mask: memref<?x?xi32>, %dst: memref<?x?xi32>) {
  %zero = arith.constant 0 : i32
  %full = arith.constant 255 : i32
  affine.for %i = 0 to %height {
    affine.for %j = 0 to %width {
      %0 = affine.load %src[%i, %j] : memref<?x?xi32>
      %1 = arith.cmpi sgt, %0, %threshold : i32
      %2 = arith.select %1, %full, %zero : i32
      affine.store %2, %mask[%i, %j] : memref<?x?xi32>
      affine.store %zero, %dst[%i, %j] : memref<?x?xi32>
    }
  }
  affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
      %least = affine.for %u = -1 to 2 iter_args(%row = %full) -> (i32) {
        %inner = affine.for %v = -1 to 2 iter_args(%pixel = %row) -> (i32) {
          %3 = affine.load %mask[%i + %u, %j + %v] : memref<?x?xi32>
          %4 = arith.minsi %pixel, %3 : i32
          affine.yield %4 : i32
        }
        affine.yield %inner : i32
      }
      affine.store %least, %dst[%i, %j] : memref<?x?xi32>
    }
  }
  return
}
