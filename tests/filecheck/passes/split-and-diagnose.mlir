// RUN: loopwright-opt %s --split-input-file --verify-diagnostics -p 'parallel{loops=i}' | filecheck %s

func.func @sum(%n: index, %x: memref<?xf64>, %s: memref<f64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf64>
    %1 = affine.load %s[] : memref<f64>
    %2 = arith.addf %0, %1 : f64
    affine.store %2, %s[] : memref<f64>
  }
  return
}
// CHECK: parallel of i is illegal: the flow dependence from S0 to S0 on s is violated: S0[i=0] must run before S0[i=1], but they would run in different iterations of the parallel loop i (with n=2)

// -----

func.func @copy(%n: index, %x: memref<?xf64>, %y: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf64>
    affine.store %0, %y[%i] : memref<?xf64>
  }
  return
}
// CHECK: schedule.parallel %i

// -----

func.func @no_loop() {
  func.return %nothing : f64
}
// CHECK: split-and-diagnose.mlir:28:15: error: value %nothing is used, but not defined
