// One cycle of a two-grid method for Poisson's equation: smooth, residual, restrict, solve
// roughly, correct.
func.func @multigrid_cycle(%n: index, %u: memref<?x?xf64>, %f: memref<?x?xf64>,
                           %v: memref<?x?xf64>, %r: memref<?x?xf64>, %coarse: memref<?x?xf64>,
                           %e: memref<?x?xf64>) {
  %c0 = arith.constant 4.0 : f64
  %c1 = arith.constant 0.2 : f64
  %c2 = arith.constant 0.5 : f64
  %c3 = arith.constant 0.25 : f64
  affine.for %i = 1 to affine_map<()[s0] -> (2 * s0)>()[%n] {
    affine.for %j = 1 to affine_map<()[s0] -> (2 * s0)>()[%n] {
      // v[i, j] = u[i, j] + 0.2 * (f[i, j] + u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j +
      // 1] - 4.0 * u[i, j])
      %0 = affine.load %u[%i, %j] : memref<?x?xf64>
      %1 = affine.load %f[%i, %j] : memref<?x?xf64>
      %2 = affine.load %u[%i - 1, %j] : memref<?x?xf64>
      %3 = arith.addf %1, %2 : f64
      %4 = affine.load %u[%i + 1, %j] : memref<?x?xf64>
      %5 = arith.addf %3, %4 : f64
      %6 = affine.load %u[%i, %j - 1] : memref<?x?xf64>
      %7 = arith.addf %5, %6 : f64
      %8 = affine.load %u[%i, %j + 1] : memref<?x?xf64>
      %9 = arith.addf %7, %8 : f64
      %10 = affine.load %u[%i, %j] : memref<?x?xf64>
      %11 = arith.mulf %c0, %10 : f64
      %12 = arith.subf %9, %11 : f64
      %13 = arith.mulf %c1, %12 : f64
      %14 = arith.addf %0, %13 : f64
      affine.store %14, %v[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 1 to affine_map<()[s0] -> (2 * s0)>()[%n] {
    affine.for %j = 1 to affine_map<()[s0] -> (2 * s0)>()[%n] {
      // r[i, j] = f[i, j] + v[i - 1, j] + v[i + 1, j] + v[i, j - 1] + v[i, j + 1] - 4.0 * v[i,
      // j]
      %15 = affine.load %f[%i, %j] : memref<?x?xf64>
      %16 = affine.load %v[%i - 1, %j] : memref<?x?xf64>
      %17 = arith.addf %15, %16 : f64
      %18 = affine.load %v[%i + 1, %j] : memref<?x?xf64>
      %19 = arith.addf %17, %18 : f64
      %20 = affine.load %v[%i, %j - 1] : memref<?x?xf64>
      %21 = arith.addf %19, %20 : f64
      %22 = affine.load %v[%i, %j + 1] : memref<?x?xf64>
      %23 = arith.addf %21, %22 : f64
      %24 = affine.load %v[%i, %j] : memref<?x?xf64>
      %25 = arith.mulf %c0, %24 : f64
      %26 = arith.subf %23, %25 : f64
      affine.store %26, %r[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %n {
      // sides = r[2 * i - 1, 2 * j] + r[2 * i + 1, 2 * j] + r[2 * i, 2 * j - 1] + r[2 * i, 2 * j
      // + 1]
      %27 = affine.load %r[2 * %i - 1, 2 * %j] : memref<?x?xf64>
      %28 = affine.load %r[2 * %i + 1, 2 * %j] : memref<?x?xf64>
      %29 = arith.addf %27, %28 : f64
      %30 = affine.load %r[2 * %i, 2 * %j - 1] : memref<?x?xf64>
      %31 = arith.addf %29, %30 : f64
      %32 = affine.load %r[2 * %i, 2 * %j + 1] : memref<?x?xf64>
      %33 = arith.addf %31, %32 : f64
      // corners = r[2 * i - 1, 2 * j - 1] + r[2 * i - 1, 2 * j + 1] + r[2 * i + 1, 2 * j - 1] +
      // r[2 * i + 1, 2 * j + 1]
      %34 = affine.load %r[2 * %i - 1, 2 * %j - 1] : memref<?x?xf64>
      %35 = affine.load %r[2 * %i - 1, 2 * %j + 1] : memref<?x?xf64>
      %36 = arith.addf %34, %35 : f64
      %37 = affine.load %r[2 * %i + 1, 2 * %j - 1] : memref<?x?xf64>
      %38 = arith.addf %36, %37 : f64
      %39 = affine.load %r[2 * %i + 1, 2 * %j + 1] : memref<?x?xf64>
      %40 = arith.addf %38, %39 : f64
      // coarse[i, j] = r[2 * i, 2 * j] + 0.5 * sides + 0.25 * corners
      %41 = affine.load %r[2 * %i, 2 * %j] : memref<?x?xf64>
      %42 = arith.mulf %c2, %33 : f64
      %43 = arith.addf %41, %42 : f64
      %44 = arith.mulf %c3, %40 : f64
      %45 = arith.addf %43, %44 : f64
      affine.store %45, %coarse[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %n {
      // e[i, j] = 0.25 * (coarse[i, j] + 0.2 * (coarse[i - 1, j] + coarse[i + 1, j] + coarse[i,
      // j - 1] + coarse[i, j + 1]))
      %46 = affine.load %coarse[%i, %j] : memref<?x?xf64>
      %47 = affine.load %coarse[%i - 1, %j] : memref<?x?xf64>
      %48 = affine.load %coarse[%i + 1, %j] : memref<?x?xf64>
      %49 = arith.addf %47, %48 : f64
      %50 = affine.load %coarse[%i, %j - 1] : memref<?x?xf64>
      %51 = arith.addf %49, %50 : f64
      %52 = affine.load %coarse[%i, %j + 1] : memref<?x?xf64>
      %53 = arith.addf %51, %52 : f64
      %54 = arith.mulf %c1, %53 : f64
      %55 = arith.addf %46, %54 : f64
      %56 = arith.mulf %c3, %55 : f64
      affine.store %56, %e[%i, %j] : memref<?x?xf64>
    }
  }
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      // v[2 * i, 2 * j] += e[i, j]
      %57 = affine.load %v[2 * %i, 2 * %j] : memref<?x?xf64>
      %58 = affine.load %e[%i, %j] : memref<?x?xf64>
      %59 = arith.addf %57, %58 : f64
      affine.store %59, %v[2 * %i, 2 * %j] : memref<?x?xf64>
      // v[2 * i, 2 * j + 1] += 0.5 * (e[i, j] + e[i, j + 1])
      %60 = affine.load %v[2 * %i, 2 * %j + 1] : memref<?x?xf64>
      %61 = affine.load %e[%i, %j] : memref<?x?xf64>
      %62 = affine.load %e[%i, %j + 1] : memref<?x?xf64>
      %63 = arith.addf %61, %62 : f64
      %64 = arith.mulf %c2, %63 : f64
      %65 = arith.addf %60, %64 : f64
      affine.store %65, %v[2 * %i, 2 * %j + 1] : memref<?x?xf64>
      // v[2 * i + 1, 2 * j] += 0.5 * (e[i, j] + e[i + 1, j])
      %66 = affine.load %v[2 * %i + 1, 2 * %j] : memref<?x?xf64>
      %67 = affine.load %e[%i, %j] : memref<?x?xf64>
      %68 = affine.load %e[%i + 1, %j] : memref<?x?xf64>
      %69 = arith.addf %67, %68 : f64
      %70 = arith.mulf %c2, %69 : f64
      %71 = arith.addf %66, %70 : f64
      affine.store %71, %v[2 * %i + 1, 2 * %j] : memref<?x?xf64>
      // v[2 * i + 1, 2 * j + 1] += 0.25 * (e[i, j] + e[i, j + 1] + e[i + 1, j] + e[i + 1, j +
      // 1])
      %72 = affine.load %v[2 * %i + 1, 2 * %j + 1] : memref<?x?xf64>
      %73 = affine.load %e[%i, %j] : memref<?x?xf64>
      %74 = affine.load %e[%i, %j + 1] : memref<?x?xf64>
      %75 = arith.addf %73, %74 : f64
      %76 = affine.load %e[%i + 1, %j] : memref<?x?xf64>
      %77 = arith.addf %75, %76 : f64
      %78 = affine.load %e[%i + 1, %j + 1] : memref<?x?xf64>
      %79 = arith.addf %77, %78 : f64
      %80 = arith.mulf %c3, %79 : f64
      %81 = arith.addf %72, %80 : f64
      affine.store %81, %v[2 * %i + 1, 2 * %j + 1] : memref<?x?xf64>
    }
  }
  return
}
