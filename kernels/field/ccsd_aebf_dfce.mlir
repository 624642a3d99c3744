// A contraction of coupled-cluster theory: C[abcd] = A[aebf] * B[dfce].
func.func @ccsd_aebf_dfce(%a_size: index, %b_size: index, %c_size: index, %d_size: index,
                          %e_size: index, %f_size: index, %A: memref<?x?x?x?xf64>,
                          %B: memref<?x?x?x?xf64>, %C: memref<?x?x?x?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %a = 0 to %a_size {
    affine.for %b = 0 to %b_size {
      affine.for %c = 0 to %c_size {
        affine.for %d = 0 to %d_size {
          // C[a, b, c, d] = 0.0
          affine.store %c0, %C[%a, %b, %c, %d] : memref<?x?x?x?xf64>
          affine.for %e = 0 to %e_size {
            affine.for %f = 0 to %f_size {
              // C[a, b, c, d] += A[a, e, b, f] * B[d, f, c, e]
              %0 = affine.load %C[%a, %b, %c, %d] : memref<?x?x?x?xf64>
              %1 = affine.load %A[%a, %e, %b, %f] : memref<?x?x?x?xf64>
              %2 = affine.load %B[%d, %f, %c, %e] : memref<?x?x?x?xf64>
              %3 = arith.mulf %1, %2 : f64
              %4 = arith.addf %0, %3 : f64
              affine.store %4, %C[%a, %b, %c, %d] : memref<?x?x?x?xf64>
            }
          }
        }
      }
    }
  }
  return
}
