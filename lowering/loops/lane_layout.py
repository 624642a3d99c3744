"""Layout of private arrays: the dimension along which vectors have their lanes is innermost.

An array that is private to an iteration of a vector loop has an expanded dimension for that loop,
and the elements of neighbouring iterations are neighbours, so that vectors are loads and stores
and no gathers and scatters:

    for b, vector: local T[b][4][4]          ->          T[4][4][b]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ...passes.polyhedral.scop import Access, Scop
from ..nest.index_expression import Index, linear_form
from ..nest.nest import Call, For, Nest, children
from .storage import Placement


def with_lanes_innermost(
    placements: Sequence[Placement], nest: Nest, scop: Scop, parameters: Mapping[str, Index]
) -> list[Placement]:
    """The placements, with the innermost dimension of each array chosen for the vector loops.

    An array stays as it is where vectors run along several of its dimensions, or along one that is
    its own and not that of the iterations which it is private to.
    """
    private = {p.array.name for p in placements if p.array.scope_depth and not p.whole}
    if not private:
        return list(placements)
    sizes = [parameters[parameter.name] for parameter in scop.parameters]
    accesses = {
        statement.name: [a for a in statement.accesses if a.array.name in private]
        for statement in scop.statements
    }
    found: dict[str, set[int]] = {name: set() for name in private}
    for call, vectors in _calls(nest, ()):
        values = dict(enumerate((*call.arguments, *sizes)))
        for access in accesses[call.statement]:
            found[access.array.name] |= _moved(access, values, vectors)
    return [
        _arranged(placement, found.get(placement.array.name, set())) for placement in placements
    ]


def _calls(nest: Nest, vectors: tuple[int, ...]) -> Iterator[tuple[Call, tuple[int, ...]]]:
    """The calls, with the variables of the vector loops around them."""
    if isinstance(nest, Call):
        if vectors:
            yield nest, vectors
        return
    if isinstance(nest, For) and nest.loop.vector is not None:
        vectors = (*vectors, nest.variable)
    for child in children(nest):
        yield from _calls(child, vectors)


def _moved(access: Access, values: Mapping[int, Index], vectors: Sequence[int]) -> set[int]:
    """The subscripts that differ between the lanes."""
    subscripts = [
        linear_form(expression, access.map.num_dims).substitute(values)
        for expression in access.map.results
    ]
    return {
        position
        for position, subscript in enumerate(subscripts)
        if any(subscript.depends_on(variable) for variable in vectors)
    }


def _arranged(placement: Placement, moved: set[int]) -> Placement:
    if len(moved) != 1:
        return placement
    (position,) = moved
    is_private = position < placement.array.scope_depth
    return replace(placement, innermost=position) if is_private else placement
