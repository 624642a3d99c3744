"""Programs that together use all of the syntax."""

from __future__ import annotations

LOOPS = """
#map = affine_map<(d0)[s0] -> (d0, s0 - 1)>
func.func @loops(%A: memref<?x1300xf64>, %n: index, %v: f64) -> f64 {
  %r = affine.for %i = max #map(%n)[%n] to min affine_map<()[s0] -> (s0, 10)>()[%n] step 4
      iter_args(%a = %v) -> (f64) {
    %2:2 = affine.for %j = affine_map<(d0) -> (d0 + 1)>(%i) to %i
        iter_args(%b = %v, %c = %a) -> (f64, f64) {
      affine.yield %b, %c : f64, f64
    }
    %4 = affine.load %A[%i + symbol(%n), (%i + 2 * %n) floordiv 3 mod 5] {tag = "x"}
      : memref<?x1300xf64>
    affine.store %2#1, %A[symbol(%n) - 1, -%i + 7] : memref<?x1300xf64>
    affine.yield %4 : f64
  } {llvm.unroll = 4 : i64}
  affine.parallel (%i, %j) = (0, max(%n, 2)) to (symbol(%n), min(%n * 2, 100)) step (1, 2) {
    affine.store %r, %A[%i, %j] : memref<?x1300xf64>
  } {schedule = "dynamic"}
  %s = affine.parallel (%i) = (0) to (10) reduce ("addf") -> (f64) {
    affine.yield %r : f64
  }
  return %s : f64
}
"""

CONDITIONS = """
#set = affine_set<(d0, d1)[s0] : (d0 - 10 >= 0, d0 + s0 - 9 <= 0, d1 mod 2 == 0)>
func.func @conditions(%n: index, %B: memref<f32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  affine.for %i = 0 to 10 {
    affine.for %j = 0 to %n {
      affine.if #set(%i, %j)[%n] {
        %1 = affine.if affine_set<() : ()>() -> f32 {
          affine.yield %zero : f32
        } else {
          %2 = affine.load %B[] : memref<f32>
          affine.yield %2 : f32
        }
        affine.store %1, %B[] : memref<f32>
      } else {
      }
    }
  }
  return %zero : f32
}
"""

INTEGERS = """
func.func @integers(%A: memref<?xi32>, %n: i32) {
  %0 = arith.index_cast %n : i32 to index
  %c0 = arith.constant 0 : index
  %d = memref.dim %A, %c0 : memref<?xi32>
  affine.for %i = 0 to %0 {
    %1 = affine.min affine_map<(d0)[s0] -> (d0 + 512, s0)>(%i)[%0]
    %2 = affine.max affine_map<(d0)[s0] -> (d0 - 512, s0)>(%i)[%d]
    %3 = affine.apply affine_map<(d0, d1) -> (d0 + d1 ceildiv 2)>(%1, %2)
    affine.prefetch %A[%i + 5], read, locality<3>, data : memref<?xi32>
    %4:2 = affine.delinearize_index %3 into (4, %0) : index, index
    %5 = affine.linearize_index disjoint [%4#0, %4#1] by (4, %0) : index
    %6 = memref.load %A[%5] : memref<?xi32>
    %7 = arith.cmpi slt, %6, %n : i32
    %8 = arith.select %7, %6, %n : i32
    scf.if %7 {
      memref.store %8, %A[%i] : memref<?xi32>
    }
  }
  return
}
"""

VECTORS = """
func.func @vectors(%A: memref<?xf64>, %i: index) {
  %v = affine.vector_load %A[%i + 8] : memref<?xf64>, vector<8xf64>
  affine.vector_store %v, %A[%i] : memref<?xf64>, vector<8xf64>
  %s = vector.step : vector<8xindex>
  %m = vector.create_mask %i : vector<8xi1>
  %c = vector.constant_mask [3] : vector<8xi1>
  %0 = vector.gather %A[%i] [%s], %m, %v
    : memref<?xf64>, vector<8xindex>, vector<8xi1>, vector<8xf64> into vector<8xf64>
  vector.scatter %A[%i] [%s], %c, %0
    : memref<?xf64>, vector<8xindex>, vector<8xi1>, vector<8xf64>
  %1 = arith.addf %0, %v fastmath<reassoc> : vector<8xf64>
  %2 = vector.reduction <add>, %1 : vector<8xf64> into f64
  %3 = math.exp %2 : f64
  return
}
"""

MODULE = """
module attributes {dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<"dlti.endianness", "little">,
    #dlti.dl_entry<i64, dense<64> : vector<2xi32>>>, llvm.data_layout = "e-m:e"} {
  memref.global "private" constant @table : memref<2xf64> = dense<[1.0, 2.0]>
  func.func private @declared(memref<?xf64>, i32) -> f64
  func.func @caller(%arg0: memref<?xf64> {llvm.noalias}, %arg1: i32) -> f64
      attributes {llvm.linkage = #llvm.linkage<external>} {
    %0 = memref.alloc() {alignment = 64 : i64} : memref<10xf64>
    %1 = memref.cast %0 : memref<10xf64> to memref<?xf64>
    memref.copy %1, %arg0 : memref<?xf64> to memref<?xf64>
    memref.dealloc %0 : memref<10xf64>
    %2 = call @declared(%arg0, %arg1) : (memref<?xf64>, i32) -> f64
    return %2 : f64 loc("caller.c":3:4)
  }
}
"""

ALL = (LOOPS, CONDITIONS, INTEGERS, VECTORS, MODULE)
