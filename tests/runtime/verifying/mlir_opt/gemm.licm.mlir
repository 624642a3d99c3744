module {
  func.func @gemm(%arg0: index, %arg1: index, %arg2: index, %arg3: f64, %arg4: f64, %arg5: memref<?x?xf64>, %arg6: memref<?x?xf64>, %arg7: memref<?x?xf64>) {
    affine.for %arg8 = 0 to %arg0 {
      affine.for %arg9 = 0 to %arg1 {
        %0 = affine.load %arg5[%arg8, %arg9] : memref<?x?xf64>
        %1 = arith.mulf %0, %arg4 : f64
        affine.store %1, %arg5[%arg8, %arg9] : memref<?x?xf64>
      }
      affine.for %arg9 = 0 to %arg2 {
        %0 = affine.load %arg6[%arg8, %arg9] : memref<?x?xf64>
        %1 = arith.mulf %arg3, %0 : f64
        affine.for %arg10 = 0 to %arg1 {
          %2 = affine.load %arg5[%arg8, %arg10] : memref<?x?xf64>
          %3 = affine.load %arg7[%arg9, %arg10] : memref<?x?xf64>
          %4 = arith.mulf %1, %3 : f64
          %5 = arith.addf %2, %4 : f64
          affine.store %5, %arg5[%arg8, %arg10] : memref<?x?xf64>
        }
      }
    }
    return
  }
}

