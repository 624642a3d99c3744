"""The suite `field` in NumPy, one module per domain."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from . import (
    contractions,
    convolutions,
    finance,
    images,
    movement,
    networks,
    particles,
    recurrences,
    stencils,
)

DOMAINS = (
    *(convolutions, networks, contractions, stencils, particles),
    *(recurrences, images, finance, movement),
)

REFERENCES: Mapping[str, Callable[..., None]] = MappingProxyType(
    {
        f"field/{name}": function
        for domain in DOMAINS
        for name, function in domain.REFERENCES.items()
    }
)
