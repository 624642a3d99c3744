// RUN: loopwright-opt %s > %t.once && loopwright-opt %t.once > %t.twice
// RUN: diff %t.once %t.twice && filecheck %s --input-file %t.once

// CHECK-LABEL: func.func @accesses
func.func @accesses(%A: memref<?x1300xf64>, %B: memref<f64>, %C: memref<100xi32>, %n: index, %k: i32) {
  %0 = arith.index_cast %k : i32 to index
  affine.for %i = 0 to %n {
    // Whatever is not said to be a symbol is a dimension.
    // CHECK: %1 = affine.load %A[%i, %n - 1] : memref<?x1300xf64>
    %1 = affine.load %A[%i, %n - 1] : memref<?x1300xf64>
    // CHECK-NEXT: %2 = affine.load %A[%i + symbol(%n), symbol(%0)] {tag = "x"} : memref<?x1300xf64>
    %2 = affine.load %A[%i + symbol(%n), symbol(%0)] {tag = "x"} : memref<?x1300xf64>
    // CHECK-NEXT: affine.store %1, %B[] : memref<f64>
    affine.store %1, %B[] : memref<f64>
    // CHECK-NEXT: affine.store %2, %A[0, 1299] {tag} : memref<?x1300xf64>
    affine.store %2, %A[0, 1299] {tag} : memref<?x1300xf64>
    // CHECK-NEXT: %3 = affine.vector_load %A[%i, 8] {tag} : memref<?x1300xf64>, vector<8xf64>
    %3 = affine.vector_load %A[%i, 8] {tag} : memref<?x1300xf64>, vector<8xf64>
    // CHECK-NEXT: affine.vector_store %3, %A[%i, %0 * 8] {tag} : memref<?x1300xf64>, vector<8xf64>
    affine.vector_store %3, %A[%i, 8 * %0] {tag} : memref<?x1300xf64>, vector<8xf64>
    // CHECK-NEXT: affine.prefetch %A[%i, %i + 5], read, locality<3>, data : memref<?x1300xf64>
    affine.prefetch %A[%i, %i + 5], read, locality<3>, data : memref<?x1300xf64>
    // CHECK-NEXT: affine.prefetch %A[%i, 0], write, locality<0>, instr {tag} : memref<?x1300xf64>
    affine.prefetch %A[%i, 0], write, locality<0>, instr {tag} : memref<?x1300xf64>
    %4:2 = affine.delinearize_index %i into (4, 5) : index, index
    // CHECK: %[[#]] = affine.load %C[%{{.*}} + %{{.*}} * 4] : memref<100xi32>
    %5 = affine.load %C[%4#1 + 4 * %4#0] : memref<100xi32>
  }
  return
}

// CHECK-LABEL: func.func @expressions
func.func @expressions(%C: memref<?xi32>, %i: index, %j: index) {
  // CHECK-NEXT: affine.load %C[%i - %j] : memref<?xi32>
  %0 = affine.load %C[%i - %j] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[-%i + 7] : memref<?xi32>
  %1 = affine.load %C[7 - %i] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[%i * 6 - %j * 3 - 4] : memref<?xi32>
  %2 = affine.load %C[2 * %i * 3 + %j * -3 - 4] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[(%i + %j) floordiv 2 + %j ceildiv 3] : memref<?xi32>
  %3 = affine.load %C[(%i + %j) floordiv 2 + %j ceildiv 3] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[((%i floordiv 5) * 7) mod 4] : memref<?xi32>
  %4 = affine.load %C[%i floordiv 5 * 7 mod 4] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[%i - (%i mod 4) * 3] : memref<?xi32>
  %5 = affine.load %C[%i - 3 * (%i mod 4)] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[-(%i mod 4)] : memref<?xi32>
  %6 = affine.load %C[-(%i mod 4)] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[(-%i) floordiv 4] : memref<?xi32>
  %7 = affine.load %C[-%i floordiv 4] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[%i + (%j + %i)] : memref<?xi32>
  %8 = affine.load %C[%i + (%j + %i)] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[%i * 2 - %j * 2 + 2] : memref<?xi32>
  %9 = affine.load %C[(%i - %j + 1) * 2] : memref<?xi32>
  // CHECK-NEXT: affine.load %C[3] : memref<?xi32>
  %10 = affine.load %C[(7 mod 4) + 7 floordiv 4 - 1 ceildiv 2] : memref<?xi32>
  return
}
