#map = affine_map<(d0) -> (d0)>
module {
  func.func @durbin(%arg0: index, %arg1: memref<?xf64>, %arg2: memref<?xf64>) {
    %cst = arith.constant 1.000000e+00 : f64
    %cst_0 = arith.constant 0.000000e+00 : f64
    %alloc = memref.alloc(%arg0) : memref<?xf64>
    %alloca = memref.alloca() : memref<f64>
    %alloca_1 = memref.alloca() : memref<f64>
    %0 = affine.load %arg1[0] : memref<?xf64>
    %1 = arith.negf %0 : f64
    affine.store %1, %arg2[0] : memref<?xf64>
    affine.store %cst, %alloca_1[] : memref<f64>
    %2 = affine.load %arg1[0] : memref<?xf64>
    %3 = arith.negf %2 : f64
    affine.store %3, %alloca[] : memref<f64>
    affine.for %arg3 = 1 to %arg0 {
      %alloca_2 = memref.alloca() : memref<f64>
      %4 = affine.load %alloca[] : memref<f64>
      %5 = arith.mulf %4, %4 : f64
      %6 = arith.subf %cst, %5 : f64
      %7 = affine.load %alloca_1[] : memref<f64>
      %8 = arith.mulf %6, %7 : f64
      affine.store %8, %alloca_1[] : memref<f64>
      affine.store %cst_0, %alloca_2[] : memref<f64>
      affine.for %arg4 = 0 to #map(%arg3) {
        %14 = affine.load %alloca_2[] : memref<f64>
        %15 = affine.load %arg1[%arg3 - %arg4 - 1] : memref<?xf64>
        %16 = affine.load %arg2[%arg4] : memref<?xf64>
        %17 = arith.mulf %15, %16 : f64
        %18 = arith.addf %14, %17 : f64
        affine.store %18, %alloca_2[] : memref<f64>
      }
      %9 = affine.load %arg1[%arg3] : memref<?xf64>
      %10 = affine.load %alloca_2[] : memref<f64>
      %11 = arith.addf %9, %10 : f64
      %12 = arith.negf %11 : f64
      %13 = arith.divf %12, %8 : f64
      affine.store %13, %alloca[] : memref<f64>
      affine.for %arg4 = 0 to #map(%arg3) {
        %14 = affine.load %arg2[%arg4] : memref<?xf64>
        %15 = affine.load %arg2[%arg3 - %arg4 - 1] : memref<?xf64>
        %16 = arith.mulf %13, %15 : f64
        %17 = arith.addf %14, %16 : f64
        affine.store %17, %alloc[%arg4] : memref<?xf64>
      }
      affine.for %arg4 = 0 to #map(%arg3) {
        %14 = affine.load %alloc[%arg4] : memref<?xf64>
        affine.store %14, %arg2[%arg4] : memref<?xf64>
      }
      affine.store %13, %arg2[%arg3] : memref<?xf64>
    }
    memref.dealloc %alloc : memref<?xf64>
    return
  }
}

