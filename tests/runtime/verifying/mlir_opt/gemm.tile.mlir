#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0)[s0] -> (d0 + 4, s0)>
module {
  func.func @gemm(%arg0: index, %arg1: index, %arg2: index, %arg3: f64, %arg4: f64, %arg5: memref<?x?xf64>, %arg6: memref<?x?xf64>, %arg7: memref<?x?xf64>) {
    affine.for %arg8 = 0 to %arg0 step 4 {
      affine.for %arg9 = #map(%arg8) to min #map1(%arg8)[%arg0] {
        affine.for %arg10 = 0 to %arg1 {
          %0 = affine.load %arg5[%arg9, %arg10] : memref<?x?xf64>
          %1 = arith.mulf %0, %arg4 : f64
          affine.store %1, %arg5[%arg9, %arg10] : memref<?x?xf64>
        }
        affine.for %arg10 = 0 to %arg2 {
          affine.for %arg11 = 0 to %arg1 {
            %0 = affine.load %arg5[%arg9, %arg11] : memref<?x?xf64>
            %1 = affine.load %arg6[%arg9, %arg10] : memref<?x?xf64>
            %2 = arith.mulf %arg3, %1 : f64
            %3 = affine.load %arg7[%arg10, %arg11] : memref<?x?xf64>
            %4 = arith.mulf %2, %3 : f64
            %5 = arith.addf %0, %4 : f64
            affine.store %5, %arg5[%arg9, %arg11] : memref<?x?xf64>
          }
        }
      }
    }
    return
  }
}

