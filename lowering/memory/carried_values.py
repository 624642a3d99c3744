"""Loops rebuilt to carry more values from iteration to iteration."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Block, SSAValue

from ...dialects import affine
from ..loops.alias_analysis import Numbering
from ..loops.ir_builder import IRBuilder
from ..nest.index_expression import Connective, decide


def replace_loop(
    loop: affine.ForOp,
    entry: Block,
    numbering: Numbering,
    runs: Connective,
    place: Callable[[IRBuilder], None],
) -> None:
    """Puts what `place` builds where a loop was, behind the condition that the loop runs at all.

    The loop is detached when `place` is called.
    """
    # Numbers values that nothing else has named so far.
    numbering.results(loop.lowerBoundMap, loop.lowerBoundOperands)
    numbering.results(loop.upperBoundMap, loop.upperBoundOperands)
    builder = IRBuilder(entry)
    builder.values = dict(enumerate(numbering.values))
    builder.count = len(numbering.values)
    builder.block = Block()
    parent, following = loop.parent, loop.next_op
    assert parent is not None and following is not None
    loop.detach()
    if decide(runs):
        place(builder)
    else:
        builder.branch(runs, lambda: place(builder), None)
    for operation in list(builder.block.ops):
        operation.detach()
        parent.insert_op_before(operation, following)


def carrying(
    loop: affine.ForOp, initial: Sequence[SSAValue], last: Sequence[SSAValue]
) -> affine.ForOp:
    """A loop with the body of another one, that carries these values behind those of the other.

    `initial` are those before the first iteration, `last` those at the end of each. The body has
    its arguments already; the other loop has no users and no body afterwards.
    """
    end = loop.body.block.last_op
    assert isinstance(end, affine.YieldOp)
    values = [*end.operands, *last]
    end.detach()
    end.erase()
    loop.body.block.add_op(affine.YieldOp.get(*values))
    inits = [*loop.inits, *initial]
    result = affine.ForOp.from_region(
        loop.lowerBoundOperands,
        loop.upperBoundOperands,
        inits,
        [value.type for value in inits],
        loop.lowerBoundMap,
        loop.upperBoundMap,
        loop.detach_region(loop.body),
        loop.step,
    )
    result.attributes |= loop.attributes
    for old, new in zip(loop.results, result.results, strict=False):
        old.replace_all_uses_with(new)
    return result
