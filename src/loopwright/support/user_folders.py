"""The user's cache, data and configuration folders."""

from __future__ import annotations

import os
from pathlib import Path


def user_path(variable: str, shared: str, usual: str, name: str) -> Path | None:
    """The path that the variable `variable` gives; None where it is `off`.

    Without it, `loopwright/name` in the folder of the XDG variable `shared`, or in the folder
    `usual` of the user's home; None without a home.
    """
    chosen = os.environ.get(variable, "")
    if chosen.lower() == "off":
        return None
    if chosen:
        return Path(chosen)
    folder = Path(os.environ.get(shared, ""))
    if not folder.is_absolute():
        folder = Path(os.path.expanduser("~")) / usual  # noqa: PTH111 - Path.home() raises without one
    return folder / "loopwright" / name if folder.is_absolute() else None
