#map = affine_map<()[s0] -> (s0 - 1)>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0)[s0] -> (d0 + 4, s0)>
#map3 = affine_map<(d0)[s0] -> (d0 + 4, s0 - 1)>
module {
  func.func @seidel_2d(%arg0: index, %arg1: index, %arg2: memref<?x?xf64>) {
    %cst = arith.constant 9.000000e+00 : f64
    affine.for %arg3 = 0 to %arg0 step 4 {
      affine.for %arg4 = 1 to #map()[%arg1] step 4 {
        affine.for %arg5 = 1 to #map()[%arg1] step 4 {
          affine.for %arg6 = #map1(%arg3) to min #map2(%arg3)[%arg0] {
            affine.for %arg7 = #map1(%arg4) to min #map3(%arg4)[%arg1] {
              affine.for %arg8 = #map1(%arg5) to min #map3(%arg5)[%arg1] {
                %0 = affine.load %arg2[%arg7 - 1, %arg8 - 1] : memref<?x?xf64>
                %1 = affine.load %arg2[%arg7 - 1, %arg8] : memref<?x?xf64>
                %2 = arith.addf %0, %1 : f64
                %3 = affine.load %arg2[%arg7 - 1, %arg8 + 1] : memref<?x?xf64>
                %4 = arith.addf %2, %3 : f64
                %5 = affine.load %arg2[%arg7, %arg8 - 1] : memref<?x?xf64>
                %6 = arith.addf %4, %5 : f64
                %7 = affine.load %arg2[%arg7, %arg8] : memref<?x?xf64>
                %8 = arith.addf %6, %7 : f64
                %9 = affine.load %arg2[%arg7, %arg8 + 1] : memref<?x?xf64>
                %10 = arith.addf %8, %9 : f64
                %11 = affine.load %arg2[%arg7 + 1, %arg8 - 1] : memref<?x?xf64>
                %12 = arith.addf %10, %11 : f64
                %13 = affine.load %arg2[%arg7 + 1, %arg8] : memref<?x?xf64>
                %14 = arith.addf %12, %13 : f64
                %15 = affine.load %arg2[%arg7 + 1, %arg8 + 1] : memref<?x?xf64>
                %16 = arith.addf %14, %15 : f64
                %17 = arith.divf %16, %cst : f64
                affine.store %17, %arg2[%arg7, %arg8] : memref<?x?xf64>
              }
            }
          }
        }
      }
    }
    return
  }
}

