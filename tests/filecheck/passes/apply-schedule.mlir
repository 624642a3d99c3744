// RUN: loopwright-opt %s -p 'apply-schedule{sizes=n:64}' | filecheck %s
// RUN: loopwright-opt %s -p 'apply-schedule{sizes=n:64}' | loopwright-opt | filecheck %s

func.func @scale(%n: index, %A: memref<?x64xf64>, %x: f64) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to 64 {
      %0 = affine.load %A[%i, %j] : memref<?x64xf64>
      %1 = arith.mulf %0, %x : f64
      affine.store %1, %A[%i, %j] : memref<?x64xf64>
    }
  }
  return
}

schedule.sequence @scale {
  %i, %j = schedule.loops "i", "j"
  schedule.interchange %j, %i
  %jt = schedule.tile %j by [16]
  schedule.parallel %jt
}

// CHECK:      func.func @scale(%n: index, %A: memref<?x64xf64>, %x: f64) {
// CHECK-NEXT:   affine.parallel (%jt) = (0) to (4) {
// CHECK-NEXT:     affine.for %j =
// CHECK-NEXT:       affine.for %i = 0 to 64 {
// CHECK-NEXT:         %0 = affine.load %A[%i, %j] : memref<?x64xf64>
// CHECK-NOT:  schedule.sequence
