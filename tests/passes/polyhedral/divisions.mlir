// isl's dataflow analysis fails here: affine expression involves some of the domain dimensions.
func.func @f(%N_i32: i32, %M_i32: i32, %s0: i64, %s1: i32, %A0: memref<?xi64>, %A1: memref<i32>, %A2: memref<?x?x?xi32>, %A4: memref<?x?xi32>, %A7: memref<2xi32>) {
  %N = arith.index_cast %N_i32 : i32 to index
  %M = arith.index_cast %M_i32 : i32 to index
  %c40 = arith.constant 0 : index
  %K = memref.dim %A4, %c40 : memref<?x?xi32>
  affine.for %i = 1 to affine_map<()[s0] -> (s0 - 2)>()[%N] step 5 {
    affine.for %j = 0 to affine_map<()[s0] -> ((s0) floordiv 2)>()[%N] {
      affine.for %k = affine_map<(d0) -> (d0 + 1)>(%j) to 5 step 3 {
        %v1 = affine.load %A0[%k + 1] : memref<?xi64>
        %v2 = arith.subi %v1, %s0 : i64
        affine.store %v2, %A0[%k + 1] : memref<?xi64>
      }
    }
  }
  %v3 = affine.load %A1[] : memref<i32>
  %r5 = affine.for %i = 1 to affine_map<()[s0] -> (s0 + 1)>()[%N] iter_args(%a4 = %v3) -> (i32) {
    %v6 = arith.minsi %v3, %s1 : i32
    %v7 = arith.maxsi %a4, %v6 : i32
    affine.yield %v7 : i32
  }
  affine.store %r5, %A1[] : memref<i32>
  affine.for %i = 0 to %M step 3 {
    affine.for %j = 0 to affine_map<(d0)[s0] -> (-d0 + s0)>(%i)[%M] {
      affine.for %k = affine_map<(d0) -> (d0 + 1)>(%j) to affine_map<()[s0] -> ((s0) floordiv 2)>()[%N] step 5 {
        %v8 = affine.load %A1[] : memref<i32>
        %v9 = affine.load %A2[(%k + 1) floordiv 2, %i, (%k + 1) floordiv 2] : memref<?x?x?xi32>
        %v10 = arith.constant 3 : i32
        %v11 = arith.xori %v9, %v10 : i32
        %v12 = arith.addi %v8, %v11 : i32
        affine.store %v12, %A2[%k, %i, %j] : memref<?x?x?xi32>
      }
    }
  }
  affine.for %i = 0 to affine_map<()[s0] -> (s0 - 2)>()[%N] {
    %e34 = affine.apply affine_map<()[s0] -> (s0 + 5)>()[%N]
    %A3 = memref.alloc(%e34) : memref<?xi64>
    %z35 = arith.constant 1 : i64
    affine.for %x0 = 0 to affine_map<()[s0] -> (s0 + 5)>()[%N] {
      affine.store %z35, %A3[%x0] : memref<?xi64>
    }
    %v13 = arith.constant -1 : i64
    affine.store %v13, %A3[%i] : memref<?xi64>
    affine.for %j = 2 to %N {
      affine.for %k = 1 to min affine_map<(d0)[s0] -> (s0, d0)>(%j)[%K] {
        %b14 = affine.apply affine_map<(d0) -> ((d0) mod 2)>(%j)
        %c15 = arith.constant 0 : index
        %c16 = arith.cmpi eq, %b14, %c15 : index
        scf.if %c16 {
          %e36 = affine.apply affine_map<()[s0] -> (s0)>()[%N]
          %e37 = affine.apply affine_map<()[s0] -> (s0)>()[%N]
          %A5 = memref.alloc(%e36, %e37) : memref<?x?xi64>
          %z38 = arith.constant 1 : i64
          affine.for %x0 = 0 to %N {
            affine.for %x1 = 0 to %N {
              affine.store %z38, %A5[%x0, %x1] : memref<?x?xi64>
            }
          }
          %v17 = arith.constant 4 : i64
          affine.store %v17, %A5[%i, %j] : memref<?x?xi64>
          %A6 = memref.alloca() : memref<i64>
          %z39 = arith.constant 1 : i64
          affine.store %z39, %A6[] : memref<i64>
          %v18 = arith.index_cast %k : index to i64
          affine.store %v18, %A6[] : memref<i64>
          %v19 = affine.load %A4[%k, %j + 1] : memref<?x?xi32>
          %r21 = affine.for %l = 0 to affine_map<()[s0] -> (s0 - 1)>()[%K] step 3 iter_args(%a20 = %v19) -> (i32) {
            %v22 = arith.muli %a20, %r5 : i32
            affine.yield %v22 : i32
          }
          affine.store %r21, %A7[(%i * 3) mod 2] : memref<2xi32>
          memref.dealloc %A5 : memref<?x?xi64>
          %r24 = affine.for %l = 2 to %M iter_args(%a23 = %s1) -> (i32) {
            %v25 = affine.load %A3[%i + 1] : memref<?xi64>
            affine.store %v25, %A3[(%k) mod 5] : memref<?xi64>
            %v26 = arith.addi %a23, %s1 : i32
            affine.yield %v26 : i32
          }
          %v27 = affine.load %A2[%k - 1, %i, %j + 2] : memref<?x?x?xi32>
          %v28 = arith.maxsi %v27, %r24 : i32
          affine.store %v28, %A2[%k - 1, %i, %j + 2] : memref<?x?x?xi32>
        } else {
          %v29 = arith.index_cast %k : index to i32
          %v30 = arith.andi %v29, %s1 : i32
          affine.store %v30, %A4[%k, (%k - %j + %N) mod 2] : memref<?x?xi32>
          %v31 = affine.load %A0[%i] : memref<?xi64>
          %v32 = affine.load %A0[%i] : memref<?xi64>
          %v33 = arith.andi %v31, %v32 : i64
          affine.store %v33, %A0[%j + 1] : memref<?xi64>
        }
      }
    }
    memref.dealloc %A3 : memref<?xi64>
  }
  return
}
