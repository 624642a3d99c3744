#map = affine_map<(d0) -> (d0 + 1)>
#map1 = affine_map<(d0)[s0] -> (d0 + ((-d0 + s0 - 1) floordiv 4) * 4 + 1)>
#map2 = affine_map<(d0) -> (d0 + 2)>
#map3 = affine_map<(d0) -> (d0 + 3)>
module {
  func.func @trmm(%arg0: index, %arg1: index, %arg2: f64, %arg3: memref<?x?xf64>, %arg4: memref<?x?xf64>) {
    affine.for %arg5 = 0 to %arg0 {
      affine.for %arg6 = 0 to %arg1 {
        affine.for %arg7 = #map(%arg5) to #map1(%arg5)[%arg0] step 4 {
          %2 = affine.load %arg4[%arg5, %arg6] : memref<?x?xf64>
          %3 = affine.load %arg3[%arg7, %arg5] : memref<?x?xf64>
          %4 = affine.load %arg4[%arg7, %arg6] : memref<?x?xf64>
          %5 = arith.mulf %3, %4 : f64
          %6 = arith.addf %2, %5 : f64
          affine.store %6, %arg4[%arg5, %arg6] : memref<?x?xf64>
          %7 = affine.apply #map(%arg7)
          %8 = affine.load %arg4[%arg5, %arg6] : memref<?x?xf64>
          %9 = affine.load %arg3[%7, %arg5] : memref<?x?xf64>
          %10 = affine.load %arg4[%7, %arg6] : memref<?x?xf64>
          %11 = arith.mulf %9, %10 : f64
          %12 = arith.addf %8, %11 : f64
          affine.store %12, %arg4[%arg5, %arg6] : memref<?x?xf64>
          %13 = affine.apply #map2(%arg7)
          %14 = affine.load %arg4[%arg5, %arg6] : memref<?x?xf64>
          %15 = affine.load %arg3[%13, %arg5] : memref<?x?xf64>
          %16 = affine.load %arg4[%13, %arg6] : memref<?x?xf64>
          %17 = arith.mulf %15, %16 : f64
          %18 = arith.addf %14, %17 : f64
          affine.store %18, %arg4[%arg5, %arg6] : memref<?x?xf64>
          %19 = affine.apply #map3(%arg7)
          %20 = affine.load %arg4[%arg5, %arg6] : memref<?x?xf64>
          %21 = affine.load %arg3[%19, %arg5] : memref<?x?xf64>
          %22 = affine.load %arg4[%19, %arg6] : memref<?x?xf64>
          %23 = arith.mulf %21, %22 : f64
          %24 = arith.addf %20, %23 : f64
          affine.store %24, %arg4[%arg5, %arg6] : memref<?x?xf64>
        }
        affine.for %arg7 = #map1(%arg5)[%arg0] to %arg0 {
          %2 = affine.load %arg4[%arg5, %arg6] : memref<?x?xf64>
          %3 = affine.load %arg3[%arg7, %arg5] : memref<?x?xf64>
          %4 = affine.load %arg4[%arg7, %arg6] : memref<?x?xf64>
          %5 = arith.mulf %3, %4 : f64
          %6 = arith.addf %2, %5 : f64
          affine.store %6, %arg4[%arg5, %arg6] : memref<?x?xf64>
        }
        %0 = affine.load %arg4[%arg5, %arg6] : memref<?x?xf64>
        %1 = arith.mulf %arg2, %0 : f64
        affine.store %1, %arg4[%arg5, %arg6] : memref<?x?xf64>
      }
    }
    return
  }
}

