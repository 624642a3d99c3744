"""Names and files of the models that come with the package."""

from __future__ import annotations

from pathlib import Path

SHIPPED = Path(__file__).parent / "weights"
"""Trained models that come with the package, NAME.npz each."""

SUFFIX = ".npz"
"""Of the files of models."""

DEFAULT_MODEL = "ensemble"
"""The model that searches ask when nothing is said."""

DEFAULT_RANKER = "tournament"
"""The model that ranks tilings when nothing is said."""

INTERCHANGE_MODEL = "network"
"""The most accurate of the models that say which loops to interchange."""


def shipped_path(name: str) -> Path | None:
    """The file of a model that comes with the package; None where there is none of this name."""
    path = SHIPPED / f"{name}{SUFFIX}"
    return path if path.exists() else None


def is_file(name: str) -> bool:
    """Whether this is a file, not the name of a model: these have neither folder nor suffix."""
    return Path(name).name != name or bool(Path(name).suffix)
