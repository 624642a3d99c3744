"""Translation of loop IR to C99."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ..loops.call_graph import functions_in, with_callees
from . import affine_expressions, arithmetic, functions, loops, mathematics, memory, parallel
from .functions import print_function
from .names import function_name
from .printer import Emitters, Unit

EMITTERS: Emitters = {
    **affine_expressions.EMITTERS,
    **arithmetic.EMITTERS,
    **functions.EMITTERS,
    **loops.EMITTERS,
    **mathematics.EMITTERS,
    **memory.EMITTERS,
    **parallel.EMITTERS,
}

# clang warns where it does not follow `omp simd`.
_ONLY_A_REQUEST = """\
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#endif"""


def emit_c(
    op: func.FuncOp | ModuleOp, *, callees: bool = False, parallel: Collection[Operation] = ()
) -> str:
    """A function, with `callees` those that it calls, or all of a module, as a C99 file's text.

        affine.for %i = 0 to 200 {                for (int64_t i = 0; i < 200; i++) {
          %0 = affine.load %A[%i, %i + 1]    ->       A[i][i + 1] *= alpha;
          %1 = arith.mulf %0, %alpha              }
          affine.store %1, %A[%i, %i + 1]

    The loops in `parallel` and all `affine.parallel` get an OpenMP pragma, the outermost ones where
    they are nested, and so do loops with the attribute `omp.simd`. See `functions.py` for the
    signatures. Raises SourceError at what C cannot express: vectors, above all.
    """
    unit = Unit(EMITTERS, parallel)
    if isinstance(op, ModuleOp):
        found = list(functions_in(op).values())
    else:
        found = list(with_callees(op).values()) if callees else [op]
    names = frozenset(function_name(each.sym_name.data) for each in found)
    printed = [print_function(unit, each, names) for each in found]
    has_calls = any(isinstance(inner, func.CallOp) for each in found for inner in each.walk())
    has_simd = any("omp.simd" in inner.attributes for each in found for inner in each.walk())
    parts = [
        *([_ONLY_A_REQUEST] if has_simd else []),
        "\n".join(f"#include <{header}>" for header in sorted(unit.headers)),
        *(helper.text for helper in unit.helpers.values()),
        *(["\n".join(prototype for prototype, _ in printed)] if has_calls else []),
        *(definition for _, definition in printed),
    ]
    return "\n\n".join(parts) + "\n"
