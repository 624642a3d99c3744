"""One sum, written in several ways; how programs are compared, and run by the interpreter."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from loopwright.dialects.parse import parse_module
from loopwright.passes.polyhedral.equivalence.equivalence import Comparison, assumption, compare
from loopwright.passes.polyhedral.equivalence.parameters import with_parameters_of
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.scop import Scop
from loopwright.runtime.calling.derived_signature import signature_of
from loopwright.runtime.calling.inputs import Settings, make_arguments
from support.arithmetic import UndefinedBehaviourError
from support.interpreter import Interpreter, OutOfBoundsError

SUM = """func.func @f(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %s[] : memref<f64>
    %1 = affine.load %A[%i] : memref<?xf64>
    %2 = arith.addf %0, %1 : f64
    affine.store %2, %s[] : memref<f64>
  }
  return
}"""

IN_A_REGISTER = """func.func @f(%m: index, %X: memref<?xf64>, %t: memref<f64>) {
  %0 = affine.load %t[] : memref<f64>
  %1 = affine.for %i = 0 to %m iter_args(%a = %0) -> f64 {
    %2 = affine.load %X[%i] : memref<?xf64>
    %3 = arith.addf %2, %a : f64
    affine.yield %3 : f64
  }
  affine.store %1, %t[] : memref<f64>
  return
}"""

UNROLLED = """func.func @f(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
  affine.for %i = 0 to affine_map<()[s0] -> (s0 floordiv 2 * 2)>()[%n] step 2 {
    %0 = affine.load %s[] : memref<f64>
    %1 = affine.load %A[%i] : memref<?xf64>
    %2 = arith.addf %0, %1 : f64
    %3 = affine.load %A[%i + 1] : memref<?xf64>
    %4 = arith.addf %2, %3 : f64
    affine.store %4, %s[] : memref<f64>
  }
  affine.if affine_set<()[s0] : (s0 mod 2 - 1 == 0, s0 >= 0)>()[%n] {
    %0 = affine.load %s[] : memref<f64>
    %1 = affine.load %A[symbol(%n) - 1] : memref<?xf64>
    %2 = arith.addf %0, %1 : f64
    affine.store %2, %s[] : memref<f64>
  }
  return
}"""

BACKWARDS = SUM.replace("%A[%i]", "%A[-%i + symbol(%n) - 1]")

TILED = """func.func @f(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
  affine.for %it = 0 to affine_map<()[s0] -> (s0 ceildiv 8)>()[%n] {
    affine.for %i = affine_map<(d0) -> (d0 * 8)>(%it)
        to min affine_map<(d0)[s0] -> (d0 * 8 + 8, s0)>(%it)[%n] {
    %0 = affine.load %s[] : memref<f64>
    %1 = affine.load %A[%i] : memref<?xf64>
    %2 = arith.addf %0, %1 : f64
    affine.store %2, %s[] : memref<f64>
  }
  }
  return
}"""

# Even and odd elements apart.
TWO_SUMS = """func.func @f(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
  %z = arith.constant 0.0 : f64
  %0 = affine.load %s[] : memref<f64>
  %1:2 = affine.for %i = 0 to affine_map<()[s0] -> (s0 floordiv 2 * 2)>()[%n] step 2
      iter_args(%a = %0, %b = %z) -> (f64, f64) {
    %2 = affine.load %A[%i] : memref<?xf64>
    %3 = arith.addf %2, %a : f64
    %4 = affine.load %A[%i + 1] : memref<?xf64>
    %5 = arith.addf %4, %b : f64
    affine.yield %3, %5 : f64, f64
  }
  %6 = arith.addf %1#0, %1#1 : f64
  affine.store %6, %s[] : memref<f64>
  affine.if affine_set<()[s0] : (s0 mod 2 - 1 == 0, s0 >= 0)>()[%n] {
    %7 = affine.load %s[] : memref<f64>
    %8 = affine.load %A[symbol(%n) - 1] : memref<?xf64>
    %9 = arith.addf %7, %8 : f64
    affine.store %9, %s[] : memref<f64>
  }
  return
}"""


def scop(text: str) -> Scop:
    (found,) = raise_module(parse_module(text)).values()
    return found


def compared(
    first: str, second: str, condition: str = "", *, fast_math: bool = False
) -> Comparison:
    one = scop(first)
    other = with_parameters_of(scop(second), one)
    return compare(
        one, other, assumption(one, condition) if condition else None, fast_math=fast_math
    )


def outcome(scop: Scop, module: ModuleOp, size: int) -> list[object] | None:
    """The arguments after a run by the interpreter; None where it leaves an array."""
    sizes = infer_extents(scop, {parameter.name: size for parameter in scop.parameters})
    settings = Settings({name: str(value) for name, value in sizes.items()})
    values = make_arguments(scop, signature_of(scop), settings)
    try:
        return [*values, *Interpreter(module, strict=False).run(scop.name, *values)]
    except (OutOfBoundsError, UndefinedBehaviourError):
        return None
