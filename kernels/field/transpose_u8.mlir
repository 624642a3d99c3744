// A transposed matrix of bytes.
func.func @transpose_u8(%rows: index, %columns: index, %src: memref<?x?xi8>,
                        %dst: memref<?x?xi8>) {
  affine.for %i = 0 to %rows {
    affine.for %j = 0 to %columns {
      // dst[j, i] = src[i, j]
      %0 = affine.load %src[%i, %j] : memref<?x?xi8>
      affine.store %0, %dst[%j, %i] : memref<?x?xi8>
    }
  }
  return
}
