// RUN: loopwright-opt %s -p 'tile{loops=i,j sizes=32,16},interchange{loops=k,j},parallel{loops=it},vectorize{loops=j width=8},unroll{loops=k factor=4}' | filecheck %s
// RUN: loopwright-opt %s -p 'tile{loops=i,j sizes=32,16},interchange{loops=k,j}' | loopwright-opt -p 'parallel{loops=it},vectorize{loops=j width=8},unroll{loops=k factor=4}' | filecheck %s

func.func @gemm(%n: index, %A: memref<?x?xf64>, %B: memref<?x?xf64>, %C: memref<?x?xf64>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      affine.for %k = 0 to %n {
        %a = affine.load %A[%i, %k] : memref<?x?xf64>
        %b = affine.load %B[%k, %j] : memref<?x?xf64>
        %c = affine.load %C[%i, %j] : memref<?x?xf64>
        %p = arith.mulf %a, %b : f64
        %s = arith.addf %c, %p : f64
        affine.store %s, %C[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}

// CHECK:       schedule.sequence @gemm {
// CHECK-NEXT:    %i, %j, %k = schedule.loops "i", "j", "k"
// CHECK-NEXT:    %it, %jt = schedule.tile %i, %j by [32, 16]
// CHECK-NEXT:    schedule.interchange %k, %j
// CHECK-NEXT:    schedule.parallel %it
// CHECK-NEXT:    schedule.vectorize %j by 8
// CHECK-NEXT:    schedule.unroll %k by 4
// CHECK-NEXT:  }
