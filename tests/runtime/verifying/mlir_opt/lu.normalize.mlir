#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0)[s0] -> (-d0 + s0)>
#map2 = affine_map<(d0, d1) -> (d0 + d1)>
module {
  func.func @lu(%arg0: index, %arg1: memref<?x?xf64>) {
    affine.for %arg2 = 0 to %arg0 {
      affine.for %arg3 = 0 to #map(%arg2) {
        affine.for %arg4 = 0 to #map(%arg3) {
          %3 = affine.load %arg1[%arg2, %arg3] : memref<?x?xf64>
          %4 = affine.load %arg1[%arg2, %arg4] : memref<?x?xf64>
          %5 = affine.load %arg1[%arg4, %arg3] : memref<?x?xf64>
          %6 = arith.mulf %4, %5 : f64
          %7 = arith.subf %3, %6 : f64
          affine.store %7, %arg1[%arg2, %arg3] : memref<?x?xf64>
        }
        %0 = affine.load %arg1[%arg2, %arg3] : memref<?x?xf64>
        %1 = affine.load %arg1[%arg3, %arg3] : memref<?x?xf64>
        %2 = arith.divf %0, %1 : f64
        affine.store %2, %arg1[%arg2, %arg3] : memref<?x?xf64>
      }
      affine.for %arg3 = 0 to #map1(%arg2)[%arg0] {
        %0 = affine.apply #map2(%arg2, %arg3)
        affine.for %arg4 = 0 to #map(%arg2) {
          %1 = affine.load %arg1[%arg2, %0] : memref<?x?xf64>
          %2 = affine.load %arg1[%arg2, %arg4] : memref<?x?xf64>
          %3 = affine.load %arg1[%arg4, %0] : memref<?x?xf64>
          %4 = arith.mulf %2, %3 : f64
          %5 = arith.subf %1, %4 : f64
          affine.store %5, %arg1[%arg2, %0] : memref<?x?xf64>
        }
      }
    }
    return
  }
}

