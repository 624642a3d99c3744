"""Affine expressions print as text that means, and parses to, the same expression."""

from __future__ import annotations

from io import StringIO

from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineConstantExpr,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)
from xdsl.printer import Printer

from loopwright.dialects.affine import ApplyOp, print_map
from loopwright.dialects.parse import parse_module

Kind = AffineBinaryOpKind
_LEAVES = st.one_of(
    st.integers(-9, 9).map(AffineConstantExpr),
    st.integers(0, 1).map(AffineDimExpr),
    st.integers(0, 1).map(AffineSymExpr),
)


def _built(parts: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    """Expressions as parsers and passes build them: simplified on the way."""
    factors, divisors = st.integers(-5, 5), st.integers(1, 7)
    return st.one_of(
        st.tuples(parts, parts).map(lambda pair: pair[0] + pair[1]),
        st.tuples(parts, parts).map(lambda pair: pair[0] - pair[1]),
        st.tuples(parts, factors).map(lambda pair: pair[0] * pair[1]),
        st.tuples(parts, divisors).map(lambda pair: pair[0] // pair[1]),
        st.tuples(parts, divisors).map(lambda pair: pair[0] % pair[1]),
        st.tuples(parts, divisors).map(lambda pair: pair[0].ceil_div(pair[1])),
    )


def _raw(parts: st.SearchStrategy[AffineExpr]) -> st.SearchStrategy[AffineExpr]:
    """Expressions in any form, simplified or not."""
    divisors = st.integers(1, 7).map(AffineConstantExpr)
    factors = st.integers(-5, 5).map(AffineConstantExpr)
    return st.one_of(
        st.builds(AffineBinaryOpExpr, st.just(Kind.Add), parts, parts),
        st.builds(AffineBinaryOpExpr, st.just(Kind.Mul), parts, factors),
        st.builds(
            AffineBinaryOpExpr,
            st.sampled_from([Kind.Mod, Kind.FloorDiv, Kind.CeilDiv]),
            parts,
            divisors,
        ),
    )


def _printed(expression: AffineExpr) -> str:
    stream = StringIO()
    print_map(Printer(stream), AffineMap(2, 2, (expression,)))
    return stream.getvalue()


def _parsed(text: str) -> AffineExpr:
    module = parse_module(
        "func.func @f(%a: index, %b: index, %c: index, %d: index) {\n"
        f"  %0 = affine.apply {text}(%a, %b)[%c, %d]\n"
        "  return\n}"
    )
    apply = next(op for op in module.walk() if isinstance(op, ApplyOp))
    return apply.map.data.results[0]


@given(st.recursive(_LEAVES, _built, max_leaves=8))
@settings(max_examples=100, deadline=None)
def test_simplified_expressions_stay_as_they_are(expression: AffineExpr) -> None:
    assert _parsed(_printed(expression)) == expression


@given(
    st.recursive(_LEAVES, _raw, max_leaves=8),
    st.lists(st.integers(-20, 20), min_size=4, max_size=4),
)
@settings(max_examples=100, deadline=None)
def test_all_expressions_keep_their_value(expression: AffineExpr, at: list[int]) -> None:
    parsed = _parsed(_printed(expression))
    assert parsed.eval(at[:2], at[2:]) == expression.eval(at[:2], at[2:])
