"""Generated code that is kept on disk: the schedule chosen for sizes, loop IR and LLVM IR.

A later process needs neither choose the schedule again nor generate the code. Entries belong to the
text of the program, the sizes, the target and options, and to the compiler as its files are now.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import cast

from ...lowering.llvm.options import Options
from ...passes.machine.target import Target
from .cache import cache_key, default_cache
from .code_versions import compiler


@dataclass(frozen=True)
class KeptCode:
    """What was made of a program; `schedule` is the text of its schedule, None: as written.

    `is_alone` tells that it declares no functions, which the process would have to know.
    """

    is_alone: bool
    schedule: str | None
    loop_ir: str
    llvm_ir: str


def kept_key(program: str, sizes: object, chosen: str, options: Options, target: Target) -> str:
    """The key of a program for sizes, whose schedule is `chosen` in some way."""
    machine = {name: _ordered(value) for name, value in asdict(target).items()}
    parts = (program, repr(sizes), chosen, repr(options), repr(machine), compiler())
    return cache_key("generated code", *parts)


def find_code(key: str) -> KeptCode | None:
    """The code that is kept under a key."""
    cache = default_cache()
    data = None if cache is None else cache.get(key)
    return None if data is None else KeptCode(**json.loads(data))


def keep_code(key: str, code: KeptCode) -> None:
    """Keeps code, where there is a cache."""
    cache = default_cache()
    if cache is not None:
        cache.put(key, json.dumps(asdict(code)).encode())


def _ordered(value: object) -> object:
    """A value whose text is the same in every process."""
    if isinstance(value, frozenset):
        return sorted(str(each) for each in cast("frozenset[object]", value))
    return value
