"""Nests that are not what their trees say are recognised."""

from __future__ import annotations

from dataclasses import replace

import islpy as isl
import pytest

from loopwright.lowering.nest.faithfulness import is_faithful
from loopwright.lowering.nest.index_expression import Comparison, Index, Quotient
from loopwright.lowering.nest.nest import Block, Call, For, Guard, Nest, TileSplit
from loopwright.passes.polyhedral.schedule_tree import Leaf, Loop, Sequence

N, ROW, COLUMN = Index.variable(0), Index.variable(1), Index.variable(2)

DOMAINS = {
    "S": isl.Set("[n] -> { S[i, p] : 0 <= i < n and i mod 2 = 1 and 0 <= p <= i }"),
    "T": isl.Set("[n] -> { T[i] : 0 <= i < n }"),
}
CONTEXT = isl.Set("[n] -> { : n >= 0 }")
INNER = Loop("p", {"S": isl.Aff("[n] -> { S[i, p] -> [(p)] }")}, Leaf("S"))
TREE = Loop(
    "i",
    {
        "S": isl.Aff("[n] -> { S[i, p] -> [(i)] }"),
        "T": isl.Aff("[n] -> { T[i] -> [(i)] }"),
    },
    Sequence((INNER, Leaf("T"))),
)

IS_ODD = Comparison("==", ROW - Index.of(Quotient(ROW, 2)) * 2 - 1)
S, T = Call("S", (ROW, COLUMN)), Call("T", (ROW,))
LOOP = For(INNER, 2, (Index(0),), (ROW + 1,), 1, S)


GUARDED = Guard(IS_ODD, LOOP)


def nest(first: Nest = GUARDED, second: Nest = T) -> For:
    return For(TREE, 1, (Index(0),), (N,), 1, Block((first, second)))


def accepted(candidate: Nest, *, exact: bool = True) -> bool:
    return is_faithful(candidate, TREE, DOMAINS, CONTEXT, {"n": N}, exact=exact)


def test_the_nest_itself() -> None:
    assert accepted(nest())
    assert accepted(nest(TileSplit(IS_ODD, LOOP, Block(()))))


SHIFTED = For(INNER, 2, (Index(1),), (ROW + 2,), 1, Call("S", (ROW, COLUMN - 1)))

WRONG = {
    "a guard is lost": nest(LOOP),
    "an iteration is lost": nest(Guard(IS_ODD, replace(LOOP, upper=(ROW,)))),
    "every other iteration is lost": nest(Guard(IS_ODD, replace(LOOP, step=2))),
    "a statement is lost": nest(Block(())),
    "a statement runs twice": nest(second=Block((T, T))),
    "a statement runs in every iteration of a loop": nest(
        Guard(IS_ODD, replace(LOOP, body=Block((S, Call("T", (COLUMN,))))))
    ),
    "another instance runs": nest(second=Call("T", (ROW + 1,))),
    "instances run in the order of other iterations": nest(second=Call("T", (N - 1 - ROW,))),
    "iterators are not the loop's values": nest(Guard(IS_ODD, SHIFTED)),
}


@pytest.mark.parametrize("reason", WRONG)
def test_what_is_wrong(reason: str) -> None:
    assert not accepted(WRONG[reason])


def test_iterators_may_be_shifted_where_values_are_not_asked_for() -> None:
    assert accepted(nest(Guard(IS_ODD, SHIFTED)), exact=False)
    assert not accepted(nest(second=Call("T", (N - 1 - ROW,))), exact=False)


def test_sizes_out_of_the_context_do_not_count() -> None:
    short = replace(nest(), upper=(Index(8),))
    assert not accepted(short)
    eight = CONTEXT.fix_val(isl.dim_type.param, 0, isl.Val(8))
    assert is_faithful(short, TREE, DOMAINS, eight, {"n": N})
