"""Checks of the options of the API: type, range and choices, with the argument in the message."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import cast

import numpy as np

from ...passes.machine.detection import host_architecture
from ...passes.machine.target import Target
from ...support.summaries import shortened
from .ranges import INDICES, MOST_SECONDS, MOST_THREADS


def check_flags(subject: str, **flags: object) -> None:
    """Raises TypeError for what is neither True nor False."""
    for name, value in flags.items():
        if not _is_flag(value):
            raise TypeError(f"{subject}: {name} is True or False, not {_shown(value)}")


def check_threads(subject: str, threads: object) -> None:
    """Raises TypeError, ValueError for what is neither None nor a number of threads."""
    if threads is None:
        return
    check_integer(subject, "threads", threads)
    if not 1 <= cast(int, threads) <= MOST_THREADS:
        raise ValueError(f"{subject}: threads must be between 1 and {MOST_THREADS}, got {threads}")


def check_target(subject: str, target: object) -> None:
    """Raises TypeError for what is neither None nor a Target, and names the choices."""
    if target is not None and not isinstance(target, Target):
        names = ", ".join(Target.names())
        raise TypeError(
            f"{subject}: target is a Target, such as Target.named(NAME) with one of {names}; "
            f"not {_shown(target)}"
        )


def check_options(subject: str, threads: object, target: object, **flags: object) -> None:
    """Raises TypeError, ValueError for how code is to be made."""
    check_threads(subject, threads)
    check_target(subject, target)
    check_flags(subject, **flags)


def check_runs_here(subject: str, target: Target) -> None:
    """Raises ValueError for a target of another architecture, or with more instructions."""
    lacking = target.features - Target.host().features
    if target.runs_here and not lacking:
        return
    here = host_architecture()
    if target.runs_here:
        here = f"this machine, which has no {', '.join(sorted(lacking))}"
    raise ValueError(
        f"{subject}: code for {target.name} ({target.architecture}) does not run on {here}; "
        "build() makes libraries for it"
    )


def check_sizes(subject: str, sizes: object, known: Iterable[str] = ()) -> None:
    """Raises TypeError, ValueError for what is neither None nor sizes by name.

    With `known`, the names that there are.
    """
    if sizes is None:
        return
    if not isinstance(sizes, Mapping):
        raise TypeError(f"{subject}: sizes is a dictionary of sizes by name, not {_shown(sizes)}")
    names = tuple(known)
    for name, value in cast("Mapping[object, object]", sizes).items():
        if names and name not in names:
            raise ValueError(f"{subject}: there is no size '{name}'; there are {', '.join(names)}")
        check_integer(subject, f"size {name}", value)
        if int(cast(int, value)) not in INDICES:
            raise ValueError(f"{subject}: size {name} does not fit into index, which has 64 bits")


def check_integer(subject: str, name: str, value: object) -> None:
    """Raises TypeError for what is no integer; True and False are none."""
    if _is_flag(value) or not isinstance(value, Integral):
        raise TypeError(f"{subject}: {name} is an integer, not {_shown(value)}")


def check_seconds(subject: str, name: str, value: object) -> None:
    """Raises TypeError, ValueError for what is no time in seconds."""
    if _is_flag(value) or not isinstance(value, Real):
        raise TypeError(f"{subject}: {name} is a number of seconds, not {_shown(value)}")
    if not 0 <= float(value) < float("inf"):
        raise ValueError(f"{subject}: {name} must be finite and not negative, got {value}")
    if float(value) > MOST_SECONDS:
        raise ValueError(f"{subject}: {name} must be at most {MOST_SECONDS} seconds, got {value}")


def check_text(subject: str, name: str, value: object) -> None:
    """Raises TypeError for what is no text."""
    if not isinstance(value, str):
        raise TypeError(f"{subject}: {name} is a text, not {_shown(value)}")


def check_texts(subject: str, name: str, value: object) -> None:
    """Raises TypeError for what is no list of texts; a text is none."""
    items: Sequence[object] = [None]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        items = cast("Sequence[object]", value)
    if not all(isinstance(each, str) for each in items):
        raise TypeError(f"{subject}: {name} is a list of texts, not {_shown(cast(object, value))}")


def check_path(subject: str, name: str, value: object) -> None:
    """Raises TypeError for what names no file."""
    if not isinstance(value, str | Path | os.PathLike):
        raise TypeError(f"{subject}: {name} is a text or a Path, not {_shown(value)}")


def check_choice(subject: str, name: str, value: object, choices: Iterable[str]) -> None:
    """Raises TypeError, ValueError for what is none of the choices."""
    known = tuple(choices)
    check_text(subject, name, value)
    if value not in known:
        raise ValueError(f"{subject}: {name} is one of {', '.join(known)}, not {_shown(value)}")


def _is_flag(value: object) -> bool:
    return isinstance(value, bool | np.bool_)


def _shown(value: object) -> str:
    return shortened(repr(value), 80)
