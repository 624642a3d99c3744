// by hand
func.func private @expf(f32) -> f32
func.func @libm(%A: memref<8xf32>, %B: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xf32>
    %1 = func.call @expf(%0) : (f32) -> f32
    affine.store %1, %B[%i] : memref<8xf32>
  }
  return
}
// -----
// by hand
module {
  func.func private @sqrt(f64) -> f64 attributes {llvm.linkage = #llvm.linkage<external>}
  func.func private @pow(f64, f64) -> f64
  func.func @libm_doubles(%A: memref<8xf64>, %x: f64) {
    affine.for %i = 0 to 8 {
      %0 = affine.load %A[%i] : memref<8xf64>
      %1 = func.call @sqrt(%0) : (f64) -> f64
      %2 = func.call @pow(%1, %x) : (f64, f64) -> f64
      affine.store %2, %A[%i] : memref<8xf64>
    }
    return
  }
}
// -----
func.func @views_in_calls(%A: memref<8x8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %v = memref.subview %A[%i, 0] [1, 8] [1, 1] : memref<8x8xf32> to memref<8xf32, strided<[1], offset: ?>>
    func.call @fill_row(%v, %x) : (memref<8xf32, strided<[1], offset: ?>>, f32) -> ()
  }
  return
}
func.func private @fill_row(%v: memref<8xf32, strided<[1], offset: ?>>, %x: f32) {
  linalg.fill ins(%x : f32) outs(%v : memref<8xf32, strided<[1], offset: ?>>)
  return
}
// -----
func.func @math(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xf32>
    %1 = math.exp %0 : f32
    %2 = math.log %1 : f32
    %3 = math.sqrt %2 : f32
    %4 = math.tanh %3 : f32
    %5 = math.fma %4, %0, %0 : f32
    %6 = math.absf %5 : f32
    affine.store %6, %A[%i] : memref<8xf32>
  }
  return
}
// -----
module attributes {dlti.dl_spec = #dlti.dl_spec<#dlti.dl_entry<"dlti.endianness", "little">, #dlti.dl_entry<i64, dense<64> : vector<2xi64>>>, llvm.data_layout = "e-m:e-i64:64-f80:128-n8:16:32:64-S128", llvm.target_triple = "x86_64-unknown-linux-gnu"} {
  func.func @cgeist(%arg0: i32, %arg1: memref<?x1200xf64>, %arg2: memref<?x1200xf64>) attributes {llvm.linkage = #llvm.linkage<external>} {
    %cst = arith.constant 2.000000e+00 : f64
    %0 = arith.index_cast %arg0 : i32 to index
    affine.for %arg3 = 0 to %0 {
      affine.for %arg4 = 0 to 1200 {
        %1 = affine.load %arg1[%arg3, %arg4] : memref<?x1200xf64>
        %2 = arith.mulf %1, %cst : f64
        affine.store %2, %arg2[%arg3, %arg4] : memref<?x1200xf64>
      }
    }
    return
  }
}
// -----
#loc = loc("dump.py":1:0)
#loc1 = loc("dump.py":2:4)
module {
  func.func @locations(%arg0: memref<8xf32> loc("dump.py":1:0), %arg1: memref<8xf32> loc("dump.py":1:0)) {
    affine.for %arg2 = 0 to 8 {
      %0 = affine.load %arg0[%arg2] : memref<8xf32> loc(#loc1)
      affine.store %0, %arg1[%arg2] : memref<8xf32> loc(#loc1)
    } loc(#loc)
    return loc(#loc)
  } loc(#loc)
} loc(#loc)
// -----
module @jit attributes {torch.debug_module_name = "Model"} {
  ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
  func.func @forward(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.copy ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}
// -----
func.func @pure_external_missing(%A: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %0 = affine.load %A[%i] : memref<8xf32>
    %1 = func.call @twice(%0) : (f32) -> f32
    affine.store %1, %A[%i] : memref<8xf32>
  }
  return
}
func.func private @twice(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}
