module {
  func.func @kernel_2mm(%arg0: index, %arg1: index, %arg2: index, %arg3: index, %arg4: f64, %arg5: f64, %arg6: memref<16x18xf64>, %arg7: memref<16x22xf64>, %arg8: memref<22x18xf64>, %arg9: memref<18x24xf64>, %arg10: memref<16x24xf64>) {
    %alloc = memref.alloc() : memref<1x1xf64>
    %c24 = arith.constant 24 : index
    %c22 = arith.constant 22 : index
    %c18 = arith.constant 18 : index
    %c16 = arith.constant 16 : index
    %cst = arith.constant 0.000000e+00 : f64
    affine.for %arg11 = 0 to %c16 {
      affine.for %arg12 = 0 to 18 {
        affine.store %cst, %arg6[%arg11, %arg12] : memref<16x18xf64>
        affine.for %arg13 = 0 to 22 {
          %0 = affine.load %arg6[%arg11, %arg12] : memref<16x18xf64>
          %1 = affine.load %arg7[%arg11, %arg13] : memref<16x22xf64>
          %2 = arith.mulf %arg4, %1 : f64
          %3 = affine.load %arg8[%arg13, %arg12] : memref<22x18xf64>
          %4 = arith.mulf %2, %3 : f64
          %5 = arith.addf %0, %4 : f64
          affine.store %5, %arg6[%arg11, %arg12] : memref<16x18xf64>
        }
      }
      affine.for %arg12 = 0 to %c24 {
        %0 = affine.load %arg10[%arg11, %arg12] : memref<16x24xf64>
        %1 = arith.mulf %0, %arg5 : f64
        affine.store %1, %arg10[%arg11, %arg12] : memref<16x24xf64>
        affine.for %arg13 = 0 to %c18 {
          affine.store %cst, %alloc[0, 0] : memref<1x1xf64>
          affine.for %arg14 = 0 to 22 {
            %7 = affine.load %alloc[0, 0] : memref<1x1xf64>
            %8 = affine.load %arg7[%arg11, %arg14] : memref<16x22xf64>
            %9 = arith.mulf %arg4, %8 : f64
            %10 = affine.load %arg8[%arg14, %arg13] : memref<22x18xf64>
            %11 = arith.mulf %9, %10 : f64
            %12 = arith.addf %7, %11 : f64
            affine.store %12, %alloc[0, 0] : memref<1x1xf64>
          }
          %2 = affine.load %arg10[%arg11, %arg12] : memref<16x24xf64>
          %3 = affine.load %alloc[0, 0] : memref<1x1xf64>
          %4 = affine.load %arg9[%arg13, %arg12] : memref<18x24xf64>
          %5 = arith.mulf %3, %4 : f64
          %6 = arith.addf %2, %5 : f64
          affine.store %6, %arg10[%arg11, %arg12] : memref<16x24xf64>
        }
      }
    }
    return
  }
}

