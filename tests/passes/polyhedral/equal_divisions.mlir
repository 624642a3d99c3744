// A strided loop: isl's dataflow analysis ended the process on two integer divisions that come to be equal.
func.func @f(%n: index, %m: index, %x: i8, %A: memref<21x25xi8>, %B: memref<13xi8>, %C: memref<?x?xi8>) {
  affine.for %p = -2 to %m {
    affine.for %j = 1 to affine_map<(d0) -> (((d0 + 2) + 3))>(%p) {
      affine.for %i = 0 to affine_map<(d0) -> (((d0 + -1) + 2))>(%j) step 2 {
        %11 = affine.load %A[%j, %i] : memref<21x25xi8>
        %12 = affine.apply affine_map<(d0) -> (((d0 + -2) + 1))>(%j)
        %13 = affine.apply affine_map<(d0) -> ((d0 + 2))>(%i)
        %14 = affine.load %A[%12, %13] : memref<21x25xi8>
        %15 = affine.apply affine_map<(d0) -> ((d0 + 2))>(%p)
        %16 = memref.load %B[%15] : memref<13xi8>
        %17 = affine.load %A[(%i + (%i * 1)), ((%p + (%p * 2)) + 6)] : memref<21x25xi8>
        %18 = arith.maxsi %16, %17 : i8
        %19 = arith.muli %14, %18 : i8
        %20 = arith.maxsi %11, %19 : i8
        affine.store %20, %A[%j, %i] : memref<21x25xi8>
        %21 = affine.if affine_set<(d0)[s0] : ((s0 + ((d0 * -1) + -3)) >= 0)>(%j)[%m] -> i8 {
          %22 = affine.load %A[(%p + 2), %i] : memref<21x25xi8>
          %23 = affine.load %B[(%i + 2)] : memref<13xi8>
          %24 = arith.constant 7 : i8
          %25 = arith.andi %23, %24 : i8
          %26 = arith.divui %22, %25 : i8
          affine.yield %26 : i8
        } else {
          %27 = affine.apply affine_map<(d0) -> ((d0 + 1))>(%p)
          %28 = affine.apply affine_map<(d0) -> (d0)>(%j)
          %29 = memref.load %A[%27, %28] : memref<21x25xi8>
          affine.yield %29 : i8
        }
      }
    }
  }
  return
}
