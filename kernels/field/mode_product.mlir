// A tensor times a matrix along its last dimension, which becomes the second: C[abc] = A[acd] *
// B[db].
func.func @mode_product(%a_size: index, %b_size: index, %c_size: index, %d_size: index,
                        %A: memref<?x?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?x?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %a = 0 to %a_size {
    affine.for %b = 0 to %b_size {
      affine.for %c = 0 to %c_size {
        // C[a, b, c] = 0.0
        affine.store %c0, %C[%a, %b, %c] : memref<?x?x?xf64>
        affine.for %d = 0 to %d_size {
          // C[a, b, c] += A[a, c, d] * B[d, b]
          %0 = affine.load %C[%a, %b, %c] : memref<?x?x?xf64>
          %1 = affine.load %A[%a, %c, %d] : memref<?x?x?xf64>
          %2 = affine.load %B[%d, %b] : memref<?x?xf64>
          %3 = arith.mulf %1, %2 : f64
          %4 = arith.addf %0, %3 : f64
          affine.store %4, %C[%a, %b, %c] : memref<?x?x?xf64>
        }
      }
    }
  }
  return
}
