// A contraction of coupled-cluster triples to six indices: C[abcdef] = A[gdab] * B[efgc].
func.func @triples_gdab_efgc(%n: index, %A: memref<?x?x?x?xf32>, %B: memref<?x?x?x?xf32>,
                             %C: memref<?x?x?x?x?x?xf32>) {
  %c0 = arith.constant 0.0 : f32
  affine.for %a = 0 to %n {
    affine.for %b = 0 to %n {
      affine.for %c = 0 to %n {
        affine.for %d = 0 to %n {
          affine.for %e = 0 to %n {
            affine.for %f = 0 to %n {
              // C[a, b, c, d, e, f] = 0.0
              affine.store %c0, %C[%a, %b, %c, %d, %e, %f] : memref<?x?x?x?x?x?xf32>
              affine.for %g = 0 to %n {
                // C[a, b, c, d, e, f] += A[g, d, a, b] * B[e, f, g, c]
                %0 = affine.load %C[%a, %b, %c, %d, %e, %f] : memref<?x?x?x?x?x?xf32>
                %1 = affine.load %A[%g, %d, %a, %b] : memref<?x?x?x?xf32>
                %2 = affine.load %B[%e, %f, %g, %c] : memref<?x?x?x?xf32>
                %3 = arith.mulf %1, %2 : f32
                %4 = arith.addf %0, %3 : f32
                affine.store %4, %C[%a, %b, %c, %d, %e, %f] : memref<?x?x?x?x?x?xf32>
              }
            }
          }
        }
      }
    }
  }
  return
}
