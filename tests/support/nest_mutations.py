"""Faults that are put into a generated nest, one at a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from xdsl.ir.affine import AffineExpr, AffineMap

from loopwright.lowering.loops.storage import Offset, Placement
from loopwright.lowering.nest.index_expression import Connective
from loopwright.lowering.nest.nest import Block, Call, For, Guard, Nest, Once, TileSplit, walk
from loopwright.lowering.validation.generated import Generated
from loopwright.passes.polyhedral.scop import Access, Array, Scop
from loopwright.passes.schedules.program_edits import make_access

Rebuild = Callable[[Nest], Nest]
NEVER = Connective("any", ())
ALWAYS = Connective("all", ())


def mutants(generated: Generated) -> Iterator[tuple[str, Generated]]:
    """Every mutant of a nest and of where its local arrays are, with what was done.

    What was made of the nest afterwards is not what is made of a mutant.
    """
    generated = replace(generated, rewritings=())
    for what, nest in nest_mutants(generated.nest):
        yield what, with_nest(generated, nest)
    for number, placement in enumerate(generated.placements):
        for what, changed in _placements(placement):
            others = list(generated.placements)
            others[number] = changed
            yield f"{placement.array.name}: {what}", replace(generated, placements=others)


def subscript_mutants(generated: Generated) -> Iterator[tuple[str, Generated]]:
    """Statements that access another element, or another array."""
    generated = replace(generated, rewritings=())
    scop = generated.scop
    for statement in scop.statements:
        for number, access in enumerate(statement.accesses):
            for what, array, results in _elements(scop, access):
                map_ = AffineMap(access.map.num_dims, access.map.num_symbols, tuple(results))
                other = make_access(scop, access.kind, array, map_, statement.domain, access.op)
                accesses = (*statement.accesses[:number], other, *statement.accesses[number + 1 :])
                statements = tuple(
                    replace(each, accesses=accesses) if each is statement else each
                    for each in scop.statements
                )
                changed = replace(generated, scop=replace(scop, statements=statements))
                yield f"{statement.name}, access {number}: {what}", changed


def _elements(scop: Scop, access: Access) -> Iterator[tuple[str, Array, list[AffineExpr]]]:
    results = list(access.map.results)
    if access.is_opaque:
        return
    for k in range(len(results)):
        for by in (1, -1):
            shifted = [*results[:k], results[k] + by, *results[k + 1 :]]
            yield f"subscript {k} {by:+d}", access.array, shifted
    for k in range(len(results) - 1):
        swapped = [*results[:k], results[k + 1], results[k], *results[k + 2 :]]
        yield f"subscripts {k} and {k + 1} swapped", access.array, swapped
    for array in scop.arrays:
        is_alike = len(array.shape) == len(results) and not array.is_local
        if is_alike and array is not access.array and not access.array.is_local:
            yield f"{array.name} for {access.array.name}", array, results


def several(
    source: random.Random, generated: Generated, count: int
) -> Iterator[tuple[str, Generated]]:
    """Random mutants with two or three faults each."""
    for _ in range(count):
        names: list[str] = []
        mutant = generated
        for _ in range(source.randint(2, 3)):
            found = [*mutants(mutant), *subscript_mutants(mutant)]
            if found:
                name, mutant = source.choice(found)
                names.append(name)
        yield "; ".join(names), mutant


def with_nest(generated: Generated, nest: Nest) -> Generated:
    """The same with another nest, in which all loops are vectors that are marked as such."""
    vectors = [n for n in walk(nest) if isinstance(n, For) and n.loop.vector is not None]
    return replace(generated, nest=nest, vectors=vectors)


def nest_mutants(nest: Nest) -> Iterator[tuple[str, Nest]]:
    """Every mutant of a nest, outer loops first, with what was done."""
    yield from _here(nest)
    match nest:
        case For(body=body) | Once(body=body):
            for what, inner in nest_mutants(body):
                yield what, replace(nest, body=inner)
        case Block(parts):
            for number, part in enumerate(parts):
                for what, inner in nest_mutants(part):
                    yield what, Block((*parts[:number], inner, *parts[number + 1 :]))
        case Guard(condition, one, other):
            for what, inner in nest_mutants(one):
                yield what, Guard(condition, inner, other)
            for what, inner in nest_mutants(other):
                yield what, Guard(condition, one, inner)
        case TileSplit(condition, one, other):
            for what, inner in nest_mutants(one):
                yield what, TileSplit(condition, inner, other)
            for what, inner in nest_mutants(other):
                yield what, TileSplit(condition, one, inner)
        case Call():
            pass


def _here(nest: Nest) -> Iterator[tuple[str, Nest]]:
    match nest:
        case Call(statement, arguments):
            yield f"no call of {statement}", Block(())
            yield f"{statement} twice", Block((nest, nest))
            for number, argument in enumerate(arguments):
                shifted = (*arguments[:number], argument + 1, *arguments[number + 1 :])
                yield f"argument {number} of {statement} + 1", Call(statement, shifted)
        case Block(parts):
            for number in range(len(parts) - 1):
                swapped = list(parts)
                swapped[number : number + 2] = reversed(swapped[number : number + 2])
                yield f"parts {number} and {number + 1} swapped", Block(tuple(swapped))
        case Guard(_, one, other) | TileSplit(_, one, other):
            for what, condition in (("always", ALWAYS), ("never", NEVER)):
                yield f"a condition {what} holds", replace(nest, condition=condition)
            if not isinstance(nest, TileSplit):
                yield "a guard is dropped", one
            yield "branches swapped", Guard(nest.condition, other, one)
        case For():
            yield from _loops(nest)
        case Once(loop, value):
            yield f"value of {loop.name} + 1", replace(nest, value=value + 1)


def _loops(nest: For) -> Iterator[tuple[str, Nest]]:
    name = nest.loop.name
    for by in (1, -1):
        lower = tuple(bound + by for bound in nest.lower)
        upper = tuple(bound + by for bound in nest.upper)
        yield f"lower bound of {name} {by:+d}", replace(nest, lower=lower)
        yield f"upper bound of {name} {by:+d}", replace(nest, upper=upper)
    yield f"step of {name} doubled", replace(nest, step=nest.step * 2)
    for kind, bounds in (("lower", nest.lower), ("upper", nest.upper)):
        for number in range(len(bounds)) if len(bounds) > 1 else ():
            fewer = bounds[:number] + bounds[number + 1 :]
            yield f"{kind} bound {number} of {name} dropped", replace(nest, **{kind: fewer})
    if not nest.loop.parallel:
        yield f"{name} parallel", replace(nest, loop=replace(nest.loop, parallel=True))
        yield f"{name} in vectors", replace(nest, loop=replace(nest.loop, vector=4))
    inner = nest.body
    if isinstance(inner, For):
        bounds = (*inner.lower, *inner.upper)
        if not any(index.depends_on(nest.variable) for index in bounds):
            swapped = replace(inner, body=replace(nest, body=inner.body))
            yield f"{name} and {inner.loop.name} swapped", swapped


def _placements(placement: Placement) -> Iterator[tuple[str, Placement]]:
    for number in range(len(placement.offsets)):
        for by in (1, -1):
            offsets = list(placement.offsets)
            offsets[number] = _shifted(offsets[number], by)
            yield f"origin {number} {by:+d}", replace(placement, offsets=tuple(offsets))
        sizes = list(placement.sizes)
        sizes[number] = sizes[number] - 1
        yield f"size {number} - 1", replace(placement, sizes=tuple(sizes))


def _shifted(offset: Offset, by: int) -> Offset:
    return lambda outer: offset(outer) + by
