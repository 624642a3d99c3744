// Two quarter transformations of two-electron integrals to molecular orbitals.
func.func @integral_transform(%n: index, %ints: memref<?x?x?x?xf64>, %orbitals: memref<?x?xf64>,
                              %half: memref<?x?x?x?xf64>, %full: memref<?x?x?x?xf64>) {
  %c0 = arith.constant 0.0 : f64
  affine.for %a = 0 to %n {
    affine.for %q = 0 to %n {
      affine.for %r = 0 to %n {
        affine.for %s = 0 to %n {
          // half[a, q, r, s] = 0.0
          affine.store %c0, %half[%a, %q, %r, %s] : memref<?x?x?x?xf64>
          affine.for %p = 0 to %n {
            // half[a, q, r, s] += orbitals[p, a] * ints[p, q, r, s]
            %0 = affine.load %half[%a, %q, %r, %s] : memref<?x?x?x?xf64>
            %1 = affine.load %orbitals[%p, %a] : memref<?x?xf64>
            %2 = affine.load %ints[%p, %q, %r, %s] : memref<?x?x?x?xf64>
            %3 = arith.mulf %1, %2 : f64
            %4 = arith.addf %0, %3 : f64
            affine.store %4, %half[%a, %q, %r, %s] : memref<?x?x?x?xf64>
          }
        }
      }
    }
  }
  affine.for %a = 0 to %n {
    affine.for %b = 0 to %n {
      affine.for %r = 0 to %n {
        affine.for %s = 0 to %n {
          // full[a, b, r, s] = 0.0
          affine.store %c0, %full[%a, %b, %r, %s] : memref<?x?x?x?xf64>
          affine.for %q = 0 to %n {
            // full[a, b, r, s] += orbitals[q, b] * half[a, q, r, s]
            %5 = affine.load %full[%a, %b, %r, %s] : memref<?x?x?x?xf64>
            %6 = affine.load %orbitals[%q, %b] : memref<?x?xf64>
            %7 = affine.load %half[%a, %q, %r, %s] : memref<?x?x?x?xf64>
            %8 = arith.mulf %6, %7 : f64
            %9 = arith.addf %5, %8 : f64
            affine.store %9, %full[%a, %b, %r, %s] : memref<?x?x?x?xf64>
          }
        }
      }
    }
  }
  return
}
