"""Registry of transformations: our modules, and plug-ins.

A new transformation is a new module in this package, or an entry point of another package in the
group `loopwright.transformations` that names a subclass of `Transformation`.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
import warnings
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from types import MappingProxyType
from typing import TypeGuard

from ...support.plugins import PluginError, describe, load_plugin, plugins
from ..schedules.schedule import Transformation

GROUP = "transformations"


@functools.cache
def all_transformations() -> Mapping[str, type[Transformation]]:
    """Every transformation class by its name: our own, then plug-ins, in alphabetical order.

    A plug-in that cannot be used is left out, with a warning. Raises PluginError where two have one
    name, or one symbol of the compact notation.
    """
    own = own_transformations()
    found = dict(own)
    symbols = {letters(cls): cls.name for cls in own.values() if cls.symbol}
    for name, entry in plugins(GROUP, tuple(own)).items():
        try:
            cls = _load(entry)
        except PluginError as error:
            warnings.warn(f"{error}; it is left out", RuntimeWarning, stacklevel=2)
            continue
        other = symbols.setdefault(letters(cls), name) if cls.symbol else name
        if other != name:
            raise PluginError(
                f"the transformations '{other}' and '{name}', the latter of {describe(entry)}, "
                f"have the same symbol {letters(cls)}; uninstall that package"
            )
        found[name] = cls
    return MappingProxyType(found)


@functools.cache
def own_transformations() -> Mapping[str, type[Transformation]]:
    """Those of this package by name, in alphabetical order."""
    return MappingProxyType({cls.name: cls for cls in _discover()})


def letters(cls: type[Transformation]) -> str:
    """The symbol of the compact notation without the number of loops."""
    return cls.symbol.replace("{}", "")


def _discover() -> Iterator[type[Transformation]]:
    package = importlib.import_module(__package__ or "")
    for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
        full_name = f"{package.__name__}.{module}"
        members = vars(importlib.import_module(full_name)).values()
        yield from (m for m in members if _is_transformation(m) and m.__module__ == full_name)


def _load(entry: EntryPoint) -> type[Transformation]:
    found = load_plugin(entry)
    if not _is_transformation(found):
        raise PluginError(f"'{entry.name}' of {describe(entry)} is no subclass of Transformation")
    if getattr(found, "name", None) != entry.name:
        raise PluginError(
            f"'{entry.name}' of {describe(entry)} has another `name` in its class, "
            f"{getattr(found, 'name', 'none')!r}"
        )
    return found


def _is_transformation(member: object) -> TypeGuard[type[Transformation]]:
    return isinstance(member, type) and issubclass(member, Transformation)
