"""All transformations, by name. A new one is a new module in `transformations`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from types import MappingProxyType

from . import transformations
from .transformation import Transformation


@functools.cache
def all_transformations() -> MappingProxyType[str, type[Transformation]]:
    """Every transformation class by its name, in alphabetical order."""
    return MappingProxyType({cls.name: cls for cls in _discover()})


def _discover() -> Iterator[type[Transformation]]:
    for module in sorted(info.name for info in pkgutil.iter_modules(transformations.__path__)):
        full_name = f"{transformations.__name__}.{module}"
        for member in vars(importlib.import_module(full_name)).values():
            if isinstance(member, type) and member.__module__ == full_name:
                if issubclass(member, Transformation):
                    yield member
