#map = affine_map<(d0) -> (d0)>
#map1 = affine_map<(d0)[s0] -> (d0 + 4, s0)>
module {
  func.func @symm(%arg0: index, %arg1: index, %arg2: f64, %arg3: f64, %arg4: memref<?x?xf64>, %arg5: memref<?x?xf64>, %arg6: memref<?x?xf64>) {
    %cst = arith.constant 0.000000e+00 : f64
    affine.for %arg7 = 0 to %arg0 step 4 {
      affine.for %arg8 = 0 to %arg1 step 4 {
        affine.for %arg9 = #map(%arg7) to min #map1(%arg7)[%arg0] {
          affine.for %arg10 = #map(%arg8) to min #map1(%arg8)[%arg1] {
            %alloca = memref.alloca() : memref<f64>
            affine.store %cst, %alloca[] : memref<f64>
            affine.for %arg11 = 0 to #map(%arg9) {
              %10 = affine.load %arg4[%arg11, %arg10] : memref<?x?xf64>
              %11 = affine.load %arg6[%arg9, %arg10] : memref<?x?xf64>
              %12 = arith.mulf %arg2, %11 : f64
              %13 = affine.load %arg5[%arg9, %arg11] : memref<?x?xf64>
              %14 = arith.mulf %12, %13 : f64
              %15 = arith.addf %10, %14 : f64
              affine.store %15, %arg4[%arg11, %arg10] : memref<?x?xf64>
              %16 = affine.load %alloca[] : memref<f64>
              %17 = affine.load %arg6[%arg11, %arg10] : memref<?x?xf64>
              %18 = affine.load %arg5[%arg9, %arg11] : memref<?x?xf64>
              %19 = arith.mulf %17, %18 : f64
              %20 = arith.addf %16, %19 : f64
              affine.store %20, %alloca[] : memref<f64>
            }
            %0 = affine.load %arg4[%arg9, %arg10] : memref<?x?xf64>
            %1 = arith.mulf %arg3, %0 : f64
            %2 = affine.load %arg6[%arg9, %arg10] : memref<?x?xf64>
            %3 = arith.mulf %arg2, %2 : f64
            %4 = affine.load %arg5[%arg9, %arg9] : memref<?x?xf64>
            %5 = arith.mulf %3, %4 : f64
            %6 = arith.addf %1, %5 : f64
            %7 = affine.load %alloca[] : memref<f64>
            %8 = arith.mulf %arg2, %7 : f64
            %9 = arith.addf %6, %8 : f64
            affine.store %9, %arg4[%arg9, %arg10] : memref<?x?xf64>
          }
        }
      }
    }
    return
  }
}

