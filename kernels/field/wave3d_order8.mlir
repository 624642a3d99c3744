// A step of the acoustic wave equation, of eighth order in space, over the field before the last,
// as in seismic imaging.
func.func @wave3d_order8(%depth: index, %height: index, %width: index, %u: memref<?x?x?xf32>,
                         %velocity: memref<?x?x?xf32>, %next: memref<?x?x?xf32>) {
  %c0 = arith.constant -8.541666666666666 : f32
  %c1 = arith.constant 1.6 : f32
  %c2 = arith.constant -0.2 : f32
  %c3 = arith.constant 0.025396825396825397 : f32
  %c4 = arith.constant -0.0017857142857142857 : f32
  %c5 = arith.constant 2.0 : f32
  affine.for %z = 0 to %depth {
    affine.for %y = 0 to %height {
      affine.for %x = 0 to %width {
        // lap = -8.541666666666666 * u[z + 4, y + 4, x + 4]
        %0 = affine.load %u[%z + 4, %y + 4, %x + 4] : memref<?x?x?xf32>
        %1 = arith.mulf %c0, %0 : f32
        // ring1 = u[z + 3, y + 4, x + 4] + u[z + 5, y + 4, x + 4] + u[z + 4, y + 3, x + 4] + u[z
        // + 4, y + 5, x + 4] + u[z + 4, y + 4, x + 3] + u[z + 4, y + 4, x + 5]
        %2 = affine.load %u[%z + 3, %y + 4, %x + 4] : memref<?x?x?xf32>
        %3 = affine.load %u[%z + 5, %y + 4, %x + 4] : memref<?x?x?xf32>
        %4 = arith.addf %2, %3 : f32
        %5 = affine.load %u[%z + 4, %y + 3, %x + 4] : memref<?x?x?xf32>
        %6 = arith.addf %4, %5 : f32
        %7 = affine.load %u[%z + 4, %y + 5, %x + 4] : memref<?x?x?xf32>
        %8 = arith.addf %6, %7 : f32
        %9 = affine.load %u[%z + 4, %y + 4, %x + 3] : memref<?x?x?xf32>
        %10 = arith.addf %8, %9 : f32
        %11 = affine.load %u[%z + 4, %y + 4, %x + 5] : memref<?x?x?xf32>
        %12 = arith.addf %10, %11 : f32
        // lap1 = lap + 1.6 * ring1
        %13 = arith.mulf %c1, %12 : f32
        %14 = arith.addf %1, %13 : f32
        // ring2 = u[z + 2, y + 4, x + 4] + u[z + 6, y + 4, x + 4] + u[z + 4, y + 2, x + 4] + u[z
        // + 4, y + 6, x + 4] + u[z + 4, y + 4, x + 2] + u[z + 4, y + 4, x + 6]
        %15 = affine.load %u[%z + 2, %y + 4, %x + 4] : memref<?x?x?xf32>
        %16 = affine.load %u[%z + 6, %y + 4, %x + 4] : memref<?x?x?xf32>
        %17 = arith.addf %15, %16 : f32
        %18 = affine.load %u[%z + 4, %y + 2, %x + 4] : memref<?x?x?xf32>
        %19 = arith.addf %17, %18 : f32
        %20 = affine.load %u[%z + 4, %y + 6, %x + 4] : memref<?x?x?xf32>
        %21 = arith.addf %19, %20 : f32
        %22 = affine.load %u[%z + 4, %y + 4, %x + 2] : memref<?x?x?xf32>
        %23 = arith.addf %21, %22 : f32
        %24 = affine.load %u[%z + 4, %y + 4, %x + 6] : memref<?x?x?xf32>
        %25 = arith.addf %23, %24 : f32
        // lap2 = lap1 + -0.2 * ring2
        %26 = arith.mulf %c2, %25 : f32
        %27 = arith.addf %14, %26 : f32
        // ring3 = u[z + 1, y + 4, x + 4] + u[z + 7, y + 4, x + 4] + u[z + 4, y + 1, x + 4] + u[z
        // + 4, y + 7, x + 4] + u[z + 4, y + 4, x + 1] + u[z + 4, y + 4, x + 7]
        %28 = affine.load %u[%z + 1, %y + 4, %x + 4] : memref<?x?x?xf32>
        %29 = affine.load %u[%z + 7, %y + 4, %x + 4] : memref<?x?x?xf32>
        %30 = arith.addf %28, %29 : f32
        %31 = affine.load %u[%z + 4, %y + 1, %x + 4] : memref<?x?x?xf32>
        %32 = arith.addf %30, %31 : f32
        %33 = affine.load %u[%z + 4, %y + 7, %x + 4] : memref<?x?x?xf32>
        %34 = arith.addf %32, %33 : f32
        %35 = affine.load %u[%z + 4, %y + 4, %x + 1] : memref<?x?x?xf32>
        %36 = arith.addf %34, %35 : f32
        %37 = affine.load %u[%z + 4, %y + 4, %x + 7] : memref<?x?x?xf32>
        %38 = arith.addf %36, %37 : f32
        // lap3 = lap2 + 0.025396825396825397 * ring3
        %39 = arith.mulf %c3, %38 : f32
        %40 = arith.addf %27, %39 : f32
        // ring4 = u[z + 0, y + 4, x + 4] + u[z + 8, y + 4, x + 4] + u[z + 4, y + 0, x + 4] + u[z
        // + 4, y + 8, x + 4] + u[z + 4, y + 4, x + 0] + u[z + 4, y + 4, x + 8]
        %41 = affine.load %u[%z + 0, %y + 4, %x + 4] : memref<?x?x?xf32>
        %42 = affine.load %u[%z + 8, %y + 4, %x + 4] : memref<?x?x?xf32>
        %43 = arith.addf %41, %42 : f32
        %44 = affine.load %u[%z + 4, %y + 0, %x + 4] : memref<?x?x?xf32>
        %45 = arith.addf %43, %44 : f32
        %46 = affine.load %u[%z + 4, %y + 8, %x + 4] : memref<?x?x?xf32>
        %47 = arith.addf %45, %46 : f32
        %48 = affine.load %u[%z + 4, %y + 4, %x + 0] : memref<?x?x?xf32>
        %49 = arith.addf %47, %48 : f32
        %50 = affine.load %u[%z + 4, %y + 4, %x + 8] : memref<?x?x?xf32>
        %51 = arith.addf %49, %50 : f32
        // lap4 = lap3 + -0.0017857142857142857 * ring4
        %52 = arith.mulf %c4, %51 : f32
        %53 = arith.addf %40, %52 : f32
        // next[z, y, x] = 2.0 * u[z + 4, y + 4, x + 4] - next[z, y, x] + velocity[z, y, x] *
        // lap4
        %54 = affine.load %u[%z + 4, %y + 4, %x + 4] : memref<?x?x?xf32>
        %55 = arith.mulf %c5, %54 : f32
        %56 = affine.load %next[%z, %y, %x] : memref<?x?x?xf32>
        %57 = arith.subf %55, %56 : f32
        %58 = affine.load %velocity[%z, %y, %x] : memref<?x?x?xf32>
        %59 = arith.mulf %58, %53 : f32
        %60 = arith.addf %57, %59 : f32
        affine.store %60, %next[%z, %y, %x] : memref<?x?x?xf32>
      }
    }
  }
  return
}
