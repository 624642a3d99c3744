#map = affine_map<()[s0] -> ((s0 floordiv 4) * 4)>
#map1 = affine_map<(d0) -> (d0 + 1)>
#map2 = affine_map<(d0) -> (d0 + 2)>
#map3 = affine_map<(d0) -> (d0 + 3)>
module {
  func.func @gesummv(%arg0: index, %arg1: f64, %arg2: f64, %arg3: memref<?x?xf64>, %arg4: memref<?x?xf64>, %arg5: memref<?xf64>, %arg6: memref<?xf64>, %arg7: memref<?xf64>) {
    %cst = arith.constant 0.000000e+00 : f64
    affine.for %arg8 = 0 to %arg0 {
      affine.store %cst, %arg5[%arg8] : memref<?xf64>
      affine.store %cst, %arg7[%arg8] : memref<?xf64>
      affine.for %arg9 = 0 to #map()[%arg0] step 4 {
        %5 = affine.load %arg3[%arg8, %arg9] : memref<?x?xf64>
        %6 = affine.load %arg6[%arg9] : memref<?xf64>
        %7 = arith.mulf %5, %6 : f64
        %8 = affine.load %arg5[%arg8] : memref<?xf64>
        %9 = arith.addf %7, %8 : f64
        affine.store %9, %arg5[%arg8] : memref<?xf64>
        %10 = affine.load %arg4[%arg8, %arg9] : memref<?x?xf64>
        %11 = affine.load %arg6[%arg9] : memref<?xf64>
        %12 = arith.mulf %10, %11 : f64
        %13 = affine.load %arg7[%arg8] : memref<?xf64>
        %14 = arith.addf %12, %13 : f64
        affine.store %14, %arg7[%arg8] : memref<?xf64>
        %15 = affine.apply #map1(%arg9)
        %16 = affine.load %arg3[%arg8, %15] : memref<?x?xf64>
        %17 = affine.load %arg6[%15] : memref<?xf64>
        %18 = arith.mulf %16, %17 : f64
        %19 = affine.load %arg5[%arg8] : memref<?xf64>
        %20 = arith.addf %18, %19 : f64
        affine.store %20, %arg5[%arg8] : memref<?xf64>
        %21 = affine.load %arg4[%arg8, %15] : memref<?x?xf64>
        %22 = affine.load %arg6[%15] : memref<?xf64>
        %23 = arith.mulf %21, %22 : f64
        %24 = affine.load %arg7[%arg8] : memref<?xf64>
        %25 = arith.addf %23, %24 : f64
        affine.store %25, %arg7[%arg8] : memref<?xf64>
        %26 = affine.apply #map2(%arg9)
        %27 = affine.load %arg3[%arg8, %26] : memref<?x?xf64>
        %28 = affine.load %arg6[%26] : memref<?xf64>
        %29 = arith.mulf %27, %28 : f64
        %30 = affine.load %arg5[%arg8] : memref<?xf64>
        %31 = arith.addf %29, %30 : f64
        affine.store %31, %arg5[%arg8] : memref<?xf64>
        %32 = affine.load %arg4[%arg8, %26] : memref<?x?xf64>
        %33 = affine.load %arg6[%26] : memref<?xf64>
        %34 = arith.mulf %32, %33 : f64
        %35 = affine.load %arg7[%arg8] : memref<?xf64>
        %36 = arith.addf %34, %35 : f64
        affine.store %36, %arg7[%arg8] : memref<?xf64>
        %37 = affine.apply #map3(%arg9)
        %38 = affine.load %arg3[%arg8, %37] : memref<?x?xf64>
        %39 = affine.load %arg6[%37] : memref<?xf64>
        %40 = arith.mulf %38, %39 : f64
        %41 = affine.load %arg5[%arg8] : memref<?xf64>
        %42 = arith.addf %40, %41 : f64
        affine.store %42, %arg5[%arg8] : memref<?xf64>
        %43 = affine.load %arg4[%arg8, %37] : memref<?x?xf64>
        %44 = affine.load %arg6[%37] : memref<?xf64>
        %45 = arith.mulf %43, %44 : f64
        %46 = affine.load %arg7[%arg8] : memref<?xf64>
        %47 = arith.addf %45, %46 : f64
        affine.store %47, %arg7[%arg8] : memref<?xf64>
      }
      affine.for %arg9 = #map()[%arg0] to %arg0 {
        %5 = affine.load %arg3[%arg8, %arg9] : memref<?x?xf64>
        %6 = affine.load %arg6[%arg9] : memref<?xf64>
        %7 = arith.mulf %5, %6 : f64
        %8 = affine.load %arg5[%arg8] : memref<?xf64>
        %9 = arith.addf %7, %8 : f64
        affine.store %9, %arg5[%arg8] : memref<?xf64>
        %10 = affine.load %arg4[%arg8, %arg9] : memref<?x?xf64>
        %11 = affine.load %arg6[%arg9] : memref<?xf64>
        %12 = arith.mulf %10, %11 : f64
        %13 = affine.load %arg7[%arg8] : memref<?xf64>
        %14 = arith.addf %12, %13 : f64
        affine.store %14, %arg7[%arg8] : memref<?xf64>
      }
      %0 = affine.load %arg5[%arg8] : memref<?xf64>
      %1 = arith.mulf %arg1, %0 : f64
      %2 = affine.load %arg7[%arg8] : memref<?xf64>
      %3 = arith.mulf %arg2, %2 : f64
      %4 = arith.addf %1, %3 : f64
      affine.store %4, %arg7[%arg8] : memref<?xf64>
    }
    return
  }
}

