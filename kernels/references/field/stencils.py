"""NumPy versions of the stencils."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def neighbours(u: Array) -> Array:
    """The sum of the four neighbours of every inner element."""
    return u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]


def hotspot(steps: int, rows: int, columns: int, *arrays: Array) -> None:
    """Explicit steps of heat on a chip."""
    temperature, power, following = arrays
    for _ in range(steps):
        c = temperature[1:-1, 1:-1]
        flow = np.float32(0.1) * (neighbours(temperature) - 4 * c)
        loss = np.float32(0.0125) * (300 - c)
        following[1:-1, 1:-1] = c + np.float32(0.5) * (power[1:-1, 1:-1] + flow + loss)
        temperature[1:-1, 1:-1] = following[1:-1, 1:-1]


def checkerboard_sor(sweeps: int, rows: int, columns: int, u: Array, f: Array) -> None:
    """Successive over-relaxation, one colour after the other."""
    i, j = np.ix_(range(1, rows - 1), range(1, columns - 1))
    inner = u[1:-1, 1:-1]
    for _ in range(sweeps):
        for colour in (0, 1):
            change = 0.375 * (neighbours(u) - 4 * inner + f[1:-1, 1:-1])
            inner[...] = np.where((i + j) % 2 == colour, inner + change, inner)


def multigrid_cycle(
    n: int, u: Array, f: Array, v: Array, r: Array, coarse: Array, e: Array
) -> None:
    """One cycle of the two-grid method."""
    inner = (slice(1, -1), slice(1, -1))
    v[inner] = u[inner] + 0.2 * (f[inner] + neighbours(u) - 4 * u[inner])
    r[inner] = f[inner] + neighbours(v) - 4 * v[inner]
    # Full weighting and bilinear interpolation are products of one and the same filter.
    weights = np.array([0.5, 1, 0.5])
    rows = np.zeros((n - 1, 2 * n + 1))
    for d, weight in enumerate(weights):
        rows += weight * r[1 + d : 2 * n - 2 + d : 2]
    coarse[inner] = 0
    for d, weight in enumerate(weights):
        coarse[inner] += weight * rows[:, 1 + d : 2 * n - 2 + d : 2]
    e[inner] = 0.25 * (coarse[inner] + 0.2 * neighbours(coarse))
    fine = np.zeros((2 * n + 1, n + 1))
    fine[::2], fine[1::2] = e, (e[:-1] + e[1:]) / 2
    v[:-1, :-1:2] += fine[:-1, :-1]
    v[:-1, 1::2] += (fine[:-1, :-1] + fine[:-1, 1:]) / 2


def maxwell3d(steps: int, depth: int, height: int, width: int, *fields: Array) -> None:
    """Maxwell's equations: fields grow by half the curl of the others."""
    electric, magnetic = fields[:3], fields[3:]
    inner = (slice(1, -1),) * 3

    def difference(field: Array, axis: int, ahead: int) -> Array:
        """field(x) - field(x - 1) along an axis, or field(x + 1) - field(x) when ahead."""
        first = tuple(slice(ahead, -2 + ahead) if a == axis else slice(1, -1) for a in range(3))
        last = (
            slice(1 + ahead, -1 + ahead or None) if a == axis else s for a, s in enumerate(inner)
        )
        return field[tuple(last)] - field[first]

    for _ in range(steps):
        for here, there, ahead, sign in ((electric, magnetic, 0, 1), (magnetic, electric, 1, -1)):
            for axis, field in enumerate(here):
                b, c = (axis + 1) % 3, (axis + 2) % 3
                curl = difference(there[c], b, ahead) - difference(there[b], c, ahead)
                field[inner] += np.float32(0.5 * sign) * curl


def lattice_boltzmann(height: int, width: int, src: Array, dst: Array) -> None:
    """One step of the D2Q9 lattice Boltzmann method."""
    velocities = np.array(
        [(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)]
    )
    weights = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
    f = np.stack(
        [
            src[q, 1 - y : height - 1 - y, 1 - x : width - 1 - x]
            for q, (x, y) in enumerate(velocities)
        ]
    )
    density = f.sum(0)
    flow = np.tensordot(velocities.T, f, 1) / density
    along = np.tensordot(velocities, flow, 1)
    bracket = 1 + 3 * along + 4.5 * along**2 - 1.5 * (flow**2).sum(0)
    equilibrium = weights[:, None, None] * density * bracket
    dst[:, 1:-1, 1:-1] = f + 0.6 * (equilibrium - f)


def wave3d_order8(depth: int, height: int, width: int, *arrays: Array) -> None:
    """A step of the acoustic wave equation."""
    u, velocity, following = arrays
    coefficients = np.array([-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560], np.float32)
    shape = (depth, height, width)

    def shifted(axis: int, distance: int) -> Array:
        starts = (4 + (distance if a == axis else 0) for a in range(3))
        return u[tuple(slice(s, s + n) for s, n in zip(starts, shape, strict=True))]

    centre = shifted(0, 0)
    laplacian = 3 * coefficients[0] * centre
    for distance, c in enumerate(coefficients[1:], start=1):
        for axis in range(3):
            laplacian += c * (shifted(axis, distance) + shifted(axis, -distance))
    following[...] = 2 * centre - following + velocity * laplacian


def srad(rows: int, columns: int, image: Array, *fields: Array) -> None:
    """Speckle-reducing anisotropic diffusion."""
    north, south, west, east, c = fields
    p = image[1:-1, 1:-1]
    inner = (slice(1, -1), slice(1, -1))
    north[inner], south[inner] = image[:-2, 1:-1] - p, image[2:, 1:-1] - p
    west[inner], east[inner] = image[1:-1, :-2] - p, image[1:-1, 2:] - p
    n, s, w, e = (field[inner] for field in (north, south, west, east))
    gradient = (n**2 + s**2 + w**2 + e**2) / p**2
    laplacian = (n + s + w + e) / p
    q = (gradient / 2 - laplacian**2 / 16) / (1 + laplacian / 4) ** 2
    c[inner] = np.clip(1 / (1 + (q - np.float32(0.05)) / np.float32(0.0525)), 0, 1)
    divergence = c[inner] * (n + w) + c[2:, 1:-1] * s + c[1:-1, 2:] * e
    p += divergence / 8


def life(steps: int, rows: int, columns: int, cells: Array, following: Array) -> None:
    """Conway's game of life."""
    for _ in range(steps):
        for old, new in ((cells, following), (following, cells)):
            inner = old[1:-1, 1:-1]
            rings = neighbours(old) + old[:-2, :-2] + old[:-2, 2:] + old[2:, :-2] + old[2:, 2:]
            new[1:-1, 1:-1] = (rings == 3) | ((rings == 2) & (inner == 1))


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        function.__name__: function
        for function in (
            *(hotspot, checkerboard_sor, multigrid_cycle, maxwell3d, lattice_boltzmann),
            *(wave3d_order8, srad, life),
        )
    }
)
