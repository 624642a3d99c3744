"""Access profiles: strides of each access, bounding boxes of groups with equal coefficients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import numpy as np

from ...passes.estimate.program_statistics import ProgramStatistics, bytes_of
from ...passes.machine.target_files import reference_machine
from ...passes.polyhedral.scop import Access, AccessKind, Array, Scop, Statement

PERIODS = tuple(reference_machine().set_periods[level] for level in (1, 2))
"""Bytes after which addresses fall into the same set of the caches of levels 1 and 2."""

_UNBOUNDED = float(1 << 40)


@dataclass(frozen=True)
class AccessProfile:
    """Loads (or stores) of one element, counted once.

    `strides` are elements per iterator, `offset` the element at the origin, `array` is the number
    of the array, `size` the bytes of an element.
    """

    is_write: bool
    array: int
    strides: tuple[float, ...]
    offset: float
    size: int


@dataclass(frozen=True)
class Boxes:
    """The groups of accesses with the same coefficients, for footprints.

    Rows of `coefficients` are subscripts, absolute values; `spread` is by how much constants
    differ, `extents` the shape of the array; the subscripts of a group begin at one of `starts`;
    `last` are the positions of last subscripts. `places` (2 x rows) is how many steps of a
    subscript begin in different sets of the caches of level 1 and 2. `counts` is how many accesses
    a group has, `iterators` (groups x iterators) which iterators it depends on. `arrays` (groups x
    arrays) tells which array each group is in.
    """

    coefficients: np.ndarray
    spread: np.ndarray
    extents: np.ndarray
    starts: np.ndarray
    last: np.ndarray
    sizes: np.ndarray
    places: np.ndarray
    counts: np.ndarray
    iterators: np.ndarray
    arrays: np.ndarray


def profile_accesses(
    statement: Statement,
    scop: Scop,
    statistics: ProgramStatistics,
    arrays: Mapping[str, int],
    kept: Iterable[tuple[str, int, float]] = (),
) -> tuple[tuple[AccessProfile, ...], Boxes]:
    """The accesses of a statement one by one, and in groups; `arrays` are numbers by name.

    `kept` are dimensions of local arrays that storage keeps: name, position, extent.
    """
    extents: dict[str, dict[int, float]] = {}
    for name, position, extent in kept:
        extents.setdefault(name, {})[position] = extent
    shapes = {
        array.name: _shape(array, statistics, extents.get(array.name, {}))
        for array in {access.array.name: access.array for access in statement.accesses}.values()
    }
    symbols = [statistics.sizes.get(parameter.name, 0) for parameter in scop.parameters]
    depth = len(statement.loops)
    subscripts = [
        _Subscripts(access, access.coefficients, access.map.eval([0] * depth, symbols))
        for access in statement.accesses
    ]
    return tuple(_single(subscripts, depth, shapes, arrays)), _boxes(
        subscripts, depth, shapes, arrays
    )


class _Shape(NamedTuple):
    """The extents of an array, and by how many elements a step of each subscript moves."""

    extents: tuple[float, ...]
    strides: tuple[float, ...]


class _Subscripts(NamedTuple):
    """The subscripts of an access: coefficients of the iterators, values at the origin."""

    access: Access
    rows: tuple[tuple[int, ...], ...]
    offsets: tuple[int, ...]


def _shape(array: Array, statistics: ProgramStatistics, kept: Mapping[int, float]) -> _Shape:
    """The shape of an array.

    Dimensions that storage contracts, and are not `kept`, do not move. A buffer has no extents yet:
    its rows are taken to be a few cache lines apart.
    """
    extents = [float(extent) for extent in statistics.extents(array)]
    strides = [0.0] * len(extents)
    step = 1.0
    for position in reversed(range(len(extents))):
        extents[position] = kept.get(position, extents[position])
        if array.shape[position] is not None or position in kept:
            strides[position] = step
            step *= extents[position]
        elif position >= array.scope_depth and array.scope_depth:
            extents[position] = _UNBOUNDED
            strides[position] = step
            step *= 72.0
    return _Shape(tuple(extents), tuple(strides))


def _single(
    subscripts: Sequence[_Subscripts],
    depth: int,
    shapes: Mapping[str, _Shape],
    arrays: Mapping[str, int],
) -> Iterator[AccessProfile]:
    seen: set[tuple[object, ...]] = set()
    for access, rows, offsets in subscripts:
        key = (access.kind, access.array.name, rows, offsets)
        if key in seen:
            continue
        seen.add(key)
        steps = shapes[access.array.name].strides
        strides = tuple(
            [
                float(sum([row[d] * step for row, step in zip(rows, steps, strict=True)]))
                for d in range(depth)
            ]
        )
        yield AccessProfile(
            access.kind is AccessKind.WRITE,
            arrays[access.array.name],
            strides,
            float(sum([offset * step for offset, step in zip(offsets, steps, strict=True)])),
            bytes_of(access.array.element_type),
        )


def _boxes(
    subscripts: Sequence[_Subscripts],
    depth: int,
    shapes: Mapping[str, _Shape],
    arrays: Mapping[str, int],
) -> Boxes:
    groups: dict[tuple[str, tuple[tuple[int, ...], ...]], list[tuple[int, ...]]] = {}
    bytes_per_array: dict[str, int] = {}
    for access, coefficient_rows, offset in subscripts:
        groups.setdefault((access.array.name, coefficient_rows), []).append(offset)
        bytes_per_array[access.array.name] = bytes_of(access.array.element_type)
    rows: list[Sequence[float]] = []
    spread: list[float] = []
    extents: list[float] = []
    starts: list[int] = []
    places: list[tuple[float, ...]] = []
    for (name, coefficient_rows), offsets in groups.items():
        starts.append(len(rows))
        if not coefficient_rows:  # a scalar: one subscript that is always 0
            coefficient_rows, offsets = ((0,) * depth,), [(0,)]
        shape = shapes[name].extents or (1.0,)
        steps = shapes[name].strides or (0.0,)
        for position, row in enumerate(coefficient_rows):
            rows.append([abs(c) for c in row])
            constants = [offset[position] for offset in offsets]
            spread.append(max(constants) - min(constants))
            extents.append(max(1.0, shape[position]))
            step = int(steps[position]) * bytes_per_array[name]
            places.append(tuple(period / gcd(step, period) for period in PERIODS))
    member = np.zeros((len(groups), len(arrays)))
    iterators = np.zeros((len(groups), depth))
    for group, (name, coefficient_rows) in enumerate(groups):
        member[group, arrays[name]] = 1.0
        for row in coefficient_rows:
            iterators[group] = np.maximum(iterators[group], [c != 0 for c in row])
    return Boxes(
        np.array(rows, dtype=float).reshape(len(rows), depth),
        np.array(spread, dtype=float),
        np.array(extents, dtype=float),
        np.array(starts, dtype=int),
        np.array([*starts[1:], len(rows)], dtype=int) - 1,
        np.array([bytes_per_array[name] for name, _ in groups], dtype=float),
        np.array(places, dtype=float).reshape(len(rows), len(PERIODS)).T,
        np.array([len(set(offsets)) for offsets in groups.values()], dtype=float),
        iterators,
        member,
    )
