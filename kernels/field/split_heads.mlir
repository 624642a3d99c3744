// The features of tokens dealt out to attention heads, each head transposed.
func.func @split_heads(%tokens: index, %heads: index, %features: index, %src: memref<?x?x?xf32>,
                       %dst: memref<?x?x?xf32>) {
  affine.for %t = 0 to %tokens {
    affine.for %h = 0 to %heads {
      affine.for %d = 0 to %features {
        // dst[h, d, t] = src[t, h, d]
        %0 = affine.load %src[%t, %h, %d] : memref<?x?x?xf32>
        affine.store %0, %dst[%h, %d, %t] : memref<?x?x?xf32>
      }
    }
  }
  return
}
