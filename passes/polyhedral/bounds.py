"""Bounds check of all accesses of a Scop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import islpy as isl
from xdsl.ir.affine import AffineExpr

from ...dialects.errors import SourceError
from .affine_text import to_readable_text, to_text
from .isl_context import bounded_for
from .points import first_point
from .scop import Access, AccessKind, Scop, Statement


class BoundsError(SourceError):
    """An out-of-bounds access, with the first instance that performs it.

    error: reads B[k, j + 1] outside of the array: element [0, 5] of 5x5, with i=0, k=0, j=4, N=4
    """


@dataclass(frozen=True, eq=False)
class _Check:
    """One subscript of an access: `instances` (over parameters and sizes) out of bounds."""

    statement: Statement
    access: Access
    position: int
    instances: isl.Set


@dataclass(frozen=True, eq=False)
class _Checks:
    """All checks of a Scop, and `sizes`: the parameter values with a violation."""

    names: tuple[str, ...]
    sizes: isl.Set
    checks: tuple[_Check, ...]


_CHECKS: WeakKeyDictionary[Scop, _Checks] = WeakKeyDictionary()


def check_bounds(scop: Scop, sizes: Mapping[str, int]) -> None:
    """Raises BoundsError when an access leaves its array for these values of `scop.sizes`.

    What does not depend on the values is computed once per Scop. Expanded dimensions of local
    arrays have no bounds.
    """
    checks = _checks_of(scop)
    with bounded_for(scop.func, f"the subscripts of '@{scop.name}'"):
        if _bind(checks.sizes, checks.names, sizes).is_empty():
            return
        for check in checks.checks:
            bad = _bind(check.instances, checks.names, sizes)
            if not bad.is_empty():
                message = _message(scop, check, first_point(bad), sizes)
                raise BoundsError.at(check.access.op, message)


def sizes_outside(scop: Scop, sizes: Mapping[str, int]) -> isl.Set:
    """The values of the other `scop.sizes` with which an access leaves its array.

    A set over these as parameters; those in `sizes` are fixed. Negative extents belong to it.
    """
    checks = _checks_of(scop)
    with bounded_for(scop.func, f"the subscripts of '@{scop.name}'"):
        outside = checks.sizes.union(_negative_extents(scop, checks.names))
        result = _bind(outside, checks.names, sizes)
        for name in sizes:
            position = result.find_dim_by_name(isl.dim_type.param, name)
            if position >= 0:
                result = result.project_out(isl.dim_type.param, position, 1)
        return result.coalesce()


def _negative_extents(scop: Scop, names: tuple[str, ...]) -> isl.Set:
    extents = [size.name for size in scop.sizes if size.dimension is not None]
    condition = " or ".join(f"{name} < 0" for name in extents) or "1 = 0"
    return isl.Set(f"[{', '.join(names)}] -> {{ : {condition} }}")


def _checks_of(scop: Scop) -> _Checks:
    checks = _CHECKS.get(scop)
    if checks is None:
        with bounded_for(scop.func, f"the subscripts of '@{scop.name}'"):
            checks = _CHECKS[scop] = _prepare(scop)
    return checks


def _prepare(scop: Scop) -> _Checks:
    names = tuple(size.name for size in scop.sizes)
    checks = tuple(_checks(scop, names))
    bad = isl.Set.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
    for check in checks:
        bad = bad.union(check.instances.params())
    return _Checks(names, bad.coalesce(), checks)


def _checks(scop: Scop, names: tuple[str, ...]) -> Iterator[_Check]:
    """The subscripts that can be outside for some sizes that are not negative."""
    symbols = [parameter.name for parameter in scop.parameters]
    space = f"[{', '.join(names)}]"
    dimensions = [size.name for size in scop.sizes if size.dimension is not None]
    known = isl.Set(
        f"{space} -> {{ : {' and '.join(f'{n} >= 0' for n in dimensions) or '1 = 1'} }}"
    )
    for statement in scop.statements:
        instance = f"{statement.name}[{', '.join(statement.loops)}]"
        for access in statement.accesses:
            for position, (extent, subscript) in enumerate(
                zip(access.array.shape, access.map.results, strict=True)
            ):
                if extent is None:
                    continue
                index = to_text(subscript, statement.loops, symbols)
                size = _extent_text(extent, symbols)
                outside = isl.Set(f"{space} -> {{ {instance} : {index} < 0 or {index} >= {size} }}")
                instances = statement.domain.intersect(outside).intersect_params(known)
                if not instances.is_empty():
                    yield _Check(statement, access, position, instances.coalesce())


def _extent_text(extent: int | str | AffineExpr, symbols: list[str]) -> str:
    return to_text(extent, (), symbols) if isinstance(extent, AffineExpr) else str(extent)


def _bind(instances: isl.Set, names: tuple[str, ...], sizes: Mapping[str, int]) -> isl.Set:
    for name in names:
        position = instances.find_dim_by_name(isl.dim_type.param, name)
        if position >= 0 and name in sizes:
            value = isl.Val(sizes[name])
            instances = instances.fix_val(isl.dim_type.param, position, value)
    return instances


def _message(scop: Scop, check: _Check, point: isl.Point, sizes: Mapping[str, int]) -> str:
    statement, access = check.statement, check.access
    loops = {
        name: point.get_coordinate_val(isl.dim_type.set, n).to_python()
        for n, name in enumerate(statement.loops)
    }
    parameters = {parameter.name: sizes[parameter.name] for parameter in scop.parameters}
    iteration, symbols = tuple(loops.values()), tuple(parameters.values())
    array, depth = access.array, access.array.scope_depth
    subscripts = ", ".join(
        to_readable_text(e, tuple(loops), tuple(parameters)) for e in access.map.results[depth:]
    )
    element = list(access.map.eval(iteration, symbols)[depth:])
    shape = "x".join(str(_extent(extent, symbols, sizes)) for extent in array.shape[depth:])
    values = ", ".join(f"{name}={value}" for name, value in (loops | parameters).items())
    verb = "reads" if access.kind is AccessKind.READ else "writes"
    access_text, suffix = f"{verb} {array.name}[{subscripts}]", f", with {values}" if values else ""
    return f"{access_text} outside of the array: element {element} of {shape}{suffix}"


def _extent(
    extent: int | str | AffineExpr | None, symbols: tuple[int, ...], sizes: Mapping[str, int]
) -> int:
    match extent:
        case int():
            return extent
        case str():
            return sizes[extent]
        case AffineExpr():
            return extent.eval((), symbols)
        case None:
            raise AssertionError("expanded dimensions have no size")
