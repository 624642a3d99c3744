"""Run-time bounds check of a whole program: a predicate over its sizes."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import IndexType, i1
from xdsl.ir import Block, Region

from ...passes.polyhedral.bounds import sizes_outside
from ...passes.polyhedral.isl_context import bounded_for
from ...passes.polyhedral.scop import Scop
from ..nest.ast_to_nest import to_condition
from .ir_builder import IRBuilder


def bounds_check(scop: Scop, sizes: Mapping[str, int]) -> func.FuncOp | None:
    """A function of all `scop.sizes` but the given ones: whether no access leaves its array.

        affine.for %i = 0 to %n {             func.func @f.fits(%n: index, %A_dim0: index) -> i1 {
          affine.load %A[%i]            ->      ...  // not (n >= 1 and n > A_dim0 or A_dim0 < 0)
        }                                     }

    None when no access ever does. Raises SourceError where isl cannot tell.
    """
    with bounded_for(scop.func, f"the subscripts of '@{scop.name}'"):
        outside = sizes_outside(scop, sizes)
        if outside.is_empty():
            return None
        unbounded = isl.Set.universe(outside.get_space())
        test = isl.AstBuild.from_context(unbounded).expr_from_set(outside)
        open_sizes = [size for size in scop.sizes if size.name not in sizes]
        entry = Block(arg_types=[IndexType()] * len(open_sizes))
        builder = IRBuilder(entry)
        values = {
            size.name: builder.named(argument)
            for size, argument in zip(open_sizes, entry.args, strict=True)
        }
        leaves = builder.truth(to_condition(test, values))
    fits = builder.emit(arith.XOrIOp(leaves, builder.constant(1, i1)))
    builder.emit(func.ReturnOp(fits.result))
    return func.FuncOp(f"{scop.name}.fits", ([*entry.arg_types], [i1]), Region(entry))
