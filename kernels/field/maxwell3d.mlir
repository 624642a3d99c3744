// Maxwell's equations on a staggered grid: three electric and three magnetic fields, in turn.
func.func @maxwell3d(%steps: index, %depth: index, %height: index, %width: index,
                     %ex: memref<?x?x?xf32>, %ey: memref<?x?x?xf32>, %ez: memref<?x?x?xf32>,
                     %hx: memref<?x?x?xf32>, %hy: memref<?x?x?xf32>, %hz: memref<?x?x?xf32>) {
  %c0 = arith.constant 0.5 : f32
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%depth] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
        affine.for %k = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
          // ex[i, j, k] += 0.5 * (hz[i, j, k] - hz[i, j - 1, k] - hy[i, j, k] + hy[i, j, k - 1])
          %0 = affine.load %ex[%i, %j, %k] : memref<?x?x?xf32>
          %1 = affine.load %hz[%i, %j, %k] : memref<?x?x?xf32>
          %2 = affine.load %hz[%i, %j - 1, %k] : memref<?x?x?xf32>
          %3 = arith.subf %1, %2 : f32
          %4 = affine.load %hy[%i, %j, %k] : memref<?x?x?xf32>
          %5 = arith.subf %3, %4 : f32
          %6 = affine.load %hy[%i, %j, %k - 1] : memref<?x?x?xf32>
          %7 = arith.addf %5, %6 : f32
          %8 = arith.mulf %c0, %7 : f32
          %9 = arith.addf %0, %8 : f32
          affine.store %9, %ex[%i, %j, %k] : memref<?x?x?xf32>
          // ey[i, j, k] += 0.5 * (hx[i, j, k] - hx[i, j, k - 1] - hz[i, j, k] + hz[i - 1, j, k])
          %10 = affine.load %ey[%i, %j, %k] : memref<?x?x?xf32>
          %11 = affine.load %hx[%i, %j, %k] : memref<?x?x?xf32>
          %12 = affine.load %hx[%i, %j, %k - 1] : memref<?x?x?xf32>
          %13 = arith.subf %11, %12 : f32
          %14 = affine.load %hz[%i, %j, %k] : memref<?x?x?xf32>
          %15 = arith.subf %13, %14 : f32
          %16 = affine.load %hz[%i - 1, %j, %k] : memref<?x?x?xf32>
          %17 = arith.addf %15, %16 : f32
          %18 = arith.mulf %c0, %17 : f32
          %19 = arith.addf %10, %18 : f32
          affine.store %19, %ey[%i, %j, %k] : memref<?x?x?xf32>
          // ez[i, j, k] += 0.5 * (hy[i, j, k] - hy[i - 1, j, k] - hx[i, j, k] + hx[i, j - 1, k])
          %20 = affine.load %ez[%i, %j, %k] : memref<?x?x?xf32>
          %21 = affine.load %hy[%i, %j, %k] : memref<?x?x?xf32>
          %22 = affine.load %hy[%i - 1, %j, %k] : memref<?x?x?xf32>
          %23 = arith.subf %21, %22 : f32
          %24 = affine.load %hx[%i, %j, %k] : memref<?x?x?xf32>
          %25 = arith.subf %23, %24 : f32
          %26 = affine.load %hx[%i, %j - 1, %k] : memref<?x?x?xf32>
          %27 = arith.addf %25, %26 : f32
          %28 = arith.mulf %c0, %27 : f32
          %29 = arith.addf %20, %28 : f32
          affine.store %29, %ez[%i, %j, %k] : memref<?x?x?xf32>
        }
      }
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%depth] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
        affine.for %k = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
          // hx[i, j, k] += 0.5 * (ey[i, j, k + 1] - ey[i, j, k] - ez[i, j + 1, k] + ez[i, j, k])
          %30 = affine.load %hx[%i, %j, %k] : memref<?x?x?xf32>
          %31 = affine.load %ey[%i, %j, %k + 1] : memref<?x?x?xf32>
          %32 = affine.load %ey[%i, %j, %k] : memref<?x?x?xf32>
          %33 = arith.subf %31, %32 : f32
          %34 = affine.load %ez[%i, %j + 1, %k] : memref<?x?x?xf32>
          %35 = arith.subf %33, %34 : f32
          %36 = affine.load %ez[%i, %j, %k] : memref<?x?x?xf32>
          %37 = arith.addf %35, %36 : f32
          %38 = arith.mulf %c0, %37 : f32
          %39 = arith.addf %30, %38 : f32
          affine.store %39, %hx[%i, %j, %k] : memref<?x?x?xf32>
          // hy[i, j, k] += 0.5 * (ez[i + 1, j, k] - ez[i, j, k] - ex[i, j, k + 1] + ex[i, j, k])
          %40 = affine.load %hy[%i, %j, %k] : memref<?x?x?xf32>
          %41 = affine.load %ez[%i + 1, %j, %k] : memref<?x?x?xf32>
          %42 = affine.load %ez[%i, %j, %k] : memref<?x?x?xf32>
          %43 = arith.subf %41, %42 : f32
          %44 = affine.load %ex[%i, %j, %k + 1] : memref<?x?x?xf32>
          %45 = arith.subf %43, %44 : f32
          %46 = affine.load %ex[%i, %j, %k] : memref<?x?x?xf32>
          %47 = arith.addf %45, %46 : f32
          %48 = arith.mulf %c0, %47 : f32
          %49 = arith.addf %40, %48 : f32
          affine.store %49, %hy[%i, %j, %k] : memref<?x?x?xf32>
          // hz[i, j, k] += 0.5 * (ex[i, j + 1, k] - ex[i, j, k] - ey[i + 1, j, k] + ey[i, j, k])
          %50 = affine.load %hz[%i, %j, %k] : memref<?x?x?xf32>
          %51 = affine.load %ex[%i, %j + 1, %k] : memref<?x?x?xf32>
          %52 = affine.load %ex[%i, %j, %k] : memref<?x?x?xf32>
          %53 = arith.subf %51, %52 : f32
          %54 = affine.load %ey[%i + 1, %j, %k] : memref<?x?x?xf32>
          %55 = arith.subf %53, %54 : f32
          %56 = affine.load %ey[%i, %j, %k] : memref<?x?x?xf32>
          %57 = arith.addf %55, %56 : f32
          %58 = arith.mulf %c0, %57 : f32
          %59 = arith.addf %50, %58 : f32
          affine.store %59, %hz[%i, %j, %k] : memref<?x?x?xf32>
        }
      }
    }
  }
  return
}
