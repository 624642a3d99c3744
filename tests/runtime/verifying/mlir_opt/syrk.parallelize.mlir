module {
  func.func @syrk(%arg0: index, %arg1: index, %arg2: f64, %arg3: f64, %arg4: memref<?x?xf64>, %arg5: memref<?x?xf64>) {
    affine.parallel (%arg6) = (0) to (symbol(%arg0)) {
      affine.parallel (%arg7) = (0) to (%arg6 + 1) {
        %0 = affine.load %arg4[%arg6, %arg7] : memref<?x?xf64>
        %1 = arith.mulf %0, %arg3 : f64
        affine.store %1, %arg4[%arg6, %arg7] : memref<?x?xf64>
      }
      affine.for %arg7 = 0 to %arg1 {
        affine.parallel (%arg8) = (0) to (%arg6 + 1) {
          %0 = affine.load %arg4[%arg6, %arg8] : memref<?x?xf64>
          %1 = affine.load %arg5[%arg6, %arg7] : memref<?x?xf64>
          %2 = arith.mulf %arg2, %1 : f64
          %3 = affine.load %arg5[%arg8, %arg7] : memref<?x?xf64>
          %4 = arith.mulf %2, %3 : f64
          %5 = arith.addf %0, %4 : f64
          affine.store %5, %arg4[%arg6, %arg8] : memref<?x?xf64>
        }
      }
    }
    return
  }
}

