// Conway's game of life on bytes, two generations per step.
func.func @life(%steps: index, %rows: index, %columns: index, %cells: memref<?x?xi8>,
                %next: memref<?x?xi8>) {
  %c0 = arith.constant 3 : i8
  %c1 = arith.constant 2 : i8
  %c2 = arith.constant 0 : i8
  %c3 = arith.constant 1 : i8
  affine.for %t = 0 to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%rows] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%columns] {
        // sum = cells[i - 1, j - 1] + cells[i - 1, j] + cells[i - 1, j + 1] + cells[i, j - 1] +
        // cells[i, j + 1] + cells[i + 1, j - 1] + cells[i + 1, j] + cells[i + 1, j + 1]
        %0 = affine.load %cells[%i - 1, %j - 1] : memref<?x?xi8>
        %1 = affine.load %cells[%i - 1, %j] : memref<?x?xi8>
        %2 = arith.addi %0, %1 : i8
        %3 = affine.load %cells[%i - 1, %j + 1] : memref<?x?xi8>
        %4 = arith.addi %2, %3 : i8
        %5 = affine.load %cells[%i, %j - 1] : memref<?x?xi8>
        %6 = arith.addi %4, %5 : i8
        %7 = affine.load %cells[%i, %j + 1] : memref<?x?xi8>
        %8 = arith.addi %6, %7 : i8
        %9 = affine.load %cells[%i + 1, %j - 1] : memref<?x?xi8>
        %10 = arith.addi %8, %9 : i8
        %11 = affine.load %cells[%i + 1, %j] : memref<?x?xi8>
        %12 = arith.addi %10, %11 : i8
        %13 = affine.load %cells[%i + 1, %j + 1] : memref<?x?xi8>
        %14 = arith.addi %12, %13 : i8
        // next[i, j] = where(sum == 3, 1, where(sum == 2, cells[i, j], 0))
        %15 = arith.cmpi eq, %14, %c0 : i8
        %16 = arith.cmpi eq, %14, %c1 : i8
        %17 = affine.load %cells[%i, %j] : memref<?x?xi8>
        %18 = arith.select %16, %17, %c2 : i8
        %19 = arith.select %15, %c3, %18 : i8
        affine.store %19, %next[%i, %j] : memref<?x?xi8>
      }
    }
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%rows] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%columns] {
        // sum = next[i - 1, j - 1] + next[i - 1, j] + next[i - 1, j + 1] + next[i, j - 1] +
        // next[i, j + 1] + next[i + 1, j - 1] + next[i + 1, j] + next[i + 1, j + 1]
        %20 = affine.load %next[%i - 1, %j - 1] : memref<?x?xi8>
        %21 = affine.load %next[%i - 1, %j] : memref<?x?xi8>
        %22 = arith.addi %20, %21 : i8
        %23 = affine.load %next[%i - 1, %j + 1] : memref<?x?xi8>
        %24 = arith.addi %22, %23 : i8
        %25 = affine.load %next[%i, %j - 1] : memref<?x?xi8>
        %26 = arith.addi %24, %25 : i8
        %27 = affine.load %next[%i, %j + 1] : memref<?x?xi8>
        %28 = arith.addi %26, %27 : i8
        %29 = affine.load %next[%i + 1, %j - 1] : memref<?x?xi8>
        %30 = arith.addi %28, %29 : i8
        %31 = affine.load %next[%i + 1, %j] : memref<?x?xi8>
        %32 = arith.addi %30, %31 : i8
        %33 = affine.load %next[%i + 1, %j + 1] : memref<?x?xi8>
        %34 = arith.addi %32, %33 : i8
        // cells[i, j] = where(sum == 3, 1, where(sum == 2, next[i, j], 0))
        %35 = arith.cmpi eq, %34, %c0 : i8
        %36 = arith.cmpi eq, %34, %c1 : i8
        %37 = affine.load %next[%i, %j] : memref<?x?xi8>
        %38 = arith.select %36, %37, %c2 : i8
        %39 = arith.select %35, %c3, %38 : i8
        affine.store %39, %cells[%i, %j] : memref<?x?xi8>
      }
    }
  }
  return
}
