// The Deriche edge detection and smoothing filter: recursive passes along rows, then columns.
func.func @deriche(%w: index, %h: index, %alpha: f32, %imgIn: memref<?x?xf32>,
                   %imgOut: memref<?x?xf32>, %y1: memref<?x?xf32>, %y2: memref<?x?xf32>) {
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %minus_two = arith.constant -2.0 : f32
  %zero = arith.constant 0.0 : f32
  %0 = arith.negf %alpha : f32
  %1 = math.exp %0 : f32
  %2 = arith.subf %one, %1 : f32
  %3 = arith.mulf %2, %2 : f32
  %4 = arith.mulf %two, %alpha : f32
  %5 = arith.mulf %4, %1 : f32
  %6 = arith.addf %one, %5 : f32
  %7 = math.exp %4 : f32
  %8 = arith.subf %6, %7 : f32
  %k = arith.divf %3, %8 : f32
  %9 = arith.mulf %k, %1 : f32
  %10 = arith.subf %alpha, %one : f32
  %a2 = arith.mulf %9, %10 : f32
  %11 = arith.addf %alpha, %one : f32
  %a3 = arith.mulf %9, %11 : f32
  %12 = arith.negf %k : f32
  %13 = arith.mulf %minus_two, %alpha : f32
  %14 = math.exp %13 : f32
  %a4 = arith.mulf %12, %14 : f32
  %b1 = math.powf %two, %0 : f32
  %b2 = arith.negf %14 : f32
  %c1 = arith.constant 1.0 : f32
  %c2 = arith.constant 1.0 : f32
  affine.for %i = 0 to %w {
    %ym1 = memref.alloca() : memref<f32>
    %ym2 = memref.alloca() : memref<f32>
    %xm1 = memref.alloca() : memref<f32>
    // ym1 = 0.0
    affine.store %zero, %ym1[] : memref<f32>
    // ym2 = 0.0
    affine.store %zero, %ym2[] : memref<f32>
    // xm1 = 0.0
    affine.store %zero, %xm1[] : memref<f32>
    affine.for %j = 0 to %h {
      // y1[i][j] = a1 * imgIn[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2
      %15 = affine.load %imgIn[%i, %j] : memref<?x?xf32>
      %16 = arith.mulf %k, %15 : f32
      %17 = affine.load %xm1[] : memref<f32>
      %18 = arith.mulf %a2, %17 : f32
      %19 = arith.addf %16, %18 : f32
      %20 = affine.load %ym1[] : memref<f32>
      %21 = arith.mulf %b1, %20 : f32
      %22 = arith.addf %19, %21 : f32
      %23 = affine.load %ym2[] : memref<f32>
      %24 = arith.mulf %b2, %23 : f32
      %25 = arith.addf %22, %24 : f32
      affine.store %25, %y1[%i, %j] : memref<?x?xf32>
      // xm1 = imgIn[i][j]
      %26 = affine.load %imgIn[%i, %j] : memref<?x?xf32>
      affine.store %26, %xm1[] : memref<f32>
      // ym2 = ym1
      %27 = affine.load %ym1[] : memref<f32>
      affine.store %27, %ym2[] : memref<f32>
      // ym1 = y1[i][j]
      %28 = affine.load %y1[%i, %j] : memref<?x?xf32>
      affine.store %28, %ym1[] : memref<f32>
    }
  }
  affine.for %i = 0 to %w {
    %yp1 = memref.alloca() : memref<f32>
    %yp2 = memref.alloca() : memref<f32>
    %xp1 = memref.alloca() : memref<f32>
    %xp2 = memref.alloca() : memref<f32>
    // yp1 = 0.0
    affine.store %zero, %yp1[] : memref<f32>
    // yp2 = 0.0
    affine.store %zero, %yp2[] : memref<f32>
    // xp1 = 0.0
    affine.store %zero, %xp1[] : memref<f32>
    // xp2 = 0.0
    affine.store %zero, %xp2[] : memref<f32>
    // j counts down in C, from h - 1 to 0: it is h - %j - 1
    affine.for %j = 0 to %h {
      // y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
      %29 = affine.load %xp1[] : memref<f32>
      %30 = arith.mulf %a3, %29 : f32
      %31 = affine.load %xp2[] : memref<f32>
      %32 = arith.mulf %a4, %31 : f32
      %33 = arith.addf %30, %32 : f32
      %34 = affine.load %yp1[] : memref<f32>
      %35 = arith.mulf %b1, %34 : f32
      %36 = arith.addf %33, %35 : f32
      %37 = affine.load %yp2[] : memref<f32>
      %38 = arith.mulf %b2, %37 : f32
      %39 = arith.addf %36, %38 : f32
      affine.store %39, %y2[%i, symbol(%h) - %j - 1] : memref<?x?xf32>
      // xp2 = xp1
      %40 = affine.load %xp1[] : memref<f32>
      affine.store %40, %xp2[] : memref<f32>
      // xp1 = imgIn[i][j]
      %41 = affine.load %imgIn[%i, symbol(%h) - %j - 1] : memref<?x?xf32>
      affine.store %41, %xp1[] : memref<f32>
      // yp2 = yp1
      %42 = affine.load %yp1[] : memref<f32>
      affine.store %42, %yp2[] : memref<f32>
      // yp1 = y2[i][j]
      %43 = affine.load %y2[%i, symbol(%h) - %j - 1] : memref<?x?xf32>
      affine.store %43, %yp1[] : memref<f32>
    }
  }
  affine.for %i = 0 to %w {
    affine.for %j = 0 to %h {
      // imgOut[i][j] = c1 * (y1[i][j] + y2[i][j])
      %44 = affine.load %y1[%i, %j] : memref<?x?xf32>
      %45 = affine.load %y2[%i, %j] : memref<?x?xf32>
      %46 = arith.addf %44, %45 : f32
      %47 = arith.mulf %c1, %46 : f32
      affine.store %47, %imgOut[%i, %j] : memref<?x?xf32>
    }
  }
  affine.for %j = 0 to %h {
    %tm1 = memref.alloca() : memref<f32>
    %ym1 = memref.alloca() : memref<f32>
    %ym2 = memref.alloca() : memref<f32>
    // tm1 = 0.0
    affine.store %zero, %tm1[] : memref<f32>
    // ym1 = 0.0
    affine.store %zero, %ym1[] : memref<f32>
    // ym2 = 0.0
    affine.store %zero, %ym2[] : memref<f32>
    affine.for %i = 0 to %w {
      // y1[i][j] = a5 * imgOut[i][j] + a6 * tm1 + b1 * ym1 + b2 * ym2
      %48 = affine.load %imgOut[%i, %j] : memref<?x?xf32>
      %49 = arith.mulf %k, %48 : f32
      %50 = affine.load %tm1[] : memref<f32>
      %51 = arith.mulf %a2, %50 : f32
      %52 = arith.addf %49, %51 : f32
      %53 = affine.load %ym1[] : memref<f32>
      %54 = arith.mulf %b1, %53 : f32
      %55 = arith.addf %52, %54 : f32
      %56 = affine.load %ym2[] : memref<f32>
      %57 = arith.mulf %b2, %56 : f32
      %58 = arith.addf %55, %57 : f32
      affine.store %58, %y1[%i, %j] : memref<?x?xf32>
      // tm1 = imgOut[i][j]
      %59 = affine.load %imgOut[%i, %j] : memref<?x?xf32>
      affine.store %59, %tm1[] : memref<f32>
      // ym2 = ym1
      %60 = affine.load %ym1[] : memref<f32>
      affine.store %60, %ym2[] : memref<f32>
      // ym1 = y1[i][j]
      %61 = affine.load %y1[%i, %j] : memref<?x?xf32>
      affine.store %61, %ym1[] : memref<f32>
    }
  }
  affine.for %j = 0 to %h {
    %tp1 = memref.alloca() : memref<f32>
    %tp2 = memref.alloca() : memref<f32>
    %yp1 = memref.alloca() : memref<f32>
    %yp2 = memref.alloca() : memref<f32>
    // tp1 = 0.0
    affine.store %zero, %tp1[] : memref<f32>
    // tp2 = 0.0
    affine.store %zero, %tp2[] : memref<f32>
    // yp1 = 0.0
    affine.store %zero, %yp1[] : memref<f32>
    // yp2 = 0.0
    affine.store %zero, %yp2[] : memref<f32>
    // i counts down in C, from w - 1 to 0: it is w - %i - 1
    affine.for %i = 0 to %w {
      // y2[i][j] = a7 * tp1 + a8 * tp2 + b1 * yp1 + b2 * yp2
      %62 = affine.load %tp1[] : memref<f32>
      %63 = arith.mulf %a3, %62 : f32
      %64 = affine.load %tp2[] : memref<f32>
      %65 = arith.mulf %a4, %64 : f32
      %66 = arith.addf %63, %65 : f32
      %67 = affine.load %yp1[] : memref<f32>
      %68 = arith.mulf %b1, %67 : f32
      %69 = arith.addf %66, %68 : f32
      %70 = affine.load %yp2[] : memref<f32>
      %71 = arith.mulf %b2, %70 : f32
      %72 = arith.addf %69, %71 : f32
      affine.store %72, %y2[symbol(%w) - %i - 1, %j] : memref<?x?xf32>
      // tp2 = tp1
      %73 = affine.load %tp1[] : memref<f32>
      affine.store %73, %tp2[] : memref<f32>
      // tp1 = imgOut[i][j]
      %74 = affine.load %imgOut[symbol(%w) - %i - 1, %j] : memref<?x?xf32>
      affine.store %74, %tp1[] : memref<f32>
      // yp2 = yp1
      %75 = affine.load %yp1[] : memref<f32>
      affine.store %75, %yp2[] : memref<f32>
      // yp1 = y2[i][j]
      %76 = affine.load %y2[symbol(%w) - %i - 1, %j] : memref<?x?xf32>
      affine.store %76, %yp1[] : memref<f32>
    }
  }
  affine.for %i = 0 to %w {
    affine.for %j = 0 to %h {
      // imgOut[i][j] = c2 * (y1[i][j] + y2[i][j])
      %77 = affine.load %y1[%i, %j] : memref<?x?xf32>
      %78 = affine.load %y2[%i, %j] : memref<?x?xf32>
      %79 = arith.addf %77, %78 : f32
      %80 = arith.mulf %c2, %79 : f32
      affine.store %80, %imgOut[%i, %j] : memref<?x?xf32>
    }
  }
  return
}
