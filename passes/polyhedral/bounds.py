"""Whether a program stays inside of its arrays, for known sizes."""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from xdsl.ir.affine import AffineExpr

from ...dialects.errors import SourceError
from ...dialects.locations import locate
from .affine_text import to_text
from .context import ISL_LOCK
from .counting import fix_parameters
from .scop import Access, AccessKind, Scop, Statement


class BoundsError(SourceError):
    """A program that would access an element outside of an array, with the sizes at hand."""


def check_bounds(scop: Scop, sizes: Mapping[str, int]) -> None:
    """Raises BoundsError, at the access, where the program would leave an array.

    `sizes` gives a value for every parameter, and for every other name in the shape of an array.
    """
    with ISL_LOCK:
        for statement in scop.statements:
            for access in statement.accesses:
                extents = _extents(scop, access, sizes)
                elements = fix_parameters(access.relation.range(), sizes)
                if not elements.is_subset(_inside(elements, extents)):
                    raise _error(scop, statement, access, sizes, extents)


def _extents(scop: Scop, access: Access, sizes: Mapping[str, int]) -> tuple[int | None, ...]:
    values = [sizes[parameter.name] for parameter in scop.parameters]
    extents: list[int | None] = []
    for extent in access.array.shape:
        match extent:
            case AffineExpr():
                extents.append(extent.eval((), values))
            case str():
                extents.append(sizes[extent])
            case _:
                extents.append(extent)
    return tuple(extents)


def _inside(elements: isl.Set, extents: tuple[int | None, ...]) -> isl.Set:
    inside = isl.Set.universe(elements.get_space())
    for dimension, extent in enumerate(extents):
        if extent is not None:
            inside = inside.lower_bound_val(isl.dim_type.set, dimension, isl.Val(0))
            inside = inside.upper_bound_val(isl.dim_type.set, dimension, isl.Val(extent - 1))
    return inside


def _error(
    scop: Scop,
    statement: Statement,
    access: Access,
    sizes: Mapping[str, int],
    extents: tuple[int | None, ...],
) -> BoundsError:
    elements = access.relation.range()
    outside = elements.subtract(_inside(elements, extents))
    pairs = fix_parameters(access.relation.intersect_range(outside).wrap(), sizes)
    point = pairs.lexmin().sample_point()
    depth = len(statement.loops)
    coordinates = [
        point.get_coordinate_val(isl.dim_type.set, position).to_python()
        for position in range(depth + len(extents))
    ]
    names = [parameter.name for parameter in scop.parameters]
    hidden = access.array.scope_depth
    subscripts = [to_text(e, statement.loops, names) for e in access.map.results[hidden:]]
    element = ", ".join(map(str, coordinates[depth + hidden :]))
    shape = "x".join(map(str, extents[hidden:]))
    where = [f"{n}={v}" for n, v in zip(statement.loops, coordinates, strict=False)]
    where += [f"{name}={sizes[name]}" for name in names]
    verb = "reads" if access.kind is AccessKind.READ else "writes"
    return BoundsError(
        f"{verb} {access.array.name}[{', '.join(subscripts)}] outside of the array: element "
        f"[{element}] of {shape}" + (f", with {', '.join(where)}" if where else ""),
        locate(access.op),
        "pass a larger array, or smaller sizes" if access.array.argument is not None else None,
    )
