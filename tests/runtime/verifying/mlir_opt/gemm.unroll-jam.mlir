#map = affine_map<()[s0] -> ((s0 floordiv 4) * 4)>
#map1 = affine_map<(d0) -> (d0 + 1)>
#map2 = affine_map<(d0) -> (d0 + 2)>
#map3 = affine_map<(d0) -> (d0 + 3)>
module {
  func.func @gemm(%arg0: index, %arg1: index, %arg2: index, %arg3: f64, %arg4: f64, %arg5: memref<?x?xf64>, %arg6: memref<?x?xf64>, %arg7: memref<?x?xf64>) {
    affine.for %arg8 = 0 to #map()[%arg0] step 4 {
      affine.for %arg9 = 0 to %arg1 {
        %0 = affine.load %arg5[%arg8, %arg9] : memref<?x?xf64>
        %1 = arith.mulf %0, %arg4 : f64
        affine.store %1, %arg5[%arg8, %arg9] : memref<?x?xf64>
        %2 = affine.apply #map1(%arg8)
        %3 = affine.load %arg5[%2, %arg9] : memref<?x?xf64>
        %4 = arith.mulf %3, %arg4 : f64
        affine.store %4, %arg5[%2, %arg9] : memref<?x?xf64>
        %5 = affine.apply #map2(%arg8)
        %6 = affine.load %arg5[%5, %arg9] : memref<?x?xf64>
        %7 = arith.mulf %6, %arg4 : f64
        affine.store %7, %arg5[%5, %arg9] : memref<?x?xf64>
        %8 = affine.apply #map3(%arg8)
        %9 = affine.load %arg5[%8, %arg9] : memref<?x?xf64>
        %10 = arith.mulf %9, %arg4 : f64
        affine.store %10, %arg5[%8, %arg9] : memref<?x?xf64>
      }
      affine.for %arg9 = 0 to %arg2 {
        affine.for %arg10 = 0 to %arg1 {
          %0 = affine.load %arg5[%arg8, %arg10] : memref<?x?xf64>
          %1 = affine.load %arg6[%arg8, %arg9] : memref<?x?xf64>
          %2 = arith.mulf %arg3, %1 : f64
          %3 = affine.load %arg7[%arg9, %arg10] : memref<?x?xf64>
          %4 = arith.mulf %2, %3 : f64
          %5 = arith.addf %0, %4 : f64
          affine.store %5, %arg5[%arg8, %arg10] : memref<?x?xf64>
          %6 = affine.apply #map1(%arg8)
          %7 = affine.load %arg5[%6, %arg10] : memref<?x?xf64>
          %8 = affine.load %arg6[%6, %arg9] : memref<?x?xf64>
          %9 = arith.mulf %arg3, %8 : f64
          %10 = affine.load %arg7[%arg9, %arg10] : memref<?x?xf64>
          %11 = arith.mulf %9, %10 : f64
          %12 = arith.addf %7, %11 : f64
          affine.store %12, %arg5[%6, %arg10] : memref<?x?xf64>
          %13 = affine.apply #map2(%arg8)
          %14 = affine.load %arg5[%13, %arg10] : memref<?x?xf64>
          %15 = affine.load %arg6[%13, %arg9] : memref<?x?xf64>
          %16 = arith.mulf %arg3, %15 : f64
          %17 = affine.load %arg7[%arg9, %arg10] : memref<?x?xf64>
          %18 = arith.mulf %16, %17 : f64
          %19 = arith.addf %14, %18 : f64
          affine.store %19, %arg5[%13, %arg10] : memref<?x?xf64>
          %20 = affine.apply #map3(%arg8)
          %21 = affine.load %arg5[%20, %arg10] : memref<?x?xf64>
          %22 = affine.load %arg6[%20, %arg9] : memref<?x?xf64>
          %23 = arith.mulf %arg3, %22 : f64
          %24 = affine.load %arg7[%arg9, %arg10] : memref<?x?xf64>
          %25 = arith.mulf %23, %24 : f64
          %26 = arith.addf %21, %25 : f64
          affine.store %26, %arg5[%20, %arg10] : memref<?x?xf64>
        }
      }
    }
    affine.for %arg8 = #map()[%arg0] to %arg0 {
      affine.for %arg9 = 0 to %arg1 {
        %0 = affine.load %arg5[%arg8, %arg9] : memref<?x?xf64>
        %1 = arith.mulf %0, %arg4 : f64
        affine.store %1, %arg5[%arg8, %arg9] : memref<?x?xf64>
      }
      affine.for %arg9 = 0 to %arg2 {
        affine.for %arg10 = 0 to %arg1 {
          %0 = affine.load %arg5[%arg8, %arg10] : memref<?x?xf64>
          %1 = affine.load %arg6[%arg8, %arg9] : memref<?x?xf64>
          %2 = arith.mulf %arg3, %1 : f64
          %3 = affine.load %arg7[%arg9, %arg10] : memref<?x?xf64>
          %4 = arith.mulf %2, %3 : f64
          %5 = arith.addf %0, %4 : f64
          affine.store %5, %arg5[%arg8, %arg10] : memref<?x?xf64>
        }
      }
    }
    return
  }
}

