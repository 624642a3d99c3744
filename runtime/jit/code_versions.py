"""What code on disk depends on besides its source: the compiler's files, LLVM, the processor.

All of it is found out without the compiler and without LLVM: files by name, time and size.
"""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ...passes.machine.cpuinfo import CpuInfo
from ...support.version import __version__

if TYPE_CHECKING:
    from ...passes.machine.target import Target

LLVM_VARIABLE = "LOOPWRIGHT_LLVM"
"""Environment variable: `llvmlite` takes that LLVM though there is a shared library."""

LLVM_PACKAGE = "karellen-llvm-core"
"""The distribution with LLVM's shared library."""

_ROOMS = ("dialects", "passes", "lowering", "costmodel", "runtime", "support", "frontends")
"""Folders of the compiler."""

_CODE_GENERATOR = ("jit", "jit/llvm", "../lowering/llvm")
"""Folders of what makes object code, from that of the runtime."""

_VARYING = frozenset(
    (
        *("processor", "cpu MHz", "bogomips", "BogoMIPS"),
        *("physical id", "core id", "apicid", "initial apicid"),
    )
)
"""What Linux says of one core at one time."""


@cache
def compiler() -> str:
    """Our version, and the files of the compiler: a source tree has no version."""
    root = Path(__file__).parents[2]
    found = [each for room in _ROOMS for each in _files(str(root / room))]
    return repr((__version__, sorted(found), _packages("xdsl", "islpy")))


@cache
def _code_generator() -> str:
    """What makes object code of LLVM IR."""
    root = Path(__file__).parents[1]
    found = [each for part in _CODE_GENERATOR for each in _files(str(root / part))]
    asked = os.environ.get(LLVM_VARIABLE)
    return repr((__version__, sorted(found), _packages("llvmlite"), _llvm_libraries(), asked))


def _llvm_libraries() -> list[tuple[str, int, int]]:
    """LLVM's shared libraries that are installed, without the time that metadata takes to read."""
    pattern = f"{LLVM_PACKAGE.replace('-', '_')}-*.dist-info/RECORD"
    return [_stamp(str(each)) for folder in sys.path for each in Path(folder).glob(pattern)]


@cache
def _processor() -> str:
    """This machine's processor, as Linux describes it, else LLVM."""
    fields: Mapping[str, str] = CpuInfo.read().fields
    if not fields:
        from llvmlite import binding  # not where Linux tells

        features = binding.get_host_cpu_features().flatten()
        return repr((platform.machine(), binding.get_host_cpu_name(), features))
    own = sorted((name, text) for name, text in fields.items() if name not in _VARYING)
    return repr((platform.machine(), own))


def object_version(target: Target) -> str:
    """Everything besides the LLVM IR that object code for a target depends on, as text."""
    return f"{target.name} {target.processor} {target.architecture}\n{_processor()}\n" + (
        _code_generator()
    )


def _packages(*names: str) -> list[tuple[str, int, int]]:
    """The first file of packages, which are not imported."""
    specs = map(find_spec, names)
    return [_stamp(spec.origin) for spec in specs if spec is not None and spec.origin is not None]


def _stamp(file: str) -> tuple[str, int, int]:
    status = Path(file).stat()
    return file, status.st_mtime_ns, status.st_size


def _files(folder: str) -> Iterator[tuple[str, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith((".py", ".toml")):
                status = entry.stat()
                yield entry.path, status.st_mtime_ns, status.st_size
            elif entry.is_dir():
                yield from _files(entry.path)
