// One step of the D2Q9 lattice Boltzmann method: nine densities are pulled from the neighbours and
// collide.
func.func @lattice_boltzmann(%height: index, %width: index, %src: memref<9x?x?xf64>,
                             %dst: memref<9x?x?xf64>) {
  %c0 = arith.constant 1.5 : f64
  %c1 = arith.constant 1.0 : f64
  %c2 = arith.constant 0.4444444444444444 : f64
  %c3 = arith.constant 0.6 : f64
  %c4 = arith.constant 0.1111111111111111 : f64
  %c5 = arith.constant 3.0 : f64
  %c6 = arith.constant 4.5 : f64
  %c7 = arith.constant 0.02777777777777778 : f64
  affine.for %y = 1 to affine_map<()[s0] -> (s0 - 1)>()[%height] {
    affine.for %x = 1 to affine_map<()[s0] -> (s0 - 1)>()[%width] {
      // f0 = src[0, y, x]
      %0 = affine.load %src[0, %y, %x] : memref<9x?x?xf64>
      // f1 = src[1, y, x - 1]
      %1 = affine.load %src[1, %y, %x - 1] : memref<9x?x?xf64>
      // f2 = src[2, y - 1, x]
      %2 = affine.load %src[2, %y - 1, %x] : memref<9x?x?xf64>
      // f3 = src[3, y, x + 1]
      %3 = affine.load %src[3, %y, %x + 1] : memref<9x?x?xf64>
      // f4 = src[4, y + 1, x]
      %4 = affine.load %src[4, %y + 1, %x] : memref<9x?x?xf64>
      // f5 = src[5, y - 1, x - 1]
      %5 = affine.load %src[5, %y - 1, %x - 1] : memref<9x?x?xf64>
      // f6 = src[6, y - 1, x + 1]
      %6 = affine.load %src[6, %y - 1, %x + 1] : memref<9x?x?xf64>
      // f7 = src[7, y + 1, x + 1]
      %7 = affine.load %src[7, %y + 1, %x + 1] : memref<9x?x?xf64>
      // f8 = src[8, y + 1, x - 1]
      %8 = affine.load %src[8, %y + 1, %x - 1] : memref<9x?x?xf64>
      // rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8
      %9 = arith.addf %0, %1 : f64
      %10 = arith.addf %9, %2 : f64
      %11 = arith.addf %10, %3 : f64
      %12 = arith.addf %11, %4 : f64
      %13 = arith.addf %12, %5 : f64
      %14 = arith.addf %13, %6 : f64
      %15 = arith.addf %14, %7 : f64
      %16 = arith.addf %15, %8 : f64
      // ux = (f1 - f3 + f5 - f6 - f7 + f8) / rho
      %17 = arith.subf %1, %3 : f64
      %18 = arith.addf %17, %5 : f64
      %19 = arith.subf %18, %6 : f64
      %20 = arith.subf %19, %7 : f64
      %21 = arith.addf %20, %8 : f64
      %22 = arith.divf %21, %16 : f64
      // uy = (f2 - f4 + f5 + f6 - f7 - f8) / rho
      %23 = arith.subf %2, %4 : f64
      %24 = arith.addf %23, %5 : f64
      %25 = arith.addf %24, %6 : f64
      %26 = arith.subf %25, %7 : f64
      %27 = arith.subf %26, %8 : f64
      %28 = arith.divf %27, %16 : f64
      // rest = 1.0 - 1.5 * (ux * ux + uy * uy)
      %29 = arith.mulf %22, %22 : f64
      %30 = arith.mulf %28, %28 : f64
      %31 = arith.addf %29, %30 : f64
      %32 = arith.mulf %c0, %31 : f64
      %33 = arith.subf %c1, %32 : f64
      // dst[0, y, x] = f0 + 0.6 * (0.4444444444444444 * rho * rest - f0)
      %34 = arith.mulf %c2, %16 : f64
      %35 = arith.mulf %34, %33 : f64
      %36 = arith.subf %35, %0 : f64
      %37 = arith.mulf %c3, %36 : f64
      %38 = arith.addf %0, %37 : f64
      affine.store %38, %dst[0, %y, %x] : memref<9x?x?xf64>
      // e1 = ux
      // dst[1, y, x] = f1 + 0.6 * (0.1111111111111111 * rho * (rest + 3.0 * e1 + 4.5 * e1 * e1)
      // - f1)
      %39 = arith.mulf %c4, %16 : f64
      %40 = arith.mulf %c5, %22 : f64
      %41 = arith.addf %33, %40 : f64
      %42 = arith.mulf %c6, %22 : f64
      %43 = arith.mulf %42, %22 : f64
      %44 = arith.addf %41, %43 : f64
      %45 = arith.mulf %39, %44 : f64
      %46 = arith.subf %45, %1 : f64
      %47 = arith.mulf %c3, %46 : f64
      %48 = arith.addf %1, %47 : f64
      affine.store %48, %dst[1, %y, %x] : memref<9x?x?xf64>
      // e2 = uy
      // dst[2, y, x] = f2 + 0.6 * (0.1111111111111111 * rho * (rest + 3.0 * e2 + 4.5 * e2 * e2)
      // - f2)
      %49 = arith.mulf %c4, %16 : f64
      %50 = arith.mulf %c5, %28 : f64
      %51 = arith.addf %33, %50 : f64
      %52 = arith.mulf %c6, %28 : f64
      %53 = arith.mulf %52, %28 : f64
      %54 = arith.addf %51, %53 : f64
      %55 = arith.mulf %49, %54 : f64
      %56 = arith.subf %55, %2 : f64
      %57 = arith.mulf %c3, %56 : f64
      %58 = arith.addf %2, %57 : f64
      affine.store %58, %dst[2, %y, %x] : memref<9x?x?xf64>
      // e3 = -ux
      %59 = arith.negf %22 : f64
      // dst[3, y, x] = f3 + 0.6 * (0.1111111111111111 * rho * (rest + 3.0 * e3 + 4.5 * e3 * e3)
      // - f3)
      %60 = arith.mulf %c4, %16 : f64
      %61 = arith.mulf %c5, %59 : f64
      %62 = arith.addf %33, %61 : f64
      %63 = arith.mulf %c6, %59 : f64
      %64 = arith.mulf %63, %59 : f64
      %65 = arith.addf %62, %64 : f64
      %66 = arith.mulf %60, %65 : f64
      %67 = arith.subf %66, %3 : f64
      %68 = arith.mulf %c3, %67 : f64
      %69 = arith.addf %3, %68 : f64
      affine.store %69, %dst[3, %y, %x] : memref<9x?x?xf64>
      // e4 = -uy
      %70 = arith.negf %28 : f64
      // dst[4, y, x] = f4 + 0.6 * (0.1111111111111111 * rho * (rest + 3.0 * e4 + 4.5 * e4 * e4)
      // - f4)
      %71 = arith.mulf %c4, %16 : f64
      %72 = arith.mulf %c5, %70 : f64
      %73 = arith.addf %33, %72 : f64
      %74 = arith.mulf %c6, %70 : f64
      %75 = arith.mulf %74, %70 : f64
      %76 = arith.addf %73, %75 : f64
      %77 = arith.mulf %71, %76 : f64
      %78 = arith.subf %77, %4 : f64
      %79 = arith.mulf %c3, %78 : f64
      %80 = arith.addf %4, %79 : f64
      affine.store %80, %dst[4, %y, %x] : memref<9x?x?xf64>
      // e5 = ux + uy
      %81 = arith.addf %22, %28 : f64
      // dst[5, y, x] = f5 + 0.6 * (0.02777777777777778 * rho * (rest + 3.0 * e5 + 4.5 * e5 * e5)
      // - f5)
      %82 = arith.mulf %c7, %16 : f64
      %83 = arith.mulf %c5, %81 : f64
      %84 = arith.addf %33, %83 : f64
      %85 = arith.mulf %c6, %81 : f64
      %86 = arith.mulf %85, %81 : f64
      %87 = arith.addf %84, %86 : f64
      %88 = arith.mulf %82, %87 : f64
      %89 = arith.subf %88, %5 : f64
      %90 = arith.mulf %c3, %89 : f64
      %91 = arith.addf %5, %90 : f64
      affine.store %91, %dst[5, %y, %x] : memref<9x?x?xf64>
      // e6 = uy - ux
      %92 = arith.subf %28, %22 : f64
      // dst[6, y, x] = f6 + 0.6 * (0.02777777777777778 * rho * (rest + 3.0 * e6 + 4.5 * e6 * e6)
      // - f6)
      %93 = arith.mulf %c7, %16 : f64
      %94 = arith.mulf %c5, %92 : f64
      %95 = arith.addf %33, %94 : f64
      %96 = arith.mulf %c6, %92 : f64
      %97 = arith.mulf %96, %92 : f64
      %98 = arith.addf %95, %97 : f64
      %99 = arith.mulf %93, %98 : f64
      %100 = arith.subf %99, %6 : f64
      %101 = arith.mulf %c3, %100 : f64
      %102 = arith.addf %6, %101 : f64
      affine.store %102, %dst[6, %y, %x] : memref<9x?x?xf64>
      // e7 = -ux - uy
      %103 = arith.negf %22 : f64
      %104 = arith.subf %103, %28 : f64
      // dst[7, y, x] = f7 + 0.6 * (0.02777777777777778 * rho * (rest + 3.0 * e7 + 4.5 * e7 * e7)
      // - f7)
      %105 = arith.mulf %c7, %16 : f64
      %106 = arith.mulf %c5, %104 : f64
      %107 = arith.addf %33, %106 : f64
      %108 = arith.mulf %c6, %104 : f64
      %109 = arith.mulf %108, %104 : f64
      %110 = arith.addf %107, %109 : f64
      %111 = arith.mulf %105, %110 : f64
      %112 = arith.subf %111, %7 : f64
      %113 = arith.mulf %c3, %112 : f64
      %114 = arith.addf %7, %113 : f64
      affine.store %114, %dst[7, %y, %x] : memref<9x?x?xf64>
      // e8 = ux - uy
      %115 = arith.subf %22, %28 : f64
      // dst[8, y, x] = f8 + 0.6 * (0.02777777777777778 * rho * (rest + 3.0 * e8 + 4.5 * e8 * e8)
      // - f8)
      %116 = arith.mulf %c7, %16 : f64
      %117 = arith.mulf %c5, %115 : f64
      %118 = arith.addf %33, %117 : f64
      %119 = arith.mulf %c6, %115 : f64
      %120 = arith.mulf %119, %115 : f64
      %121 = arith.addf %118, %120 : f64
      %122 = arith.mulf %116, %121 : f64
      %123 = arith.subf %122, %8 : f64
      %124 = arith.mulf %c3, %123 : f64
      %125 = arith.addf %8, %124 : f64
      affine.store %125, %dst[8, %y, %x] : memref<9x?x?xf64>
    }
  }
  return
}
