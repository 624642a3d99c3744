"""Plug-ins: entry points of installed packages in loopwright's groups.

A package declares, say, a search in its pyproject.toml:

    [project.entry-points."loopwright.searches"]
    hill-climbing = "its_package.its_module:HILL_CLIMBING"
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from .extras import MissingExtra, extra_for
from .user_error import UserError


class PluginError(UserError):
    """An unusable plug-in; `str()` is one line that names the package."""


@functools.cache
def plugins(group: str, own: tuple[str, ...] = ()) -> Mapping[str, EntryPoint]:
    """The entry points of `loopwright.group` by name, in alphabetical order; none is imported.

    Raises PluginError where two packages, or a package and loopwright itself (`own`), use a name.
    """
    found: dict[str, EntryPoint] = {}
    for entry in sorted(_entry_points().select(group=f"loopwright.{group}"), key=_order):
        if entry.name in own:
            raise PluginError(
                f"'{entry.name}' of loopwright.{group} is taken: loopwright has it, and "
                f"{describe(entry)}; uninstall that package"
            )
        other = found.setdefault(entry.name, entry)
        if other is not entry:
            raise PluginError(
                f"'{entry.name}' of loopwright.{group} is offered twice: by {describe(other)}, and "
                f"by {describe(entry)}; uninstall one of them"
            )
    return found


def load_plugin(entry: EntryPoint) -> object:
    """What an entry point stands for.

    Raises MissingExtra where that needs a package of an extra, PluginError where importing fails.
    """
    try:
        with extra_for(f"'{entry.name}'"):
            return entry.load()
    except MissingExtra:
        raise
    except Exception as error:  # a package can fail in any way
        reason = " ".join(str(error).split())
        raise PluginError(
            f"'{entry.name}' of {entry.group} cannot be imported from {describe(entry)}: "
            f"{type(error).__name__}: {reason}"
        ) from error


def describe(entry: EntryPoint) -> str:
    """The package of an entry point, and what it names in there."""
    package = "an unknown package" if entry.dist is None else f"the package {entry.dist.name}"
    return f"{package} ({entry.value})"


def _order(entry: EntryPoint) -> tuple[str, str, str]:
    return entry.name, "" if entry.dist is None else entry.dist.name, entry.value


@functools.cache
def _entry_points() -> Any:
    """Those of all packages: reading their metadata takes 20 ms, once in a process."""
    return entry_points()
