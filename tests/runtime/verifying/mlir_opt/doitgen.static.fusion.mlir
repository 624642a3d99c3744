module {
  func.func @doitgen(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<10x8x12xf64>, %arg4: memref<12x12xf64>, %arg5: memref<12xf64>) {
    %c12 = arith.constant 12 : index
    %c8 = arith.constant 8 : index
    %c10 = arith.constant 10 : index
    %cst = arith.constant 0.000000e+00 : f64
    affine.for %arg6 = 0 to %c10 {
      affine.for %arg7 = 0 to %c8 {
        affine.for %arg8 = 0 to %c12 {
          affine.store %cst, %arg5[%arg8] : memref<12xf64>
          affine.for %arg9 = 0 to 12 {
            %1 = affine.load %arg5[%arg8] : memref<12xf64>
            %2 = affine.load %arg3[%arg6, %arg7, %arg9] : memref<10x8x12xf64>
            %3 = affine.load %arg4[%arg9, %arg8] : memref<12x12xf64>
            %4 = arith.mulf %2, %3 : f64
            %5 = arith.addf %1, %4 : f64
            affine.store %5, %arg5[%arg8] : memref<12xf64>
          }
          %0 = affine.load %arg5[%arg8] : memref<12xf64>
          affine.store %0, %arg3[%arg6, %arg7, %arg8] : memref<10x8x12xf64>
        }
      }
    }
    return
  }
}

