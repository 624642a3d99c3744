"""Contractions by their equations."""

from __future__ import annotations

import loopwright
from loopwright.runtime.program import Function


def einsum(equation: str, order: str, element: str = "f64") -> Function:
    """A loop nest in the given order that adds the product of two operands to the result."""
    left, right, result = equation.replace("->", ",").split(",")
    arguments = [f"%n{name}: index" for name in order]
    for array, subscripts in zip("ABC", (left, right, result), strict=True):
        arguments.append(f"%{array}: memref<{'?x' * len(subscripts)}{element}>")
    arrays = dict(zip("ABC", (left, right, result), strict=True))
    subscripts = {a: ", ".join(f"%i{x}" for x in s) for a, s in arrays.items()}
    types = {a: f"memref<{'?x' * len(s)}{element}>" for a, s in arrays.items()}
    lines = [f"func.func @f({', '.join(arguments)}) {{"]
    lines += [f"affine.for %i{name} = 0 to %n{name} {{" for name in order]
    lines += [f"%{a.lower()} = affine.load %{a}[{subscripts[a]}] : {types[a]}" for a in "ABC"]
    lines += [
        f"%p = arith.mulf %a, %b : {element}",
        f"%s = arith.addf %c, %p : {element}",
        f"affine.store %s, %C[{subscripts['C']}] : {types['C']}",
    ]
    lines += ["}"] * len(order) + ["return", "}"]
    return loopwright.load("\n".join(lines))["f"]
