// Speckle-reducing anisotropic diffusion: gradients and coefficients, then divergence (Rodinia's
// problem).
func.func @srad(%rows: index, %columns: index, %image: memref<?x?xf32>, %north: memref<?x?xf32>,
                %south: memref<?x?xf32>, %west: memref<?x?xf32>, %east: memref<?x?xf32>,
                %c: memref<?x?xf32>) {
  %c0 = arith.constant 0.5 : f32
  %c1 = arith.constant 0.0625 : f32
  %c2 = arith.constant 0.25 : f32
  %c3 = arith.constant 1.0 : f32
  %c4 = arith.constant 0.05 : f32
  %c5 = arith.constant 0.0525 : f32
  %c6 = arith.constant 0.0 : f32
  %c7 = arith.constant 0.125 : f32
  affine.for %i = 1 to affine_map<()[s0] -> (s0 + 1)>()[%rows] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 + 1)>()[%columns] {
      // p = image[i, j]
      %0 = affine.load %image[%i, %j] : memref<?x?xf32>
      // n = image[i - 1, j] - p
      %1 = affine.load %image[%i - 1, %j] : memref<?x?xf32>
      %2 = arith.subf %1, %0 : f32
      // s = image[i + 1, j] - p
      %3 = affine.load %image[%i + 1, %j] : memref<?x?xf32>
      %4 = arith.subf %3, %0 : f32
      // w = image[i, j - 1] - p
      %5 = affine.load %image[%i, %j - 1] : memref<?x?xf32>
      %6 = arith.subf %5, %0 : f32
      // e = image[i, j + 1] - p
      %7 = affine.load %image[%i, %j + 1] : memref<?x?xf32>
      %8 = arith.subf %7, %0 : f32
      // north[i, j] = n
      affine.store %2, %north[%i, %j] : memref<?x?xf32>
      // south[i, j] = s
      affine.store %4, %south[%i, %j] : memref<?x?xf32>
      // west[i, j] = w
      affine.store %6, %west[%i, %j] : memref<?x?xf32>
      // east[i, j] = e
      affine.store %8, %east[%i, %j] : memref<?x?xf32>
      // g = (n * n + s * s + w * w + e * e) / (p * p)
      %9 = arith.mulf %2, %2 : f32
      %10 = arith.mulf %4, %4 : f32
      %11 = arith.addf %9, %10 : f32
      %12 = arith.mulf %6, %6 : f32
      %13 = arith.addf %11, %12 : f32
      %14 = arith.mulf %8, %8 : f32
      %15 = arith.addf %13, %14 : f32
      %16 = arith.mulf %0, %0 : f32
      %17 = arith.divf %15, %16 : f32
      // l = (n + s + w + e) / p
      %18 = arith.addf %2, %4 : f32
      %19 = arith.addf %18, %6 : f32
      %20 = arith.addf %19, %8 : f32
      %21 = arith.divf %20, %0 : f32
      // num = 0.5 * g - 0.0625 * l * l
      %22 = arith.mulf %c0, %17 : f32
      %23 = arith.mulf %c1, %21 : f32
      %24 = arith.mulf %23, %21 : f32
      %25 = arith.subf %22, %24 : f32
      // den = 1.0 + 0.25 * l
      %26 = arith.mulf %c2, %21 : f32
      %27 = arith.addf %c3, %26 : f32
      // q = num / (den * den)
      %28 = arith.mulf %27, %27 : f32
      %29 = arith.divf %25, %28 : f32
      // c[i, j] = min(max(1.0 / (1.0 + (q - 0.05) / 0.0525), 0.0), 1.0)
      %30 = arith.subf %29, %c4 : f32
      %31 = arith.divf %30, %c5 : f32
      %32 = arith.addf %c3, %31 : f32
      %33 = arith.divf %c3, %32 : f32
      %34 = arith.maximumf %33, %c6 : f32
      %35 = arith.minimumf %34, %c3 : f32
      affine.store %35, %c[%i, %j] : memref<?x?xf32>
    }
  }
  affine.for %i = 1 to affine_map<()[s0] -> (s0 + 1)>()[%rows] {
    affine.for %j = 1 to affine_map<()[s0] -> (s0 + 1)>()[%columns] {
      // d = c[i, j] * north[i, j] + c[i + 1, j] * south[i, j] + c[i, j] * west[i, j] + c[i, j +
      // 1] * east[i, j]
      %36 = affine.load %c[%i, %j] : memref<?x?xf32>
      %37 = affine.load %north[%i, %j] : memref<?x?xf32>
      %38 = arith.mulf %36, %37 : f32
      %39 = affine.load %c[%i + 1, %j] : memref<?x?xf32>
      %40 = affine.load %south[%i, %j] : memref<?x?xf32>
      %41 = arith.mulf %39, %40 : f32
      %42 = arith.addf %38, %41 : f32
      %43 = affine.load %c[%i, %j] : memref<?x?xf32>
      %44 = affine.load %west[%i, %j] : memref<?x?xf32>
      %45 = arith.mulf %43, %44 : f32
      %46 = arith.addf %42, %45 : f32
      %47 = affine.load %c[%i, %j + 1] : memref<?x?xf32>
      %48 = affine.load %east[%i, %j] : memref<?x?xf32>
      %49 = arith.mulf %47, %48 : f32
      %50 = arith.addf %46, %49 : f32
      // image[i, j] = image[i, j] + 0.125 * d
      %51 = affine.load %image[%i, %j] : memref<?x?xf32>
      %52 = arith.mulf %c7, %50 : f32
      %53 = arith.addf %51, %52 : f32
      affine.store %53, %image[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
