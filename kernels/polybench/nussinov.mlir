// The largest number of base pairs in a folded RNA sequence (bases are 0 to 3).
func.func @nussinov(%n: index, %seq: memref<?xi32>, %table: memref<?x?xi32>) {
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  // i counts down in C, from n - 1 to 0: it is n - %i - 1
  affine.for %i = 0 to %n {
    affine.for %j = affine_map<(d0)[s0] -> (s0 - d0)>(%i)[%n] to %n {
      // if (j - 1 >= 0)
      affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%j) {
        // table[i][j] = max(table[i][j], table[i][j-1])
        %0 = affine.load %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
        %1 = affine.load %table[symbol(%n) - %i - 1, %j - 1] : memref<?x?xi32>
        %2 = arith.maxsi %0, %1 : i32
        affine.store %2, %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
      }
      // if (i + 1 < n)
      affine.if affine_set<(d0) : (d0 - 1 >= 0)>(%i) {
        // table[i][j] = max(table[i][j], table[i+1][j])
        %3 = affine.load %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
        %4 = affine.load %table[symbol(%n) - %i, %j] : memref<?x?xi32>
        %5 = arith.maxsi %3, %4 : i32
        affine.store %5, %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
      }
      // if (j - 1 >= 0 && i + 1 < n)
      affine.if affine_set<(d0, d1) : (d0 - 1 >= 0, d1 - 1 >= 0)>(%j, %i) {
        // if (i < j - 1)
        affine.if affine_set<(d0, d1)[s0] : (d0 + d1 - s0 - 1 >= 0)>(%j, %i)[%n] {
          // table[i][j] = max(table[i][j], table[i+1][j-1] + (1 if seq[i] + seq[j] == 3 else 0))
          %6 = affine.load %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
          %7 = affine.load %table[symbol(%n) - %i, %j - 1] : memref<?x?xi32>
          %8 = affine.load %seq[symbol(%n) - %i - 1] : memref<?xi32>
          %9 = affine.load %seq[%j] : memref<?xi32>
          %10 = arith.addi %8, %9 : i32
          %11 = arith.cmpi eq, %10, %three : i32
          %12 = arith.select %11, %one, %zero : i32
          %13 = arith.addi %7, %12 : i32
          %14 = arith.maxsi %6, %13 : i32
          affine.store %14, %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
        } else {
          // table[i][j] = max(table[i][j], table[i+1][j-1])
          %15 = affine.load %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
          %16 = affine.load %table[symbol(%n) - %i, %j - 1] : memref<?x?xi32>
          %17 = arith.maxsi %15, %16 : i32
          affine.store %17, %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
        }
      }
      affine.for %k = affine_map<(d0)[s0] -> (s0 - d0)>(%i)[%n] to %j {
        // table[i][j] = max(table[i][j], table[i][k] + table[k+1][j])
        %18 = affine.load %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
        %19 = affine.load %table[symbol(%n) - %i - 1, %k] : memref<?x?xi32>
        %20 = affine.load %table[%k + 1, %j] : memref<?x?xi32>
        %21 = arith.addi %19, %20 : i32
        %22 = arith.maxsi %18, %21 : i32
        affine.store %22, %table[symbol(%n) - %i - 1, %j] : memref<?x?xi32>
      }
    }
  }
  return
}
