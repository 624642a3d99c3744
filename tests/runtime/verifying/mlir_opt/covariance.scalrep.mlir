#map = affine_map<(d0) -> (d0)>
module {
  func.func @covariance(%arg0: index, %arg1: index, %arg2: f64, %arg3: memref<?x?xf64>, %arg4: memref<?x?xf64>, %arg5: memref<?xf64>) {
    %cst = arith.constant 0.000000e+00 : f64
    %cst_0 = arith.constant 1.000000e+00 : f64
    affine.for %arg6 = 0 to %arg0 {
      affine.store %cst, %arg5[%arg6] : memref<?xf64>
      affine.for %arg7 = 0 to %arg1 {
        %2 = affine.load %arg5[%arg6] : memref<?xf64>
        %3 = affine.load %arg3[%arg7, %arg6] : memref<?x?xf64>
        %4 = arith.addf %2, %3 : f64
        affine.store %4, %arg5[%arg6] : memref<?xf64>
      }
      %0 = affine.load %arg5[%arg6] : memref<?xf64>
      %1 = arith.divf %0, %arg2 : f64
      affine.store %1, %arg5[%arg6] : memref<?xf64>
    }
    affine.for %arg6 = 0 to %arg1 {
      affine.for %arg7 = 0 to %arg0 {
        %0 = affine.load %arg3[%arg6, %arg7] : memref<?x?xf64>
        %1 = affine.load %arg5[%arg7] : memref<?xf64>
        %2 = arith.subf %0, %1 : f64
        affine.store %2, %arg3[%arg6, %arg7] : memref<?x?xf64>
      }
    }
    affine.for %arg6 = 0 to %arg0 {
      affine.for %arg7 = #map(%arg6) to %arg0 {
        affine.store %cst, %arg4[%arg6, %arg7] : memref<?x?xf64>
        affine.for %arg8 = 0 to %arg1 {
          %3 = affine.load %arg4[%arg6, %arg7] : memref<?x?xf64>
          %4 = affine.load %arg3[%arg8, %arg6] : memref<?x?xf64>
          %5 = affine.load %arg3[%arg8, %arg7] : memref<?x?xf64>
          %6 = arith.mulf %4, %5 : f64
          %7 = arith.addf %3, %6 : f64
          affine.store %7, %arg4[%arg6, %arg7] : memref<?x?xf64>
        }
        %0 = affine.load %arg4[%arg6, %arg7] : memref<?x?xf64>
        %1 = arith.subf %arg2, %cst_0 : f64
        %2 = arith.divf %0, %1 : f64
        affine.store %2, %arg4[%arg6, %arg7] : memref<?x?xf64>
        affine.store %2, %arg4[%arg7, %arg6] : memref<?x?xf64>
      }
    }
    return
  }
}

