"""Loops that LLVM must not make vectors of: those with thousands of constants.

LLVM 22 looks through all constants of a loop for each one: a sum of 20,000 terms takes a minute.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import affine, arith, scf
from xdsl.ir import Operation, SSAValue

from ..loops.operations import operations

MOST = 2000
"""Constants up to which LLVM takes about half a second."""


def many_constants(function: Operation) -> Iterator[SSAValue]:
    """The indices of loops that use more than `MOST` different constants."""
    for loop in operations(function):
        if isinstance(loop, affine.ForOp | scf.ForOp):
            operands = {operand for op in operations(loop) for operand in op.operands}
            constants = {
                (value.owner.value, value.type)
                for value in operands
                if isinstance(value.owner, arith.ConstantOp)
            }
            if len(constants) > MOST:
                yield loop.body.block.args[0]
