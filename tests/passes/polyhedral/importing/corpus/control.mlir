func.func @parallel(%A: memref<?x?xf32>, %B: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = memref.dim %A, %c0 : memref<?x?xf32>
  %n = memref.dim %A, %c1 : memref<?x?xf32>
  scf.parallel (%i, %j) = (%c0, %c0) to (%m, %n) step (%c1, %c1) {
    %0 = memref.load %A[%i, %j] : memref<?x?xf32>
    %1 = arith.addf %0, %0 : f32
    memref.store %1, %B[%i, %j] : memref<?x?xf32>
    scf.reduce
  }
  return
}
// -----
func.func @parallel_reduce(%A: memref<16xf64>, %S: memref<f64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.000000e+00 : f64
  %s = scf.parallel (%i) = (%c0) to (%c16) step (%c1) init (%zero) -> f64 {
    %0 = memref.load %A[%i] : memref<16xf64>
    scf.reduce(%0 : f64) {
    ^bb0(%lhs: f64, %rhs: f64):
      %1 = arith.addf %lhs, %rhs : f64
      scf.reduce.return %1 : f64
    }
  }
  memref.store %s, %S[] : memref<f64>
  return
}
// -----
func.func @parallel_strided(%A: memref<20xf32>, %x: f32) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c18 = arith.constant 18 : index
  scf.parallel (%i) = (%c2) to (%c18) step (%c3) {
    memref.store %x, %A[%i] : memref<20xf32>
  }
  return
}
// -----
func.func @affine_parallel_reduce(%A: memref<8x9xf32>, %S: memref<2xf32>) {
  %0:2 = affine.parallel (%i, %j) = (0, 0) to (8, 9) reduce ("addf", "maximumf") -> (f32, f32) {
    %1 = affine.load %A[%i, %j] : memref<8x9xf32>
    affine.yield %1, %1 : f32, f32
  }
  affine.store %0#0, %S[0] : memref<2xf32>
  affine.store %0#1, %S[1] : memref<2xf32>
  return
}
// -----
func.func @forall(%A: memref<8x6xf32>, %B: memref<8x6xf32>) {
  scf.forall (%i, %j) in (8, 6) {
    %0 = memref.load %A[%i, %j] : memref<8x6xf32>
    %1 = arith.mulf %0, %0 : f32
    memref.store %1, %B[%i, %j] : memref<8x6xf32>
  }
  return
}
// -----
func.func @forall_bounds(%A: memref<16xf32>, %x: f32, %n: index) {
  scf.forall (%i) = (1) to (%n) step (2) {
    memref.store %x, %A[%i] : memref<16xf32>
  } {mapping = []}
  return
}
// -----
func.func @index_switch(%A: memref<8xf32>, %x: f32, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.index_switch %i
    case 2 {
      memref.store %x, %A[%i] : memref<8xf32>
      scf.yield
    }
    case 5 {
      memref.store %y, %A[%i] : memref<8xf32>
      scf.yield
    }
    default {
      %0 = arith.addf %x, %y : f32
      memref.store %0, %A[%i] : memref<8xf32>
    }
  }
  return
}
// -----
func.func @index_switch_value(%A: memref<8xf32>, %x: f32, %y: f32) {
  affine.for %i = 0 to 8 {
    %v = scf.index_switch %i -> f32
    case 3 {
      scf.yield %x : f32
    }
    default {
      scf.yield %y : f32
    }
    memref.store %v, %A[%i] : memref<8xf32>
  }
  return
}
// -----
func.func @execute_region(%A: memref<8xf32>, %x: f32) {
  affine.for %i = 0 to 8 {
    %v = scf.execute_region -> f32 {
      %0 = arith.addf %x, %x : f32
      scf.yield %0 : f32
    }
    affine.store %v, %A[%i] : memref<8xf32>
  }
  return
}
// -----
func.func @iter_args(%A: memref<?xf64>, %S: memref<1xf64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.000000e+00 : f64
  %n = memref.dim %A, %c0 : memref<?xf64>
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (f64) {
    %0 = memref.load %A[%i] : memref<?xf64>
    %1 = arith.addf %acc, %0 : f64
    scf.yield %1 : f64
  }
  memref.store %s, %S[%c0] : memref<1xf64>
  return
}
// -----
func.func @atomic_rmw(%A: memref<4x8xf32>, %S: memref<8xf32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %A[%i, %j] : memref<4x8xf32>
      %1 = memref.atomic_rmw addf %0, %S[%j] : (f32, memref<8xf32>) -> f32
    }
  }
  return
}
// -----
func.func @atomic_integers(%A: memref<4x8xi32>, %S: memref<8xi32>) {
  affine.for %i = 0 to 4 {
    affine.for %j = 0 to 8 {
      %0 = affine.load %A[%i, %j] : memref<4x8xi32>
      %1 = memref.atomic_rmw maxs %0, %S[%j] : (i32, memref<8xi32>) -> i32
    }
  }
  return
}
// -----
func.func @integer_loop(%A: memref<16xf32>, %n: i32, %x: f32) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  scf.for %i = %c0_i32 to %n step %c1_i32 : i32 {
    %0 = arith.index_cast %i : i32 to index
    memref.store %x, %A[%0] : memref<16xf32>
  }
  return
}
// -----
// by hand
func.func @alloca_scope(%A: memref<8xf32>, %B: memref<8xf32>) {
  memref.alloca_scope {
    %t = memref.alloca() : memref<8xf32>
    affine.for %i = 0 to 8 {
      %0 = affine.load %A[%i] : memref<8xf32>
      %1 = arith.mulf %0, %0 : f32
      affine.store %1, %t[%i] : memref<8xf32>
    }
    affine.for %i = 0 to 8 {
      %0 = affine.load %t[7 - %i] : memref<8xf32>
      affine.store %0, %B[%i] : memref<8xf32>
    }
  }
  return
}
// -----
#map = affine_map<(d0) -> (d0 * 4)>
#map1 = affine_map<(d0) -> (d0 * 4 + 4, 14)>
func.func @tiled_bounds(%A: memref<14xf32>, %x: f32) {
  affine.for %i = 0 to 4 {
    affine.for %j = #map(%i) to min #map1(%i) {
      affine.store %x, %A[%j] : memref<14xf32>
    }
  }
  return
}
// -----
func.func @apply_in_scf(%A: memref<64xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %0 = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%i, %j)
      memref.store %x, %A[%0] : memref<64xf32>
    }
  }
  return
}
// -----
// by hand
func.func @index_dialect(%A: memref<64xf32>, %x: f32) {
  %c0 = index.constant 0
  %c1 = index.constant 1
  %c8 = index.constant 8
  scf.for %i = %c0 to %c8 step %c1 {
    %0 = index.mul %i, %c8
    %1 = index.add %0, %c1
    memref.store %x, %A[%1] : memref<64xf32>
  }
  return
}
// -----
func.func @if_with_else(%A: memref<16xf32>, %x: f32, %y: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c16 step %c1 {
    %c = arith.cmpi slt, %i, %c5 : index
    scf.if %c {
      memref.store %x, %A[%i] : memref<16xf32>
    } else {
      memref.store %y, %A[%i] : memref<16xf32>
    }
  }
  return
}
// -----
// by hand
func.func @while_on_data(%A: memref<16xf32>, %S: memref<1xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %one = arith.constant 1.000000e+00 : f32
  %r = scf.while (%i = %c0) : (index) -> index {
    %0 = memref.load %A[%i] : memref<16xf32>
    %1 = arith.cmpf olt, %0, %one : f32
    %2 = arith.cmpi slt, %i, %c16 : index
    %3 = arith.andi %1, %2 : i1
    scf.condition(%3) %i : index
  } do {
  ^bb0(%i: index):
    %0 = arith.addi %i, %c1 : index
    scf.yield %0 : index
  }
  memref.store %r, %S[%c0] : memref<1xindex>
  return
}
