"""Kernels that are unpickled: by name, or made again of their source."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from .source import PythonSource


def named_kernel(module: str, name: str) -> object:
    """The kernel of a module."""
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def pickled_again(
    kind: Callable[..., object],
    options: tuple[object, ...],
    source: PythonSource,
    modules: Mapping[str, str],
    others: Mapping[str, object],
    annotations: dict[str, object],
    defaults: tuple[tuple[object, ...] | None, dict[str, object] | None],
    identity: tuple[str, str],
) -> object:
    """The kernel that was pickled."""
    names: dict[str, Any] = dict(others)
    names |= {name: importlib.import_module(module) for name, module in modules.items()}
    definition = source.parse()
    definition.returns = None
    arguments = definition.args
    for argument in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        argument.annotation = None
    positional, named = defaults  # what the expressions had been evaluated to
    arguments.defaults = [ast.Constant(None) for _ in arguments.defaults]
    arguments.kw_defaults = [each and ast.Constant(None) for each in arguments.kw_defaults]
    exec(
        compile(ast.fix_missing_locations(ast.Module([definition], [])), source.file, "exec"), names
    )
    function = names.pop(definition.name)
    function.__module__, function.__qualname__ = identity
    function.__annotations__ = annotations
    function.__defaults__, function.__kwdefaults__ = positional, named
    return kind(function, source, names, *options)
