"""Forest of oblivious trees: one split per level.

A tree of depth D is D questions `feature > threshold` and 2^D values; the answers are the bits of
the position of a row's value (Kohavi and Li, "Oblivious decision trees, graphs, and top-down
pruning", IJCAI 1995; as in CatBoost, Prokhorenkova et al., NeurIPS 2018).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

BINS = 64

Matrix = NDArray[np.float32]
Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tree:
    """`features` and `thresholds` have one entry per level, `values` one per leaf."""

    features: NDArray[np.int64]
    thresholds: NDArray[np.float32]
    values: Values


@dataclass(frozen=True, eq=False)
class Forest:
    """Additive trees: arrays (trees, depth), and (trees, 2^depth) for `values`."""

    features: NDArray[np.int64]
    thresholds: NDArray[np.float32]
    values: Values

    @classmethod
    def of(cls, trees: list[Tree], depth: int) -> Forest:
        """Some trees of the same depth."""
        return cls(
            np.array([tree.features for tree in trees], dtype=np.int64).reshape(-1, depth),
            np.array([tree.thresholds for tree in trees], dtype=np.float32).reshape(-1, depth),
            np.array([tree.values for tree in trees], dtype=np.float64).reshape(-1, 1 << depth),
        )

    def joined(self, other: Forest) -> Forest:
        """The trees of both, of the same depth."""
        return Forest(
            np.concatenate([self.features, other.features]),
            np.concatenate([self.thresholds, other.thresholds]),
            np.concatenate([self.values, other.values]),
        )

    def predict(self, rows: Matrix) -> Values:
        """The sum of all trees, for each row."""
        trees, depth = self.features.shape
        if not trees:
            return np.zeros(len(rows))
        # Column by column, the memory of a column is contiguous.
        columns = np.ascontiguousarray(rows.T)
        places = np.zeros((trees, len(rows)), dtype=np.int64)
        for level in range(depth):
            answers = columns[self.features[:, level]] > self.thresholds[:, level, None]
            np.add(places, answers.astype(np.int64) << level, out=places)
        first = (np.arange(trees, dtype=np.int64) << depth)[:, None]
        return self.values.ravel()[first + places].sum(axis=0)

    def state(self) -> Mapping[str, Any]:
        """The arrays by name."""
        return {"features": self.features, "thresholds": self.thresholds, "values": self.values}

    @classmethod
    def restored(cls, state: Mapping[str, Any]) -> Forest:
        """Takes over what `state` has given; raises KeyError, ValueError for other arrays."""
        features = np.asarray(state["features"], np.int64)
        thresholds = np.asarray(state["thresholds"], np.float32)
        values = np.asarray(state["values"], np.float64)
        trees, depth = features.shape
        if thresholds.shape != features.shape or values.shape != (trees, 1 << depth):
            raise ValueError("arrays of different forests")
        return cls(features, thresholds, values)


def quantiles(rows: Matrix) -> list[NDArray[np.float32]]:
    """Of each feature the thresholds that trees choose from, halfway between different values."""
    result: list[NDArray[np.float32]] = []
    for column in rows.T:
        values = np.unique(column)
        if len(values) > BINS:
            values = np.unique(np.quantile(column, np.linspace(0, 1, BINS), method="nearest"))
        result.append(((values[:-1] + values[1:]) / 2).astype(np.float32))
    return result


def digitise(rows: Matrix, thresholds: list[NDArray[np.float32]]) -> NDArray[np.uint8]:
    """How many thresholds of its feature each number is above, (features, rows)."""
    return np.array(
        [
            np.searchsorted(edges, column, side="left")
            for edges, column in zip(thresholds, rows.T, strict=True)
        ],
        dtype=np.uint8,
    )


@dataclass(frozen=True)
class Growth:
    """Hyperparameters of a tree: depth, feature sampling, regularisation of leaf values."""

    depth: int = 6
    share: float = 0.3
    smoothing: float = 1.0
    fewest: float = 1.0


def grow(
    bins: NDArray[np.uint8],
    thresholds: list[NDArray[np.float32]],
    gradients: Values,
    curvatures: Values,
    growth: Growth,
    random: np.random.Generator,
) -> Tree:
    """The symmetric tree that lowers a loss most, greedily, level by level.

    The loss of a leaf is to second order `g v + (h + smoothing) v^2 / 2`, with the sums of the
    gradients and curvatures of its rows.
    """
    usable = np.array([number for number, edges in enumerate(thresholds) if len(edges)])
    count = max(1, round(growth.share * len(usable)))
    candidates = random.choice(usable, count, replace=False)
    leaf = np.zeros(bins.shape[1], dtype=np.int64)
    features = np.full(growth.depth, candidates[0])
    edges = np.full(growth.depth, np.inf, dtype=np.float32)
    for level in range(growth.depth):
        best = None
        for feature in candidates:
            found = _split(bins[feature], leaf, 1 << level, gradients, curvatures, growth)
            if found is not None and (best is None or found[0] > best[0]):
                best = (*found, feature)
        if best is None:
            break
        _, position, feature = best
        features[level] = feature
        edges[level] = thresholds[feature][position]
        leaf |= (bins[feature] > position).astype(np.int64) << level
    sums = np.bincount(leaf, gradients, 1 << growth.depth)
    weights = np.bincount(leaf, curvatures, 1 << growth.depth)
    return Tree(features, edges, -sums / (weights + growth.smoothing))


def _split(
    column: NDArray[np.uint8],
    leaf: NDArray[np.int64],
    leaves: int,
    gradients: Values,
    curvatures: Values,
    growth: Growth,
) -> tuple[float, int] | None:
    """The best threshold of a feature for all leaves: what it gains, and its position."""
    place = leaf * BINS + column
    slopes = np.bincount(place, gradients, leaves * BINS).reshape(leaves, BINS)
    weights = np.bincount(place, curvatures, leaves * BINS).reshape(leaves, BINS)
    below, left = np.cumsum(slopes, axis=1), np.cumsum(weights, axis=1)
    above, right = below[:, -1:] - below, left[:, -1:] - left
    gains = below**2 / (left + growth.smoothing) + above**2 / (right + growth.smoothing)
    gains -= below[:, -1:] ** 2 / (left[:, -1:] + growth.smoothing)
    # Leaves with hardly any rows on one side gain nothing.
    gains[(left < growth.fewest) | (right < growth.fewest)] = 0.0
    total = gains[:, :-1].sum(axis=0)
    position = int(total.argmax())
    return (float(total[position]), position) if total[position] > 1e-9 else None
