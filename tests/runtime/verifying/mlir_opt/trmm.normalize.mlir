#map = affine_map<(d0)[s0] -> (-d0 + s0 - 1)>
#map1 = affine_map<(d0, d1) -> (d0 + d1 + 1)>
module {
  func.func @trmm(%arg0: index, %arg1: index, %arg2: f64, %arg3: memref<?x?xf64>, %arg4: memref<?x?xf64>) {
    affine.for %arg5 = 0 to %arg0 {
      affine.for %arg6 = 0 to %arg1 {
        affine.for %arg7 = 0 to #map(%arg5)[%arg0] {
          %2 = affine.apply #map1(%arg5, %arg7)
          %3 = affine.load %arg4[%arg5, %arg6] : memref<?x?xf64>
          %4 = affine.load %arg3[%2, %arg5] : memref<?x?xf64>
          %5 = affine.load %arg4[%2, %arg6] : memref<?x?xf64>
          %6 = arith.mulf %4, %5 : f64
          %7 = arith.addf %3, %6 : f64
          affine.store %7, %arg4[%arg5, %arg6] : memref<?x?xf64>
        }
        %0 = affine.load %arg4[%arg5, %arg6] : memref<?x?xf64>
        %1 = arith.mulf %arg2, %0 : f64
        affine.store %1, %arg4[%arg5, %arg6] : memref<?x?xf64>
      }
    }
    return
  }
}

