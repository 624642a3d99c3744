"""Bounds check of all accesses of a Scop."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import islpy as isl
from xdsl.ir.affine import AffineExpr

from ...dialects.errors import SourceError
from .affine_text import to_readable_text, to_text
from .isl_context import ISL_LOCK, bounded_for, coalesced
from .points import first_point
from .scop import Access, AccessKind, Scop, Statement
from .size_assumptions import refused_sizes


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
    """All checks of a Scop, and `sizes`: the parameter values with a violation.

    Those have a set for each group of parameters that conditions have in common: one set of all
    would have as many pieces as there are arrays, each over the sizes of all of them.
    """

    names: tuple[str, ...]
    sizes: tuple[isl.Set, ...]
    checks: tuple[_Check, ...]
    assumed: tuple[tuple[str, isl.Set], ...]


_CHECKS: WeakKeyDictionary[Scop, _Checks] = WeakKeyDictionary()


def check_bounds(scop: Scop, sizes: Mapping[str, int]) -> None:
    """Raises BoundsError when an access leaves its array for these values of `scop.sizes`.

    So it does when the function is not for these values (`size_assumptions`).

    What does not depend on the values is computed once per Scop. Expanded dimensions of local
    arrays have no bounds.
    """
    checks = _checks_of(scop)
    with bounded_for(scop.func, f"the subscripts of '@{scop.name}'"):
        if all(_bind(outside, sizes).is_empty() for outside in checks.sizes):
            return
        for check in checks.checks:
            bad = _bind(check.instances, sizes)
            if not bad.is_empty():
                message = _message(scop, check, first_point(bad), sizes)
                raise BoundsError.at(check.access.op, message)
        for text, bad in checks.assumed:
            if not _bind(bad, sizes).is_empty():
                involved = bad.drop_unused_params().get_var_names(isl.dim_type.param)
                values = ", ".join(f"{name}={sizes[name]}" for name in involved if name)
                message = f"'{scop.name}' {text} {values}"
                raise BoundsError.at(scop.func, message)


def sizes_outside(scop: Scop, sizes: Mapping[str, int]) -> isl.Set:
    """The values of the other `scop.sizes` with which an access leaves its array.

    Or with which the function is not for them (`size_assumptions`). A set over these as
    parameters; those in `sizes` are fixed. Negative extents belong to it.
    """
    checks = _checks_of(scop)
    with bounded_for(scop.func, f"the subscripts of '@{scop.name}'"):
        result = _negative_extents(scop, checks.names)
        for outside in checks.sizes:
            result = result.union(outside)
        result = _bind(result, sizes)
        for name in sizes:
            position = result.find_dim_by_name(isl.dim_type.param, name)
            if position >= 0:
                result = result.project_out(isl.dim_type.param, position, 1)
        return coalesced(result)


def runs_nothing(scop: Scop, sizes: Mapping[str, int]) -> bool:
    """Whether there are statements, of which none runs with these sizes."""
    with ISL_LOCK:
        return bool(scop.statements) and all(
            _bind(each.domain, sizes).is_empty() for each in scop.statements
        )


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
    checks = tuple(_checks(scop))
    bad: dict[tuple[str, ...], isl.Set] = {}
    for check in checks:
        sizes = check.instances.params().drop_unused_params()
        involved = tuple(sizes.get_var_names(isl.dim_type.param))
        bad[involved] = bad[involved].union(sizes) if involved in bad else sizes
    assumed = tuple(refused_sizes(scop.func, names))
    sets = (*(coalesced(each) for each in bad.values()), *(each for _, each in assumed))
    return _Checks(names, sets, checks, assumed)


def _checks(scop: Scop) -> Iterator[_Check]:
    """The subscripts that can be outside for some sizes that are not negative."""
    symbols = [parameter.name for parameter in scop.parameters]
    dimensions = {size.name for size in scop.sizes if size.dimension is not None}
    known = [name for name in symbols if name in dimensions]
    for statement in scop.statements:
        instance = f"{statement.name}[{', '.join(statement.loops)}]"
        for access in statement.accesses:
            if access.is_opaque:
                continue  # checked when it runs
            for position, (extent, subscript) in enumerate(
                zip(access.array.shape, access.map.results, strict=True)
            ):
                if extent is None:
                    continue
                index = to_text(subscript, statement.loops, symbols)
                size = _extent_text(extent, symbols)
                own = [extent] if isinstance(extent, str) and extent not in symbols else []
                outside = isl.Set(
                    f"[{', '.join(symbols + own)}] -> {{ {instance} : "
                    f"({index} < 0 or {index} >= {size})"
                    + "".join(f" and {name} >= 0" for name in known + own)
                    + " }"
                )
                instances = statement.domain.intersect(outside)
                if not instances.is_empty():
                    yield _Check(statement, access, position, coalesced(instances))


def _extent_text(extent: int | str | AffineExpr, symbols: list[str]) -> str:
    return to_text(extent, (), symbols) if isinstance(extent, AffineExpr) else str(extent)


def _bind(instances: isl.Set, sizes: Mapping[str, int]) -> isl.Set:
    for position, name in enumerate(instances.get_var_names(isl.dim_type.param)):
        if name is not None and name in sizes:
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
