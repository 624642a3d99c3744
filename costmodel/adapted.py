"""Folder and file names of models adapted to this machine."""

from __future__ import annotations

from pathlib import Path

from ..passes.machine.target import Target
from ..support.user_folders import user_path
from .model_names import SUFFIX


def models_directory() -> Path | None:
    """The folder of the user's own models; None where there is to be none.

    The environment variable `LOOPWRIGHT_MODELS` is another folder, or `off`.
    """
    return user_path("LOOPWRIGHT_MODELS", "XDG_DATA_HOME", ".local/share", "models")


def adapted_model(name: str) -> Path | None:
    """The file of the model that was adapted to this machine; None where there is none."""
    folder = models_directory()
    if folder is None:
        return None
    path = adapted_path(folder, name)
    try:
        return path if path.is_file() else None
    except OSError:
        return path  # Reading it tells what is wrong.


def adapted_path(folder: Path, name: str) -> Path:
    """Where a folder has, or would have, the model that was adapted to this machine."""
    return folder / f"{name}-{machine_word(Target.host())}{SUFFIX}"


def machine_word(target: Target) -> str:
    """A word for file names that tells kinds of machines apart: caches, vectors, cores."""
    caches = [f"L{level}-{size >> 10}K" for level, size in sorted(target.caches.items())]
    return "-".join((*caches, f"{target.vector_bits}bit", f"{target.cores}cores"))
