// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

#single = affine_map<(d0)[s0] -> (d0 + s0 - 1)>
#several = affine_map<(d0)[s0] -> (d0, s0 * 2, 7)>

// CHECK-LABEL: func.func @bounds
func.func @bounds(%n: index, %m: index) {
  // CHECK-NEXT: affine.for %i = 0 to 10 {
  // CHECK-NEXT: }
  affine.for %i = 0 to 10 {
  }
  // CHECK-NEXT: affine.for %i_1 = -5 to %n step 3 {
  // CHECK-NEXT: } {tag = "x", unit}
  affine.for %i = -5 to %n step 3 {
    affine.yield
  } {tag = "x", unit}
  // CHECK-NEXT: affine.for %i_2 = %n to %m {
  affine.for %i = %n to %m {
    // CHECK-NEXT: affine.for %j = affine_map<(d0)[s0] -> (d0 + s0 - 1)>(%i_2)[%n] to 7 {
    affine.for %j = #single(%i)[%n] to affine_map<() -> (7)>() {
      // The short form of a bound means a symbol; an induction variable is a dimension.
      // CHECK-NEXT: affine.for %k = affine_map<(d0) -> (d0)>(%j) to affine_map<(d0) -> (d0)>(%i_2) {
      affine.for %k = %j to %i {
      }
    }
  }
  // CHECK: affine.for %i_3 = max affine_map<(d0)[s0] -> (d0, s0 * 2, 7)>(%n)[%m] to min affine_map<(d0)[s0] -> (d0, s0 * 2, 7)>(%m)[%n] {
  affine.for %i = max #several(%n)[%m] to min #several(%m)[%n] {
  }
  // CHECK: affine.for %i_4 = affine_map<()[s0] -> (s0 floordiv 2)>()[%n] to affine_map<()[s0] -> (s0 ceildiv 2)>()[%n] {
  affine.for %i = max affine_map<()[s0] -> (s0 floordiv 2)>()[%n] to min affine_map<()[s0] -> (s0 ceildiv 2)>()[%n] {
  }
  return
}

// CHECK-LABEL: func.func @carried
func.func @carried(%n: index, %x: f64, %y: i32) -> f64 {
  // CHECK-NEXT: %0, %1 = affine.for %i = 0 to %n iter_args(%a = %x, %b = %y) -> (f64, i32) {
  %0:2 = affine.for %i = 0 to %n iter_args(%a = %x, %b = %y) -> (f64, i32) {
    // CHECK-NEXT: %2 = affine.for %j = 0 to 4 iter_args(%c = %a) -> (f64) {
    %1 = affine.for %j = 0 to 4 iter_args(%c = %a) -> f64 {
      // CHECK-NEXT: affine.yield %c : f64
      affine.yield %c : f64
    }
    // CHECK: affine.yield %2, %b : f64, i32
    affine.yield %1, %b : f64, i32
  } {tag}
  // CHECK: } {tag}
  // CHECK: func.return %0 : f64
  return %0#0 : f64
}

// A loop in generic form prints in the short one.
// CHECK-LABEL: func.func @generic
func.func @generic(%n: index) {
  // CHECK-NEXT: affine.for %i = 0 to %n step 2 {
  // CHECK-NEXT: }
  "affine.for"(%n) <{lowerBoundMap = affine_map<() -> (0)>, operandSegmentSizes = array<i32: 0, 1, 0>, step = 2 : index, upperBoundMap = affine_map<()[s0] -> (s0)>}> ({
  ^bb0(%i: index):
    "affine.yield"() : () -> ()
  }) : (index) -> ()
  return
}
