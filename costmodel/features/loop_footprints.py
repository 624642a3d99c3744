"""Footprints: bytes that a statement touches inside each of its loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...passes.machine.target_files import reference_machine
from .access_profiles import PERIODS
from .statements import StatementProfile

_CACHE_LINE = reference_machine().cache_line
_PERIODS = np.array(PERIODS, dtype=float)[:, None, None]


class Footprint(NamedTuple):
    """Bytes inside the first 0, 1, 2 ... loops, counted in three ways.

    These are bytes, and what they take of caches of level 1 and 2, where rows that fall into the
    same sets take more. `arrays` has the shape (3, loops + 1, arrays), `totals` are the sums over
    the arrays.
    """

    arrays: NDArray[np.float64]
    totals: tuple[tuple[float, ...], ...]


def footprints(
    profile: StatementProfile, spans: Sequence[Sequence[tuple[float, ...]]]
) -> list[Footprint]:
    """Of one statement in several loop contexts; each has `spans` as in `LoopContext`."""
    depth = len(profile.spans)
    rows = np.array([row for each in spans for row in each], dtype=float)
    found = _touched(profile, rows.reshape(len(rows), depth))
    sums = found.sum(axis=2)
    result: list[Footprint] = []
    start = 0
    for each in spans:
        end = start + len(each)
        totals = tuple([tuple(row) for row in sums[:, start:end].tolist()])
        # A view would keep the whole batch.
        result.append(Footprint(found[:, start:end].copy(), totals))
        start = end
    return result


def _touched(profile: StatementProfile, spans: NDArray[np.float64]) -> NDArray[np.float64]:
    boxes = profile.boxes
    # One iteration of a loop takes at least one value of each iterator.
    lengths = np.maximum(spans - 1.0, 0.0) @ boxes.coefficients.T + (1.0 + boxes.spread)
    np.minimum(lengths, boxes.extents, out=lengths)
    rows = lengths[:, boxes.last] * boxes.sizes
    crowds = np.maximum(1.0, lengths / boxes.places[:, None, :])
    lengths[:, boxes.last] = np.ceil(rows / _CACHE_LINE) * _CACHE_LINE
    touched = np.multiply.reduceat(lengths, boxes.starts, axis=1)
    # Of a box around a diagonal, only that is touched.
    instances = np.exp(np.log(np.maximum(spans, 1.0)) @ boxes.iterators.T)
    np.minimum(touched, instances * (boxes.counts * _CACHE_LINE), out=touched)
    crowds[:, :, boxes.last] = np.maximum(1.0, rows / _PERIODS)
    crowds = np.multiply.reduceat(crowds, boxes.starts, axis=2)
    taken = np.where(crowds > 2.0, np.maximum(touched, crowds * _PERIODS), touched)
    return np.concatenate([touched[None], taken]) @ boxes.arrays
