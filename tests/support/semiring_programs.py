"""Programs over semirings that no benchmark suite has: dynamic programming, closures of graphs."""

from __future__ import annotations

# The cheapest order of a chain of matrix products; by diagonals of the table.
MATRIX_CHAIN = """
func.func @f(%n: index, %p: memref<?xf64>, %m: memref<?x?xf64>) {
  %inf = arith.constant 1.0e30 : f64
  affine.for %l = 1 to %n {
    affine.for %i = 0 to affine_map<(d0)[s0] -> (s0 - d0)>(%l)[%n] {
      affine.store %inf, %m[%i, %i + %l] : memref<?x?xf64>
      affine.for %k = affine_map<(d0) -> (d0)>(%i) to affine_map<(d0, d1) -> (d0 + d1)>(%i, %l) {
        %0 = affine.load %m[%i, %k] : memref<?x?xf64>
        %1 = affine.load %m[%k + 1, %i + %l] : memref<?x?xf64>
        %2 = arith.addf %0, %1 : f64
        %3 = affine.load %p[%i] : memref<?xf64>
        %4 = affine.load %p[%k + 1] : memref<?xf64>
        %5 = affine.load %p[%i + %l] : memref<?xf64>
        %6 = arith.mulf %3, %4 : f64
        %7 = arith.mulf %6, %5 : f64
        %8 = arith.addf %2, %7 : f64
        %9 = affine.load %m[%i, %i + %l] : memref<?x?xf64>
        %10 = arith.minimumf %9, %8 : f64
        affine.store %10, %m[%i, %i + %l] : memref<?x?xf64>
      }
    }
  }
  return
}
"""

# Optimal binary search trees; columns outside, rows by their distance from the diagonal.
SEARCH_TREES = """
func.func @f(%n: index, %w: memref<?x?xi32>, %c: memref<?x?xi32>) {
  affine.for %j = 2 to %n {
    affine.for %d = 2 to affine_map<(d0) -> (d0 + 1)>(%j) {
      affine.for %r = affine_map<(d0, d1) -> (d0 - d1 + 1)>(%j, %d) to %j {
        %0 = affine.load %c[%j - %d, %r - 1] : memref<?x?xi32>
        %1 = affine.load %c[%r + 1, %j] : memref<?x?xi32>
        %2 = arith.addi %0, %1 : i32
        %3 = affine.load %c[%j - %d, %j] : memref<?x?xi32>
        %4 = arith.minsi %3, %2 : i32
        affine.store %4, %c[%j - %d, %j] : memref<?x?xi32>
      }
      %5 = affine.load %c[%j - %d, %j] : memref<?x?xi32>
      %6 = affine.load %w[%j - %d, %j] : memref<?x?xi32>
      %7 = arith.addi %5, %6 : i32
      affine.store %7, %c[%j - %d, %j] : memref<?x?xi32>
    }
  }
  return
}
"""

# How many parses a string has under S -> S S | a (CYK), modulo 2^32.
PARSES = """
func.func @f(%n: index, %t: memref<?x?xi32>) {
  affine.for %d = 2 to affine_map<()[s0] -> (s0 + 1)>()[%n] {
    affine.for %j = affine_map<(d0) -> (d0 - 1)>(%d) to %n {
      affine.for %k = affine_map<(d0, d1) -> (d1 - d0 + 1)>(%d, %j) to %j {
        %0 = affine.load %t[%j - %d + 1, %k] : memref<?x?xi32>
        %1 = affine.load %t[%k + 1, %j] : memref<?x?xi32>
        %2 = arith.muli %0, %1 : i32
        %3 = affine.load %t[%j - %d + 1, %j] : memref<?x?xi32>
        %4 = arith.addi %3, %2 : i32
        affine.store %4, %t[%j - %d + 1, %j] : memref<?x?xi32>
      }
    }
  }
  return
}
"""

