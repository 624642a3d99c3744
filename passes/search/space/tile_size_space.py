"""The Cartesian space of tile sizes of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

USUAL = (1, 2, 4, 6, 8, 10, 12, 16, 30, 32, 40, 48, 64, 100, 128, 150, 200, 256, 300, 400, 500, 600)
"""The sizes of Rahman, Pouchet and Sadayappan (2010), section 3.1."""

Points = NDArray[np.int64]


@dataclass(frozen=True)
class TileSpace:
    """Candidate sizes for each loop, outermost first, in increasing order.

    The innermost loop runs in vectors of `lanes` values.
    """

    sizes: tuple[tuple[int, ...], ...]
    lanes: int = 1

    @classmethod
    def usual(cls, extents: Sequence[int], lanes: int = 1) -> TileSpace:
        """The paper's sizes up to the numbers of values of the loops, and these numbers."""
        return cls(
            tuple(
                (*(s for s in USUAL if s < max(1, extent)), max(1, extent)) for extent in extents
            ),
            lanes,
        )

    @cached_property
    def points(self) -> Points:
        """Every combination: a row of sizes each."""
        return np.array(list(product(*self.sizes)), np.int64)

    def inputs(self, points: Points) -> NDArray[np.float64]:
        """The sizes on a logarithmic scale from 0 to 1, as distances between them are ratios.

        Another column says how many lanes of the vectors in a row of a tile are empty.
        """
        largest = np.array([max(2, sizes[-1]) for sizes in self.sizes])
        scaled = np.log2(points) / np.log2(largest)
        if self.lanes == 1:
            return scaled
        rows = points[:, -1:]
        filled = -(-rows // self.lanes) * self.lanes
        return np.hstack([scaled, np.log(filled / rows) / np.log(self.lanes)])

    def along(self, point: int, loop: int) -> list[int]:
        """The numbers of the points with the same sizes but for one loop's, in their order."""
        count = len(self.sizes[loop])
        stride = prod(len(sizes) for sizes in self.sizes[loop + 1 :])
        first = point - point // stride % count * stride
        return [first + position * stride for position in range(count)]

    def near(self, sizes: Sequence[int]) -> int:
        """The number of the point that is nearest to these sizes."""
        wanted = self.inputs(np.maximum(1, np.array([sizes], np.int64)))
        distances = np.abs(self.inputs(self.points) - wanted).sum(1)
        return int(distances.argmin())
