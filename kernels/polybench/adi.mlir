// Two-dimensional heat diffusion by the alternating direction implicit method.
func.func @adi(%tsteps: index, %n: index, %u: memref<?x?xf64>, %v: memref<?x?xf64>,
               %p: memref<?x?xf64>, %q: memref<?x?xf64>) {
  %one = arith.constant 1.0 : f64
  %two = arith.constant 2.0 : f64
  %zero = arith.constant 0.0 : f64
  %0 = arith.index_cast %n : index to i32
  %1 = arith.sitofp %0 : i32 to f64
  %DX = arith.divf %one, %1 : f64
  %2 = arith.index_cast %tsteps : index to i32
  %3 = arith.sitofp %2 : i32 to f64
  %DT = arith.divf %one, %3 : f64
  %B1 = arith.constant 2.0 : f64
  %B2 = arith.constant 1.0 : f64
  %4 = arith.mulf %B1, %DT : f64
  %5 = arith.mulf %DX, %DX : f64
  %mul1 = arith.divf %4, %5 : f64
  %6 = arith.mulf %B2, %DT : f64
  %7 = arith.mulf %DX, %DX : f64
  %mul2 = arith.divf %6, %7 : f64
  %8 = arith.negf %mul1 : f64
  %a = arith.divf %8, %two : f64
  %b = arith.addf %one, %mul1 : f64
  %9 = arith.negf %mul2 : f64
  %d = arith.divf %9, %two : f64
  %e = arith.addf %one, %mul2 : f64
  affine.for %t = 1 to affine_map<()[s0] -> (s0 + 1)>()[%tsteps] {
    // Column sweep
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      // v[0][i] = 1.0
      affine.store %one, %v[0, %i] : memref<?x?xf64>
      // p[i][0] = 0.0
      affine.store %zero, %p[%i, 0] : memref<?x?xf64>
      // q[i][0] = v[0][i]
      %10 = affine.load %v[0, %i] : memref<?x?xf64>
      affine.store %10, %q[%i, 0] : memref<?x?xf64>
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        // p[i][j] = -c / (a * p[i][j-1] + b)
        %11 = arith.negf %a : f64
        %12 = affine.load %p[%i, %j - 1] : memref<?x?xf64>
        %13 = arith.mulf %a, %12 : f64
        %14 = arith.addf %13, %b : f64
        %15 = arith.divf %11, %14 : f64
        affine.store %15, %p[%i, %j] : memref<?x?xf64>
        // q[i][j] = (-d * u[j][i-1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i+1] - a * q[i][j-1]) /
        //     (a * p[i][j-1] + b)
        %16 = arith.negf %d : f64
        %17 = affine.load %u[%j, %i - 1] : memref<?x?xf64>
        %18 = arith.mulf %16, %17 : f64
        %19 = arith.mulf %two, %d : f64
        %20 = arith.addf %one, %19 : f64
        %21 = affine.load %u[%j, %i] : memref<?x?xf64>
        %22 = arith.mulf %20, %21 : f64
        %23 = arith.addf %18, %22 : f64
        %24 = affine.load %u[%j, %i + 1] : memref<?x?xf64>
        %25 = arith.mulf %d, %24 : f64
        %26 = arith.subf %23, %25 : f64
        %27 = affine.load %q[%i, %j - 1] : memref<?x?xf64>
        %28 = arith.mulf %a, %27 : f64
        %29 = arith.subf %26, %28 : f64
        %30 = affine.load %p[%i, %j - 1] : memref<?x?xf64>
        %31 = arith.mulf %a, %30 : f64
        %32 = arith.addf %31, %b : f64
        %33 = arith.divf %29, %32 : f64
        affine.store %33, %q[%i, %j] : memref<?x?xf64>
      }
      // v[n-1][i] = 1.0
      affine.store %one, %v[symbol(%n) - 1, %i] : memref<?x?xf64>
      // j counts down in C, from n - 2 to 1: it is n - %j - 1
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        // v[j][i] = p[i][j] * v[j+1][i] + q[i][j]
        %34 = affine.load %p[%i, symbol(%n) - %j - 1] : memref<?x?xf64>
        %35 = affine.load %v[symbol(%n) - %j, %i] : memref<?x?xf64>
        %36 = arith.mulf %34, %35 : f64
        %37 = affine.load %q[%i, symbol(%n) - %j - 1] : memref<?x?xf64>
        %38 = arith.addf %36, %37 : f64
        affine.store %38, %v[symbol(%n) - %j - 1, %i] : memref<?x?xf64>
      }
    }
    // Row sweep
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      // u[i][0] = 1.0
      affine.store %one, %u[%i, 0] : memref<?x?xf64>
      // p[i][0] = 0.0
      affine.store %zero, %p[%i, 0] : memref<?x?xf64>
      // q[i][0] = u[i][0]
      %39 = affine.load %u[%i, 0] : memref<?x?xf64>
      affine.store %39, %q[%i, 0] : memref<?x?xf64>
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        // p[i][j] = -f / (d * p[i][j-1] + e)
        %40 = arith.negf %d : f64
        %41 = affine.load %p[%i, %j - 1] : memref<?x?xf64>
        %42 = arith.mulf %d, %41 : f64
        %43 = arith.addf %42, %e : f64
        %44 = arith.divf %40, %43 : f64
        affine.store %44, %p[%i, %j] : memref<?x?xf64>
        // q[i][j] = (-a * v[i-1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i+1][j] - d * q[i][j-1]) /
        //     (d * p[i][j-1] + e)
        %45 = arith.negf %a : f64
        %46 = affine.load %v[%i - 1, %j] : memref<?x?xf64>
        %47 = arith.mulf %45, %46 : f64
        %48 = arith.mulf %two, %a : f64
        %49 = arith.addf %one, %48 : f64
        %50 = affine.load %v[%i, %j] : memref<?x?xf64>
        %51 = arith.mulf %49, %50 : f64
        %52 = arith.addf %47, %51 : f64
        %53 = affine.load %v[%i + 1, %j] : memref<?x?xf64>
        %54 = arith.mulf %a, %53 : f64
        %55 = arith.subf %52, %54 : f64
        %56 = affine.load %q[%i, %j - 1] : memref<?x?xf64>
        %57 = arith.mulf %d, %56 : f64
        %58 = arith.subf %55, %57 : f64
        %59 = affine.load %p[%i, %j - 1] : memref<?x?xf64>
        %60 = arith.mulf %d, %59 : f64
        %61 = arith.addf %60, %e : f64
        %62 = arith.divf %58, %61 : f64
        affine.store %62, %q[%i, %j] : memref<?x?xf64>
      }
      // u[i][n-1] = 1.0
      affine.store %one, %u[%i, symbol(%n) - 1] : memref<?x?xf64>
      // j counts down in C, from n - 2 to 1: it is n - %j - 1
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        // u[i][j] = p[i][j] * u[i][j+1] + q[i][j]
        %63 = affine.load %p[%i, symbol(%n) - %j - 1] : memref<?x?xf64>
        %64 = affine.load %u[%i, symbol(%n) - %j] : memref<?x?xf64>
        %65 = arith.mulf %63, %64 : f64
        %66 = affine.load %q[%i, symbol(%n) - %j - 1] : memref<?x?xf64>
        %67 = arith.addf %65, %66 : f64
        affine.store %67, %u[%i, symbol(%n) - %j - 1] : memref<?x?xf64>
      }
    }
  }
  return
}
