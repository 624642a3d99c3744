"""The sizes that a function is for: attributes of functions as sets of isl.

    func.func @f(%n: index, %A: memref<?xf64>)
      attributes {loopwright.assume = affine_set<(d0)[s0] : (d0 - s0 == 0)>,
                  loopwright.refused = [affine_set<(d0)[s0] : (d0 - 7 >= 0)>]}

is for arrays of `n` elements, at most 6 of them. Dimensions are the integer arguments in order,
symbols the dynamic extents of memref arguments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import cast

import islpy as isl
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineSetAttr,
    ArrayAttr,
    IndexType,
    IntegerType,
)
from xdsl.ir import Attribute
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineDimExpr,
    AffineExpr,
    AffineSet,
    AffineSymExpr,
)

from ...dialects.errors import SourceError
from ...dialects.marks import ASSUMPTION, REFUSED
from .aff_expression import aff_expression
from .affine_text import to_readable_text, to_text
from .identifiers import ArgumentNames
from .linear_terms import linear_terms


def integer_arguments(function: func.FuncOp) -> tuple[int, ...]:
    """The positions of the arguments that are dimensions of the sets."""
    inputs = function.function_type.inputs
    return tuple(n for n, each in enumerate(inputs) if isinstance(each, IndexType | IntegerType))


def assumptions(function: func.FuncOp) -> Iterator[tuple[bool, AffineSet]]:
    """The sets in the attributes, and whether sizes in them are refused; raises SourceError."""
    assumed, refused = function.attributes.get(ASSUMPTION), function.attributes.get(REFUSED)
    if assumed is not None:
        yield False, _checked(function, ASSUMPTION, assumed)
    if isinstance(refused, ArrayAttr):
        for each in cast("ArrayAttr[Attribute]", refused):
            yield True, _checked(function, REFUSED, each)
    elif refused is not None:
        raise SourceError.at(function, f"'{REFUSED}' is an array of affine sets")


def assumed_arguments(function: func.FuncOp) -> tuple[int, ...]:
    """The positions of the integer arguments that the attributes speak of; raises SourceError."""
    integers = integer_arguments(function)
    used = {
        expression.position
        for _, one in assumptions(function)
        for constraint in one.constraints
        for expression in constraint.lhs.dfs()
        if isinstance(expression, AffineDimExpr)
    }
    return tuple(integers[position] for position in sorted(used))


def _spellings(function: func.FuncOp) -> tuple[list[str], list[str]]:
    """The names of the integer arguments, and of the extents of arrays."""
    names = ArgumentNames.of(function)
    dims = [names.arguments[position] for position in integer_arguments(function)]
    return dims, list(names.dimensions.values())


def refused_sizes(function: func.FuncOp, sizes: Sequence[str]) -> Iterator[tuple[str, isl.Set]]:
    """Sets of values of `sizes`, by name, that the attributes exclude, each with what is wrong."""
    dims, symbols = _spellings(function)
    space = f"[{', '.join(sizes)}]"

    def spelled(constraint: AffineConstraintExpr) -> tuple[str, str]:
        relation = constraint.kind.value.replace("==", "=")
        return (
            f"{to_readable_text(constraint.lhs, dims, symbols)} {relation} 0",
            f"{to_text(constraint.lhs, dims, symbols)} {relation} 0",
        )

    for is_refused, one in assumptions(function):
        texts = list(map(spelled, one.constraints))
        if is_refused:
            readable = " and ".join(each for each, _ in texts)
            text = " and ".join(each for _, each in texts)
            yield f"is not for sizes with {readable}, and", isl.Set(f"{space} -> {{ : {text} }}")
        else:
            for readable, text in texts:
                excluded = isl.Set(f"{space} -> {{ : not ({text}) }}")
                yield f"is for sizes with {readable} only, but", excluded


def equal_sizes(function: func.FuncOp) -> tuple[frozenset[str], ...]:
    """The names of sizes that are equal by assumption, in groups."""
    dims, symbols = _spellings(function)
    groups: list[frozenset[str]] = []
    for is_refused, one in assumptions(function):
        for constraint in () if is_refused else one.constraints:
            if is_equality_of_sizes(constraint):
                terms, _ = linear_terms(constraint.lhs)
                pair = frozenset(to_text(each, dims, symbols) for each in terms)
                joined = pair.union(*(each for each in groups if each & pair))
                groups = [joined, *(each for each in groups if not each & pair)]
    return tuple(groups)


def least_sizes(function: func.FuncOp, known: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Extents that are not known, each with what those that are known ask of it.

    `s0 - d0 * 2 >= 0`, d0 = 5   ->   s0, 10
    """
    dims, symbols = _spellings(function)
    dim_values, symbol_values = ([known.get(name) for name in names] for names in (dims, symbols))
    for is_refused, one in assumptions(function):
        for constraint in () if is_refused else one.constraints:
            terms, _ = linear_terms(constraint.lhs)
            used = {each for term in terms for each in term.dfs()}
            open_dims = [n for n, each in enumerate(dim_values) if each is None]
            if any(AffineExpr.dimension(n) in used for n in open_dims):
                continue
            unknown = [
                n
                for n, each in enumerate(symbol_values)
                if each is None and AffineExpr.symbol(n) in used
            ]
            if len(unknown) == 1 and terms.get(AffineExpr.symbol(unknown[0])) == 1:
                least = -constraint.lhs.eval(
                    [each or 0 for each in dim_values], [each or 0 for each in symbol_values]
                )
                yield symbols[unknown[0]], max(least, 0)


