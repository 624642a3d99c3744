"""NumPy versions of the tensor contractions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def contract(subscripts: str) -> Callable[..., None]:
    """The contraction of all arrays but the last one into that; sizes come before the arrays."""

    def run(*arguments: Any) -> None:
        arrays: list[Array] = [value for value in arguments if not isinstance(value, int)]
        *operands, result = arrays
        result[...] = np.einsum(subscripts, *operands, optimize=True)

    return run


def matmul_tt(rows: int, columns: int, inner: int, a: Array, b: Array, c: Array) -> None:
    """C + A^T * B^T."""
    c += a.T @ b.T


def integral_transform(n: int, ints: Array, orbitals: Array, half: Array, full: Array) -> None:
    """Two quarter transformations."""
    half[...] = np.tensordot(orbitals, ints, (0, 0))
    full[...] = np.einsum("qb,aqrs->abrs", orbitals, half, optimize=True)


REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        "ccsd_aebf_dfce": contract("aebf,dfce->abcd"),
        "batched_matmul_tn": contract("bki,bkj->bij"),
        "matmul_tt": matmul_tt,
        "mode_product": contract("acd,db->abc"),
        "integral_transform": integral_transform,
        "mttkrp": contract("ijk,jr,kr->ir"),
        "triples_gdab_efgc": contract("gdab,efgc->abcdef"),
    }
)
