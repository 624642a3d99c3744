"""Where models that were adapted to this machine are kept, and what they are adapted with."""

from __future__ import annotations

import os
from pathlib import Path

from ..passes.target import Target


def models_directory() -> Path | None:
    """The folder of the user's own models; None where there is to be none.

    The environment variable `LOOPWRIGHT_MODELS` is another folder, or `off`.
    """
    chosen = os.environ.get("LOOPWRIGHT_MODELS", "")
    if chosen.lower() == "off":
        return None
    if chosen:
        return Path(chosen)
    shared = Path(os.environ.get("XDG_DATA_HOME", ""))
    if shared.is_absolute():
        return shared / "loopwright" / "models"
    home = Path(os.path.expanduser("~"))  # noqa: PTH111 - Path.home() raises without a home
    return home / ".local/share/loopwright/models" if home.is_absolute() else None


def adapted_model(name: str) -> Path | None:
    """The file of the model that was adapted to this machine; None where there is none."""
    folder = models_directory()
    if folder is None:
        return None
    path = folder / f"{name}-{machine_word(Target.host())}.pt"
    return path if path.is_file() else None


def machine_word(target: Target) -> str:
    """A word for file names that tells kinds of machines apart: caches, vectors, cores."""
    caches = [f"L{level}-{size >> 10}K" for level, size in sorted(target.caches.items())]
    return "-".join((*caches, f"{target.vector_bits}bit", f"{target.cores}cores"))
