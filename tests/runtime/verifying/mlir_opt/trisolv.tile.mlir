#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0)[s0] -> (d0 + 4, s0)>
module {
  func.func @trisolv(%arg0: index, %arg1: memref<?x?xf64>, %arg2: memref<?xf64>, %arg3: memref<?xf64>) {
    affine.for %arg4 = 0 to %arg0 step 4 {
      affine.for %arg5 = #map(%arg4) to min #map1(%arg4)[%arg0] {
        %0 = affine.load %arg3[%arg5] : memref<?xf64>
        affine.store %0, %arg2[%arg5] : memref<?xf64>
        affine.for %arg6 = 0 to #map(%arg5) {
          %4 = affine.load %arg2[%arg5] : memref<?xf64>
          %5 = affine.load %arg1[%arg5, %arg6] : memref<?x?xf64>
          %6 = affine.load %arg2[%arg6] : memref<?xf64>
          %7 = arith.mulf %5, %6 : f64
          %8 = arith.subf %4, %7 : f64
          affine.store %8, %arg2[%arg5] : memref<?xf64>
        }
        %1 = affine.load %arg2[%arg5] : memref<?xf64>
        %2 = affine.load %arg1[%arg5, %arg5] : memref<?x?xf64>
        %3 = arith.divf %1, %2 : f64
        affine.store %3, %arg2[%arg5] : memref<?xf64>
      }
    }
    return
  }
}

