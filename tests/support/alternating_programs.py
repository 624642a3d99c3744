"""Time stencils whose steps choose their arrays or planes by a remainder of the step."""

from __future__ import annotations

from string import Template

PARITY = """
func.func @f(%steps: index, %n: index, %A: memref<?x?x${kind}>, %B: memref<?x?x${kind}>) {
  affine.for %t = ${first} to %steps {
    affine.if affine_set<(d0) : (d0 mod 2 == 0)>(%t) {
      affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
          %0 = affine.load %A[%i - 1, %j] : memref<?x?x${kind}>
          %1 = affine.load %A[%i, %j + 1] : memref<?x?x${kind}>
          %2 = arith.sub${suffix} %0, %1 : ${kind}
          %c = affine.load %A[%i, %j] : memref<?x?x${kind}>
          %e = arith.sub${suffix} %c, %2 : ${kind}
          affine.store %e, %B[%i, %j] : memref<?x?x${kind}>
        }
      }
    } else {
      affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
          %3 = affine.load %B[%i - 1, %j] : memref<?x?x${kind}>
          %4 = affine.load %B[%i, %j + 1] : memref<?x?x${kind}>
          %5 = arith.sub${suffix} %3, %4 : ${kind}
          %d = affine.load %B[%i, %j] : memref<?x?x${kind}>
          %g = arith.sub${suffix} %d, %5 : ${kind}
          affine.store %g, %A[%i, %j] : memref<?x?x${kind}>
        }
      }
    }
  }
  return
}
"""

PLANES = """
func.func @f(%steps: index, %n: index, %A: memref<${planes}x?x?x${kind}>) {
  affine.for %t = ${first} to %steps {
    affine.for %i = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
      affine.for %j = 1 to affine_map<()[s0] -> (s0 - 1)>()[%n] {
        %0 = affine.load %A[(%t + ${now}) mod ${planes}, %i - 1, %j]
          : memref<${planes}x?x?x${kind}>
        %1 = affine.load %A[(%t + ${now}) mod ${planes}, %i, %j + 1]
          : memref<${planes}x?x?x${kind}>
        %2 = arith.sub${suffix} %0, %1 : ${kind}
        %3 = affine.load %A[%t mod ${planes}, %i, %j] : memref<${planes}x?x?x${kind}>
        %4 = arith.sub${suffix} %2, %3 : ${kind}
        affine.store %4, %A[(%t + ${now} + 1) mod ${planes}, %i, %j]
          : memref<${planes}x?x?x${kind}>
      }
    }
  }
  return
}
"""


def parity(kind: str = "f64", first: int = 0) -> str:
    """Even steps read one array and write the other, odd ones the other way round."""
    return Template(PARITY).substitute(kind=kind, first=first, suffix=_suffix(kind))


def planes(count: int, kind: str = "f64", first: int = 0) -> str:
    """A step reads the last planes of an array and writes the next one, in turn."""
    now = count - 2
    return Template(PLANES).substitute(
        kind=kind, first=first, planes=count, now=now, suffix=_suffix(kind)
    )


def _suffix(kind: str) -> str:
    return "f" if kind.startswith("f") else "i"
