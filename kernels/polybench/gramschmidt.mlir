// The QR decomposition of A by the modified Gram-Schmidt process.
func.func @gramschmidt(%m: index, %n: index, %A: memref<?x?xf64>, %R: memref<?x?xf64>,
                       %Q: memref<?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %k = 0 to %n {
    %nrm = memref.alloca() : memref<f64>
    // nrm = 0.0
    affine.store %zero, %nrm[] : memref<f64>
    affine.for %i = 0 to %m {
      // nrm += A[i][k] * A[i][k]
      %0 = affine.load %nrm[] : memref<f64>
      %1 = affine.load %A[%i, %k] : memref<?x?xf64>
      %2 = arith.mulf %1, %1 : f64
      %3 = arith.addf %0, %2 : f64
      affine.store %3, %nrm[] : memref<f64>
    }
    // R[k][k] = sqrt(nrm)
    %4 = affine.load %nrm[] : memref<f64>
    %5 = math.sqrt %4 : f64
    affine.store %5, %R[%k, %k] : memref<?x?xf64>
    affine.for %i = 0 to %m {
      // Q[i][k] = A[i][k] / R[k][k]
      %6 = affine.load %A[%i, %k] : memref<?x?xf64>
      %7 = affine.load %R[%k, %k] : memref<?x?xf64>
      %8 = arith.divf %6, %7 : f64
      affine.store %8, %Q[%i, %k] : memref<?x?xf64>
    }
    affine.for %j = affine_map<(d0) -> (d0 + 1)>(%k) to %n {
      // R[k][j] = 0.0
      affine.store %zero, %R[%k, %j] : memref<?x?xf64>
      affine.for %i = 0 to %m {
        // R[k][j] += Q[i][k] * A[i][j]
        %9 = affine.load %R[%k, %j] : memref<?x?xf64>
        %10 = affine.load %Q[%i, %k] : memref<?x?xf64>
        %11 = affine.load %A[%i, %j] : memref<?x?xf64>
        %12 = arith.mulf %10, %11 : f64
        %13 = arith.addf %9, %12 : f64
        affine.store %13, %R[%k, %j] : memref<?x?xf64>
      }
      affine.for %i = 0 to %m {
        // A[i][j] = A[i][j] - Q[i][k] * R[k][j]
        %14 = affine.load %A[%i, %j] : memref<?x?xf64>
        %15 = affine.load %Q[%i, %k] : memref<?x?xf64>
        %16 = affine.load %R[%k, %j] : memref<?x?xf64>
        %17 = arith.mulf %15, %16 : f64
        %18 = arith.subf %14, %17 : f64
        affine.store %18, %A[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