def is_equality_of_sizes(constraint: AffineConstraintExpr) -> bool:
    """Whether a constraint says that two sizes are equal."""
    terms, constant = linear_terms(constraint.lhs)
    return (
        constraint.kind is AffineConstraintKind.eq
        and not constant
        and sorted(terms.values()) == [-1, 1]
        and all(isinstance(each, AffineDimExpr | AffineSymExpr) for each in terms)
    )


def affine_sets(
    sizes: isl.Set, values: Sequence[AffineExpr], inputs: tuple[int, int]
) -> list[AffineSetAttr]:
    """A set over tuples of sizes, `values`, as affine sets with so many dimensions and symbols."""
    zero = AffineExpr.constant(0)
    found: list[AffineSetAttr] = []
    for piece in sizes.compute_divs().make_disjoint().get_basic_sets():
        constraints: list[AffineConstraintExpr] = []
        for each in piece.get_constraints():
            aff = each.get_aff()
            expression = aff_expression(aff, {}).replace_dims_and_symbols(values, ())
            kind = AffineConstraintKind.eq if each.is_equality() else AffineConstraintKind.ge
            constraints.append(AffineConstraintExpr(kind, expression, zero))
        every = tuple(constraints) or (AffineConstraintExpr(AffineConstraintKind.ge, zero, zero),)
        found.append(AffineSetAttr(AffineSet(*inputs, every)))
    return found


def substitute_extents(function: func.FuncOp, shapes: Mapping[int, Sequence[int]]) -> None:
    """Known extents, by argument, in place of symbols of the attributes; others count anew.

    Call it before the arguments get these shapes.
    """
    extents = [
        shapes[argument][position] if argument in shapes else DYNAMIC_INDEX
        for argument, position in ArgumentNames.of(function).dimensions
    ]
    numbers = count()
    values = [
        AffineExpr.symbol(next(numbers)) if each == DYNAMIC_INDEX else AffineExpr.constant(each)
        for each in extents
    ]
    left = next(numbers)

    def substituted(one: AffineSet) -> AffineSetAttr:
        dims = [AffineExpr.dimension(n) for n in range(one.num_dims)]
        constraints = [
            AffineConstraintExpr(
                each.kind, each.lhs.replace_dims_and_symbols(dims, values), AffineExpr.constant(0)
            )
            for each in one.constraints
        ]
        return AffineSetAttr(AffineSet(one.num_dims, left, tuple(constraints)))

    sets = list(assumptions(function))
    for name, is_refused in ((ASSUMPTION, False), (REFUSED, True)):
        own = [substituted(one) for refused, one in sets if refused == is_refused]
        if own:
            function.attributes[name] = ArrayAttr(own) if is_refused else own[0]


def _checked(function: func.FuncOp, name: str, attribute: Attribute) -> AffineSet:
    """The set in an attribute; raises SourceError where it is none over sizes of the function."""
    if not isinstance(attribute, AffineSetAttr):
        raise SourceError.at(function, f"'{name}' has {attribute}, which is no affine set")
    one = attribute.data
    integers = len(integer_arguments(function))
    extents = len(ArgumentNames.of(function).dimensions)
    if one.num_dims > integers or one.num_symbols > extents:
        raise SourceError.at(
            function,
            f"'{name}' has {one.num_dims} dimensions and {one.num_symbols} symbols, but the "
            f"function has {integers} integer arguments and {extents} dynamic extents",
        )
    return one
