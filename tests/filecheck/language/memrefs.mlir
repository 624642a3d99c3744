// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

// CHECK:      memref.global "private" constant @table : memref<2xf64> = dense<[1.000000e+00, 2.000000e+00]> {alignment = 64 : i64}
memref.global "private" constant @table : memref<2xf64> = dense<[1.0, 2.0]> {alignment = 64}
// CHECK-NEXT: memref.global @zeros : memref<4x4xi32> = dense<0>
memref.global @zeros : memref<4x4xi32> = dense<0>
// CHECK-NEXT: memref.global @scratch : memref<f32> = uninitialized
memref.global @scratch : memref<f32> = uninitialized
// CHECK-NEXT: memref.global "private" @elsewhere : memref<8xf32>
memref.global "private" @elsewhere : memref<8xf32>

// CHECK-LABEL: func.func @memrefs
func.func @memrefs(%A: memref<?x1300xf64>, %n: index) {
  // CHECK-NEXT: %c0 = arith.constant 0 : index
  %c0 = arith.constant 0 : index
  // CHECK-NEXT: %0 = memref.alloc() : memref<10xf64>
  %0 = memref.alloc() : memref<10xf64>
  // CHECK-NEXT: %1 = memref.alloc(%n) {alignment = 64 : i64} : memref<?x10xf64>
  %1 = memref.alloc(%n) {alignment = 64 : i64} : memref<?x10xf64>
  // CHECK-NEXT: %2 = memref.alloca() : memref<f64>
  %2 = memref.alloca() : memref<f64>
  // CHECK-NEXT: %3 = memref.dim %A, %c0 : memref<?x1300xf64>
  %3 = memref.dim %A, %c0 : memref<?x1300xf64>
  // CHECK-NEXT: %4 = memref.load %A[%c0, %n] : memref<?x1300xf64>
  %4 = memref.load %A[%c0, %n] : memref<?x1300xf64>
  // CHECK-NEXT: memref.store %4, %2[] : memref<f64>
  memref.store %4, %2[] : memref<f64>
  // CHECK-NEXT: %5 = memref.cast %0 : memref<10xf64> to memref<?xf64>
  %5 = memref.cast %0 : memref<10xf64> to memref<?xf64>
  // CHECK-NEXT: memref.copy %5, %0 : memref<?xf64> to memref<10xf64>
  memref.copy %5, %0 : memref<?xf64> to memref<10xf64>
  // CHECK-NEXT: %6 = memref.get_global @table : memref<2xf64>
  %6 = memref.get_global @table : memref<2xf64>
  // CHECK-NEXT: memref.dealloc %1 : memref<?x10xf64>
  memref.dealloc %1 : memref<?x10xf64>
  return
}
