#map = affine_map<()[s0] -> ((s0 floordiv 4) * 4)>
#map1 = affine_map<(d0) -> (d0 + 1)>
#map2 = affine_map<(d0) -> (d0 + 2)>
#map3 = affine_map<(d0) -> (d0 + 3)>
module {
  func.func @doitgen(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<?x?x?xf64>, %arg4: memref<?x?xf64>, %arg5: memref<?xf64>) {
    %cst = arith.constant 0.000000e+00 : f64
    affine.for %arg6 = 0 to %arg0 {
      affine.for %arg7 = 0 to %arg1 {
        affine.for %arg8 = 0 to %arg2 {
          affine.store %cst, %arg5[%arg8] : memref<?xf64>
          affine.for %arg9 = 0 to #map()[%arg2] step 4 {
            %0 = affine.load %arg5[%arg8] : memref<?xf64>
            %1 = affine.load %arg3[%arg6, %arg7, %arg9] : memref<?x?x?xf64>
            %2 = affine.load %arg4[%arg9, %arg8] : memref<?x?xf64>
            %3 = arith.mulf %1, %2 : f64
            %4 = arith.addf %0, %3 : f64
            affine.store %4, %arg5[%arg8] : memref<?xf64>
            %5 = affine.apply #map1(%arg9)
            %6 = affine.load %arg5[%arg8] : memref<?xf64>
            %7 = affine.load %arg3[%arg6, %arg7, %5] : memref<?x?x?xf64>
            %8 = affine.load %arg4[%5, %arg8] : memref<?x?xf64>
            %9 = arith.mulf %7, %8 : f64
            %10 = arith.addf %6, %9 : f64
            affine.store %10, %arg5[%arg8] : memref<?xf64>
            %11 = affine.apply #map2(%arg9)
            %12 = affine.load %arg5[%arg8] : memref<?xf64>
            %13 = affine.load %arg3[%arg6, %arg7, %11] : memref<?x?x?xf64>
            %14 = affine.load %arg4[%11, %arg8] : memref<?x?xf64>
            %15 = arith.mulf %13, %14 : f64
            %16 = arith.addf %12, %15 : f64
            affine.store %16, %arg5[%arg8] : memref<?xf64>
            %17 = affine.apply #map3(%arg9)
            %18 = affine.load %arg5[%arg8] : memref<?xf64>
            %19 = affine.load %arg3[%arg6, %arg7, %17] : memref<?x?x?xf64>
            %20 = affine.load %arg4[%17, %arg8] : memref<?x?xf64>
            %21 = arith.mulf %19, %20 : f64
            %22 = arith.addf %18, %21 : f64
            affine.store %22, %arg5[%arg8] : memref<?xf64>
          }
          affine.for %arg9 = #map()[%arg2] to %arg2 {
            %0 = affine.load %arg5[%arg8] : memref<?xf64>
            %1 = affine.load %arg3[%arg6, %arg7, %arg9] : memref<?x?x?xf64>
            %2 = affine.load %arg4[%arg9, %arg8] : memref<?x?xf64>
            %3 = arith.mulf %1, %2 : f64
            %4 = arith.addf %0, %3 : f64
            affine.store %4, %arg5[%arg8] : memref<?xf64>
          }
        }
        affine.for %arg8 = 0 to #map()[%arg2] step 4 {
          %0 = affine.load %arg5[%arg8] : memref<?xf64>
          affine.store %0, %arg3[%arg6, %arg7, %arg8] : memref<?x?x?xf64>
          %1 = affine.apply #map1(%arg8)
          %2 = affine.load %arg5[%1] : memref<?xf64>
          affine.store %2, %arg3[%arg6, %arg7, %1] : memref<?x?x?xf64>
          %3 = affine.apply #map2(%arg8)
          %4 = affine.load %arg5[%3] : memref<?xf64>
          affine.store %4, %arg3[%arg6, %arg7, %3] : memref<?x?x?xf64>
          %5 = affine.apply #map3(%arg8)
          %6 = affine.load %arg5[%5] : memref<?xf64>
          affine.store %6, %arg3[%arg6, %arg7, %5] : memref<?x?x?xf64>
        }
        affine.for %arg8 = #map()[%arg2] to %arg2 {
          %0 = affine.load %arg5[%arg8] : memref<?xf64>
          affine.store %0, %arg3[%arg6, %arg7, %arg8] : memref<?x?x?xf64>
        }
      }
    }
    return
  }
}