# Smith-Waterman with general gaps: gaps of any length in a column and in a row.
GAPS = """
func.func @f(%n: index, %s: memref<?x?xf32>, %w: memref<?xf32>, %h: memref<?x?xf32>) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %n {
      %0 = affine.load %h[%i - 1, %j - 1] : memref<?x?xf32>
      %1 = affine.load %s[%i, %j] : memref<?x?xf32>
      %2 = arith.addf %0, %1 : f32
      %3 = affine.load %h[%i, %j] : memref<?x?xf32>
      %4 = arith.maximumf %2, %3 : f32
      affine.store %4, %h[%i, %j] : memref<?x?xf32>
      affine.for %k = 0 to %i {
        %5 = affine.load %h[%k, %j] : memref<?x?xf32>
        %6 = affine.load %w[%i - %k] : memref<?xf32>
        %7 = arith.subf %5, %6 : f32
        %8 = affine.load %h[%i, %j] : memref<?x?xf32>
        %9 = arith.maximumf %7, %8 : f32
        affine.store %9, %h[%i, %j] : memref<?x?xf32>
      }
      affine.for %k = 0 to %j {
        %5 = affine.load %h[%i, %k] : memref<?x?xf32>
        %6 = affine.load %w[%j - %k] : memref<?xf32>
        %7 = arith.subf %5, %6 : f32
        %8 = affine.load %h[%i, %j] : memref<?x?xf32>
        %9 = arith.maximumf %7, %8 : f32
        affine.store %9, %h[%i, %j] : memref<?x?xf32>
      }
    }
  }
  return
}
"""

# The most reliable paths between all pairs; columns outside.
RELIABILITY = """
func.func @f(%n: index, %r: memref<?x?xf32>) {
  affine.for %via = 0 to %n {
    affine.for %to = 0 to %n {
      affine.for %from = 0 to %n {
        %0 = affine.load %r[%from, %via] : memref<?x?xf32>
        %1 = affine.load %r[%via, %to] : memref<?x?xf32>
        %2 = arith.mulf %0, %1 : f32
        %3 = affine.load %r[%from, %to] : memref<?x?xf32>
        %4 = arith.maximumf %3, %2 : f32
        affine.store %4, %r[%from, %to] : memref<?x?xf32>
      }
    }
  }
  return
}
"""

# Transitive closure (Warshall).
CLOSURE = """
func.func @f(%n: index, %r: memref<?x?xi8>) {
  affine.for %k = 0 to %n {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %n {
        %0 = affine.load %r[%i, %j] : memref<?x?xi8>
        %1 = affine.load %r[%i, %k] : memref<?x?xi8>
        %2 = affine.load %r[%k, %j] : memref<?x?xi8>
        %3 = arith.andi %1, %2 : i8
        %4 = arith.ori %0, %3 : i8
        affine.store %4, %r[%i, %j] : memref<?x?xi8>
      }
    }
  }
  return
}
"""

# Shortest paths with a comparison: its order matters where there are NaN, and it is kept.
COMPARED = """
func.func @f(%n: index, %d: memref<?x?xf64>) {
  affine.for %k = 0 to %n {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %n {
        %0 = affine.load %d[%i, %j] : memref<?x?xf64>
        %1 = affine.load %d[%i, %k] : memref<?x?xf64>
        %2 = affine.load %d[%k, %j] : memref<?x?xf64>
        %3 = arith.addf %1, %2 : f64
        %4 = arith.cmpf olt, %3, %0 : f64
        %5 = arith.select %4, %3, %0 : f64
        affine.store %5, %d[%i, %j] : memref<?x?xf64>
      }
    }
  }
  return
}
"""

# An update that uses the pivot itself as well, as an elimination in place does.
ELIMINATION = """
func.func @f(%n: index, %a: memref<?x?xi32>) {
  affine.for %k = 0 to %n {
    affine.for %i = 0 to %n {
      affine.for %j = 0 to %n {
        %0 = affine.load %a[%i, %j] : memref<?x?xi32>
        %1 = affine.load %a[%i, %k] : memref<?x?xi32>
        %2 = affine.load %a[%k, %j] : memref<?x?xi32>
        %3 = affine.load %a[%k, %k] : memref<?x?xi32>
        %4 = arith.muli %1, %2 : i32
        %5 = arith.addi %4, %3 : i32
        %6 = arith.xori %0, %5 : i32
        affine.store %6, %a[%i, %j] : memref<?x?xi32>
      }
    }
  }
  return
}
"""
