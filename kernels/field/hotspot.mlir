// Heat on a chip: explicit steps with a power map, and a copy back (Rodinia's problem).
func.func @hotspot(%steps: index, %rows: index, %columns: index, %temperature: memref<?x?xf32>,
                   %power: memref<?x?xf32>, %next: memref<?x?xf32>) {
  %c0 = arith.constant 2.0 : f32
  %c1 = arith.constant 0.1 : f32
  %c2 = arith.constant 300.0 : f32
  %c3 = arith.constant 0.0125 : f32
  %c4 = arith.constant 0.5 : f32
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%rows] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%columns] {
        // c = temperature[i, j]
        %0 = affine.load %temperature[%i, %j] : memref<?x?xf32>
        // vertical = temperature[i - 1, j] + temperature[i + 1, j] - 2.0 * c
        %1 = affine.load %temperature[%i - 1, %j] : memref<?x?xf32>
        %2 = affine.load %temperature[%i + 1, %j] : memref<?x?xf32>
        %3 = arith.addf %1, %2 : f32
        %4 = arith.mulf %c0, %0 : f32
        %5 = arith.subf %3, %4 : f32
        // horizontal = temperature[i, j - 1] + temperature[i, j + 1] - 2.0 * c
        %6 = affine.load %temperature[%i, %j - 1] : memref<?x?xf32>
        %7 = affine.load %temperature[%i, %j + 1] : memref<?x?xf32>
        %8 = arith.addf %6, %7 : f32
        %9 = arith.mulf %c0, %0 : f32
        %10 = arith.subf %8, %9 : f32
        // next[i, j] = c + 0.5 * (power[i, j] + 0.1 * vertical + 0.1 * horizontal + 0.0125 *
        // (300.0 - c))
        %11 = affine.load %power[%i, %j] : memref<?x?xf32>
        %12 = arith.mulf %c1, %5 : f32
        %13 = arith.addf %11, %12 : f32
        %14 = arith.mulf %c1, %10 : f32
        %15 = arith.addf %13, %14 : f32
        %16 = arith.subf %c2, %0 : f32
        %17 = arith.mulf %c3, %16 : f32
        %18 = arith.addf %15, %17 : f32
        %19 = arith.mulf %c4, %18 : f32
        %20 = arith.addf %0, %19 : f32
        affine.store %20, %next[%i, %j] : memref<?x?xf32>
      }
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%rows] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%columns] {
        // temperature[i, j] = next[i, j]
        %21 = affine.load %next[%i, %j] : memref<?x?xf32>
        affine.store %21, %temperature[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
