// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

#set = affine_set<(d0, d1)[s0] : (d0 - 10 >= 0, d0 + s0 <= 9, d1 mod 2 == 0, 2 * d0 >= d1 floordiv 3)>

// CHECK-LABEL: func.func @conditions
func.func @conditions(%n: index, %x: f64, %y: f32) -> f64 {
  // CHECK-NEXT: affine.if affine_set<() : ()>() {
  // CHECK-NEXT: }
  affine.if affine_set<() : ()>() {
  }
  // CHECK-NEXT: affine.if affine_set<()[s0] : (s0 - 1 == 0)>()[%n] {
  // CHECK-NEXT: } else {
  // CHECK-NEXT: } {tag = 1 : i32}
  affine.if affine_set<()[s0] : (s0 == 1)>()[%n] {
  } else {
  } {tag = 1 : i32}
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      // As in MLIR, constraints compare with 0, by >= or ==.
      // CHECK: affine.if affine_set<(d0, d1)[s0] : (d0 - 10 >= 0, -d0 - s0 + 9 >= 0, d1 mod 2 == 0, d0 * 2 - d1 floordiv 3 >= 0)>(%i, %j)[%n] {
      affine.if #set(%i, %j)[%n] {
        // CHECK-NEXT: %0, %1 = affine.if affine_set<(d0) : (d0 >= 0)>(%i) -> (f64, f32) {
        %0:2 = affine.if affine_set<(d0) : (d0 >= 0)>(%i) -> (f64, f32) {
          // CHECK-NEXT: affine.yield %x, %y : f64, f32
          affine.yield %x, %y : f64, f32
        } else {
          affine.yield %x, %y : f64, f32
        }
      }
    }
  }
  // CHECK: %2 = affine.if affine_set<() : ()>() -> f64 {
  %1 = affine.if affine_set<() : ()>() -> (f64) {
    affine.yield %x : f64
  } else {
    affine.yield %x : f64
  }
  // CHECK: func.return %2 : f64
  return %1 : f64
}
