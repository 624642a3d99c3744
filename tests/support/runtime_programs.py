"""Small programs that the tests of the runtime call."""

from __future__ import annotations

SAXPY = """
func.func @saxpy(%n: index, %alpha: f32, %x: memref<?xf32>, %y: memref<?xf32>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf32>
    %1 = affine.load %y[%i] : memref<?xf32>
    %2 = arith.mulf %alpha, %0 : f32
    %3 = arith.addf %2, %1 : f32
    affine.store %3, %y[%i] : memref<?xf32>
  }
  return
}
"""

GEMM = """
func.func @gemm(%ni: index, %nj: index, %nk: index, %C: memref<?x?xf64>, %A: memref<?x?xf64>,
                %B: memref<?x?xf64>) {
  affine.for %i = 0 to %ni {
    affine.for %j = 0 to %nj {
      affine.for %k = 0 to %nk {
        %0 = affine.load %C[%i, %j] : memref<?x?xf64>
        %1 = affine.load %A[%i, %k] : memref<?x?xf64>
        %2 = affine.load %B[%k, %j] : memref<?x?xf64>
        %3 = arith.mulf %1, %2 : f64
        %4 = arith.addf %0, %3 : f64
        affine.store %4, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""

FIXED = """
func.func @fixed(%A: memref<4x3xi32>, %out: memref<4x3xi32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 3 {
      %0 = affine.load %A[%i, %j] : memref<4x3xi32>
      %1 = arith.addi %0, %0 : i32
      affine.store %1, %out[%i, %j] : memref<4x3xi32>
    }
  }
  return
}
"""

DOT = """
func.func @dot(%n: index, %x: memref<?xf64>, %y: memref<?xf64>) -> f64 {
  %zero = arith.constant 0.0 : f64
  %sum = affine.for %i = 0 to %n iter_args(%partial = %zero) -> (f64) {
    %0 = affine.load %x[%i] : memref<?xf64>
    %1 = affine.load %y[%i] : memref<?xf64>
    %2 = arith.mulf %0, %1 : f64
    %3 = arith.addf %partial, %2 : f64
    affine.yield %3 : f64
  }
  return %sum : f64
}
"""

SCALARS = """
func.func @scalars(%a: i32, %b: i64, %c: i1, %d: f32, %e: f64, %n: index, %p: memref<f64>)
    -> (i32, i64, i1, f32, f64, index) {
  affine.store %e, %p[] : memref<f64>
  return %a, %b, %c, %d, %e, %n : i32, i64, i1, f32, f64, index
}
"""

ADD_BYTES = """
func.func @add_bytes(%n: index, %x: memref<?xi8>, %offset: i8) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xi8>
    %1 = arith.addi %0, %offset : i8
    affine.store %1, %x[%i] : memref<?xi8>
  }
  return
}
"""

ANY = """
func.func @any(%n: index, %flags: memref<?xi1>) -> i1 {
  %false = arith.constant false
  %found = affine.for %i = 0 to %n iter_args(%so_far = %false) -> (i1) {
    %0 = affine.load %flags[%i] : memref<?xi1>
    %1 = arith.ori %so_far, %0 : i1
    affine.yield %1 : i1
  }
  return %found : i1
}
"""

WORKSPACE = """
func.func @workspace(%n: index, %x: memref<?xf64>) {
  %work = memref.alloc(%n) : memref<?xf64>
  affine.for %i = 0 to 4 {
    %zero = arith.constant 0.0 : f64
    affine.store %zero, %work[%i] : memref<?xf64>
    affine.for %j = 0 to 4 {
      %0 = affine.load %work[%i] : memref<?xf64>
      %1 = affine.load %x[%j] : memref<?xf64>
      %2 = arith.addf %0, %1 : f64
      affine.store %2, %work[%i] : memref<?xf64>
    }
  }
  affine.for %i = 0 to 4 {
    %0 = affine.load %work[%i] : memref<?xf64>
    affine.store %0, %x[%i] : memref<?xf64>
  }
  memref.dealloc %work : memref<?xf64>
  return
}
"""

SQUARES = """
func.func @square(%x: f64) -> f64 {
  %y = arith.mulf %x, %x : f64
  return %y : f64
}
func.func @squares(%n: index, %A: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %b = func.call @square(%a) : (f64) -> f64
    affine.store %b, %A[%i] : memref<?xf64>
  }
  return
}
"""
