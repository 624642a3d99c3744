"""NumPy versions of the kernels on particles and points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def gravity(n: int, *arrays: Array) -> None:
    """Accelerations of bodies that attract each other."""
    *coordinates, mass, ax, ay, az = arrays
    distances = [each[None, :] - each[:, None] for each in coordinates]
    softened = sum(d**2 for d in distances) + np.float32(0.01)
    weights = mass / (softened * np.sqrt(softened))
    for acceleration, distance in zip((ax, ay, az), distances, strict=True):
        acceleration[...] = (weights * distance).sum(1)


def lennard_jones(n: int, position: Array, force: Array) -> None:
    """Forces between atoms closer than 3."""
    distances = position[:, None] - position[None, :]
    squares = (distances**2).sum(2)
    inverse = 1 / np.maximum(squares, 0.64)
    weights = 48 * inverse**7 - 24 * inverse**4
    weights[squares >= 9] = 0
    force[...] = np.einsum("ij,ijk->ik", weights, distances)


def pairwise_distances(n: int, m: int, features: int, x: Array, y: Array, distance: Array) -> None:
    """Euclidean distances."""
    for row, point in zip(distance, x, strict=True):
        row[...] = np.sqrt(((point - y) ** 2).sum(1))


def kmeans_assign(points: int, centres: int, features: int, *arrays: Array) -> None:
    """The nearest centre of every point."""
    x, centre, label, distance = arrays
    squares = np.zeros((points, centres), x.dtype)
    for k in range(features):
        squares += (x[:, k, None] - centre[:, k]) ** 2
    label[...] = squares.argmin(1)
    distance[...] = squares.min(1)


def kmeans_update(points: int, centres: int, features: int, *arrays: Array) -> None:
    """The mean of the points with each label."""
    x, label, count, mean = arrays
    member = (label[:, None] == np.arange(centres)).astype(x.dtype)
    count[...] = member.sum(0)
    mean[...] = member.T @ x / np.maximum(count, 1)[:, None]


def coulomb_grid(height: int, width: int, atoms: int, *arrays: Array) -> None:
    """The potential of charged atoms on a plane."""
    x, y, z, charge, potential = arrays
    step = np.float32(0.01)
    across = (np.arange(width, dtype=np.float32) * step)[:, None] - x
    for i in range(height):
        squares = across**2 + (i * step - y) ** 2 + z**2
        potential[i] = (charge / np.sqrt(squares)).sum(1)


def point_vortices(n: int, *arrays: Array) -> None:
    """Velocities that point vortices give each other."""
    x, y, strength, u, v = arrays
    dx, dy = x[:, None] - x, y[:, None] - y
    squares = dx**2 + dy**2
    np.fill_diagonal(squares, np.inf)
    u[...] = -(strength / squares * dy).sum(1)
    v[...] = (strength / squares * dx).sum(1)


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            *(gravity, lennard_jones, pairwise_distances, kmeans_assign, kmeans_update),
            *(coulomb_grid, point_vortices),
        )
    }
)
