// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

// A stencil as C front ends print it, with local variables and several functions.

#map = affine_map<()[s0] -> (s0 - 1)>
#map1 = affine_map<(d0) -> (d0 + 1)>
#set = affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 - 2 >= 0)>
module attributes {llvm.target_triple = "x86_64-unknown-linux-gnu"} {
  func.func @stencil(%arg0: i32, %arg1: i32, %arg2: memref<?x1300xf64>, %arg3: memref<?x1300xf64>) attributes {llvm.linkage = #llvm.linkage<external>} {
    %cst = arith.constant 2.000000e-01 : f64
    %0 = arith.index_cast %arg1 : i32 to index
    %1 = arith.index_cast %arg0 : i32 to index
    affine.for %arg4 = 0 to %1 {
      affine.for %arg5 = 1 to #map()[%0] {
        affine.for %arg6 = 1 to #map()[%0] {
          %2 = affine.load %arg2[%arg5, %arg6] : memref<?x1300xf64>
          %3 = affine.load %arg2[%arg5, %arg6 - 1] : memref<?x1300xf64>
          %4 = arith.addf %2, %3 : f64
          %5 = affine.load %arg2[%arg5 + 1, symbol(%0) - %arg6] : memref<?x1300xf64>
          %6 = arith.addf %4, %5 : f64
          %7 = arith.mulf %6, %cst : f64
          affine.store %7, %arg3[%arg5, %arg6] : memref<?x1300xf64>
        }
      }
      affine.for %arg5 = 0 to %0 {
        affine.for %arg6 = 0 to #map1(%arg5) {
          affine.if #set(%arg6)[%0] {
            func.call @copy(%arg2, %arg3, %arg1) : (memref<?x1300xf64>, memref<?x1300xf64>, i32) -> ()
          }
        }
      }
    }
    return
  }
  func.func private @copy(%arg0: memref<?x1300xf64>, %arg1: memref<?x1300xf64>, %arg2: i32) attributes {llvm.linkage = #llvm.linkage<internal>} {
    %0 = llvm.mlir.undef : f64
    %alloca = memref.alloca() : memref<1xf64>
    affine.store %0, %alloca[0] : memref<1xf64>
    %1 = arith.index_cast %arg2 : i32 to index
    affine.for %arg3 = 0 to %1 {
      %2 = affine.load %arg0[%arg3, 0] : memref<?x1300xf64>
      %3 = math.sqrt %2 : f64
      affine.store %3, %alloca[0] : memref<1xf64>
      %4 = affine.load %alloca[0] : memref<1xf64>
      affine.store %4, %arg1[%arg3, 0] : memref<?x1300xf64>
    }
    return
  }
}

// CHECK:      func.func @stencil(
// CHECK:          affine.for %arg5 = 1 to affine_map<()[s0] -> (s0 - 1)>()[%0] {
// CHECK:              %5 = affine.load %arg2[%arg5 + 1, symbol(%0) - %arg6] : memref<?x1300xf64>
// CHECK:            affine.for %arg6{{.*}} = 0 to affine_map<(d0) -> (d0 + 1)>(%arg5{{.*}}) {
// CHECK-NEXT:         affine.if affine_set<(d0)[s0] : (d0 - 1 >= 0, -d0 + s0 - 2 >= 0)>(%arg6{{.*}})[%0] {
// CHECK-NEXT:           func.call @copy(%arg2, %arg3, %arg1) : (memref<?x1300xf64>, memref<?x1300xf64>, i32) -> ()
// CHECK:      func.func private @copy(%arg0: memref<?x1300xf64>, %arg1: memref<?x1300xf64>, %arg2: i32) attributes {llvm.linkage = #llvm.linkage<"internal">} {
// CHECK-NEXT:   %0 = llvm.mlir.undef : f64
// CHECK-NEXT:   %alloca = memref.alloca() : memref<1xf64>
// CHECK-NEXT:   affine.store %0, %alloca[0] : memref<1xf64>
// CHECK:          %3 = math.sqrt %2 : f64
