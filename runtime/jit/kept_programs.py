"""Functions of programs by the text of a file, kept on disk: a later process parses nothing.

An entry says that the text is a program, what its functions are called, and how the program is
printed: code is kept under that, so that a changed program has other code.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from .cache import cache_key, default_cache
from .code_versions import compiler


@dataclass(frozen=True)
class KeptProgram:
    """The names of the functions with bodies, and the program as it is printed."""

    names: tuple[str, ...]
    printed: str


def find_program(text: str) -> KeptProgram | None:
    """What is known of a text."""
    cache = default_cache()
    data = None if cache is None else cache.get(_key(text))
    if data is None:
        return None
    found = json.loads(data)
    return KeptProgram(tuple(found["names"]), found["printed"])


def keep_program(text: str, program: KeptProgram) -> None:
    """Keeps what is known of a text, where there is a cache."""
    cache = default_cache()
    if cache is not None:
        cache.put(_key(text), json.dumps(asdict(program)).encode())


def _key(text: str) -> str:
    return cache_key("program", text, compiler())
