"""All transformations, by name. A new one is a new module in `transformations`."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Iterator
from types import MappingProxyType
from typing import TypeGuard

from .. import transformations
from .transformation import Transformation


@functools.cache
def all_transformations() -> MappingProxyType[str, type[Transformation]]:
    """Every transformation class by its name, in alphabetical order."""
    return MappingProxyType({cls.name: cls for cls in _discover()})


def _discover() -> Iterator[type[Transformation]]:
    for module in sorted(info.name for info in pkgutil.iter_modules(transformations.__path__)):
        full_name = f"{transformations.__name__}.{module}"
        members = vars(importlib.import_module(full_name)).values()
        yield from (m for m in members if _is_transformation(m) and m.__module__ == full_name)


def _is_transformation(member: object) -> TypeGuard[type[Transformation]]:
    return isinstance(member, type) and issubclass(member, Transformation)
