// The sums of all pixels above and to the left: along rows, then down the columns.
func.func @integral_image(%rows: index, %columns: index, %image: memref<?x?xi8>,
                          %sums: memref<?x?xi32>) {
  %c0 = arith.constant 0 : i32
  affine.for %i = 0 to %rows {
    %sum_1 = affine.for %j = 0 to %columns iter_args(%sum = %c0) -> (i32) {
      // sum = sum + u32(image[i, j])
      %0 = affine.load %image[%i, %j] : memref<?x?xi8>
      %1 = arith.extui %0 : i8 to i32
      %2 = arith.addi %sum, %1 : i32
      // sums[i, j] = sum
      affine.store %2, %sums[%i, %j] : memref<?x?xi32>
      affine.yield %2 : i32
    }
  }
  affine.for %r = 1 to %rows {
    affine.for %k = 0 to %columns {
      // sums[r, k] += sums[r - 1, k]
      %3 = affine.load %sums[%r, %k] : memref<?x?xi32>
      %4 = affine.load %sums[%r - 1, %k] : memref<?x?xi32>
      %5 = arith.addi %3, %4 : i32
      affine.store %5, %sums[%r, %k] : memref<?x?xi32>
    }
  }
  return
}
