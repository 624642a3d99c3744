"""Packages that an installation may lack, and the extras of loopwright that bring them."""

from __future__ import annotations

import importlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from .user_error import UserError

EXTRAS: Mapping[str, str] = {
    "clang": "c",
    "torch": "learn",
    "pyarrow": "data",
    "dask": "data",
    "distributed": "data",
    "matplotlib": "plot",
    "mcp": "serve",
    "cryptography": "share",
    "fsspec": "share",
}
"""The extra by the name of a module."""


class MissingExtra(UserError, ImportError):
    """Something that needs a package which an extra of loopwright brings; `str()` is one line."""


@contextmanager
def extra_for(subject: str) -> Generator[None]:
    """Around imports of modules that need such packages: `subject` is what needs them.

    Raises MissingExtra where a package is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS:
            raise
        raise MissingExtra(missing(subject, package), name=error.name) from error


def require(subject: str, package: str) -> None:
    """Imports a package that `subject` needs; raises MissingExtra where it is not installed."""
    with extra_for(subject):
        importlib.import_module(package)


def missing(subject: str, package: str) -> str:
    """What to tell somebody who has to install a package."""
    return f'{subject} needs {package}: pip install "loopwright[{EXTRAS[package]}]"'
