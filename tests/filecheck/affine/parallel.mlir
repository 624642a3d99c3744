// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

// CHECK-LABEL: func.func @parallel
func.func @parallel(%n: index, %m: index, %A: memref<?x?xf32>) {
  // CHECK-NEXT: affine.parallel () = () to () {
  // CHECK-NEXT: }
  affine.parallel () = () to () {
  }
  // CHECK-NEXT: affine.parallel (%i, %j) = (0, 0) to (symbol(%n), 100) step (10, 1) {
  affine.parallel (%i, %j) = (0, 0) to (symbol(%n), 100) step (10, 1) {
    // CHECK-NEXT: affine.parallel (%k, %l) = (%i, max(%j - 2, symbol(%m), 0)) to (min(%i + 10, %n), %j + symbol(%n) * 2) {
    affine.parallel (%k, %l) = (%i, max(%j - 2, symbol(%m), 0)) to (min(%i + 10, %n), %j + 2 * symbol(%n)) {
      %0 = affine.load %A[%k, %l] : memref<?x?xf32>
      affine.store %0, %A[%l, %k] : memref<?x?xf32>
    }
  } {schedule = "dynamic"}
  // CHECK: } {schedule = "dynamic"}
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: f32, %y: i32) -> f32 {
  // CHECK-NEXT: %0, %1 = affine.parallel (%i) = (0) to (8) step (2) reduce ("addf", "maxs") -> (f32, i32) {
  %0:2 = affine.parallel (%i) = (0) to (8) step (2) reduce ("addf", "maxs") -> (f32, i32) {
    // CHECK-NEXT: affine.yield %x, %y : f32, i32
    affine.yield %x, %y : f32, i32
  } {tag}
  // CHECK-NEXT: } {tag}
  // CHECK-NEXT: %2 = affine.parallel (%i_1) = (0) to (8) reduce ("mulf") -> (f32) {
  %1 = affine.parallel (%i) = (0) to (8) reduce ("mulf") -> f32 {
    affine.yield %x : f32
  }
  return %1 : f32
}
