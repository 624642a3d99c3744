// RUN: loopwright-opt %s --split-input-file --parsing-diagnostics --verify-diagnostics | filecheck %s --match-full-lines

func.func @f(%A: memref<?xf64>, %n: index) {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i * %n] : memref<?xf64>
  }
  return
}
// CHECK:      {{.*}}errors.mlir:5:28: error: product of two variables is not affine
// CHECK-NEXT:     %0 = affine.load %A[%i * %n] : memref<?xf64>
// CHECK-NEXT:                            ^
// CHECK-NEXT: hint: one factor must be an integer constant; write a size that is known as one

// -----

func.func @f(%A: memref<?xf64>, %n: index) {
  affine.for %i = 0 to %n {
    affine.store %Q, %A[%i] : memref<?xf64>
  }
  return
}
// CHECK:      {{.*}}errors.mlir:18:18: error: value %Q is used, but not defined
// CHECK-NEXT:     affine.store %Q, %A[%i] : memref<?xf64>
// CHECK-NEXT:                  ^

// -----

func.func @f() {
  foo.bar
  return
}
// CHECK:      {{.*}}errors.mlir:29:3: error: unknown operation 'foo.bar'
// CHECK-NEXT:   foo.bar
// CHECK-NEXT:   ^
// CHECK-NEXT: hint: the dialects are {{.*}}

// -----

func.func @f(%A: memref<8xf64>) {
  affine.for %i = 0 to 8 step 0 {
  }
  return
}
// CHECK:      {{.*}}errors.mlir:40:31: error: expected a positive 64-bit integer as step

// -----

func.func @f(%A: memref<8xf64>) {
  affine.for %i = 0 to 8 {
    affine.store %A, %A[%i] : memref<8xf64>
  }
  return
}
// CHECK:      {{.*}}errors.mlir:50:18: error: operand is used with type f64, but has been previously used or defined with type memref<8xf64>
