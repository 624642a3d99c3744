"""Fingerprints of the machine and of the code generator, for labels."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
from functools import cache
from pathlib import Path

from llvmlite import binding

from ...passes.machine.cpuinfo import CpuInfo
from ...passes.machine.target import Target
from ...support.version import __version__
from ..jit import llvm

SOURCES = ("dialects", "passes", "lowering", "runtime/jit")
"""What turns a program and a schedule into code, below the package."""


@cache
def machine_fingerprint() -> str:
    """The machine as JSON: equal for machines of one kind."""
    target = Target.host()
    machine = {
        "cpu": CpuInfo.read().model_name,
        "cpu_name": binding.get_host_cpu_name(),
        "cores": os.cpu_count(),
        "vector_bits": target.vector_bits,
        "caches": {f"L{level}": size for level, size in sorted(target.caches.items())},
    }
    return json.dumps(machine, separators=(",", ":"))


@cache
def code_generator() -> str:
    """The code generator as JSON: versions, and a digest of its own text."""
    versions = {
        "loopwright": __version__,
        "sources": _digest(),
        "llvm": llvm.version(),
        "llvmlite": importlib.metadata.version("llvmlite"),
        "islpy": importlib.metadata.version("islpy"),
    }
    return json.dumps(versions, separators=(",", ":"))


def _digest() -> str:
    root = Path(__file__).parents[2]
    state = hashlib.sha256()
    for source in SOURCES:
        path = root / source
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            state.update(file.read_bytes())
    return state.hexdigest()[:12]
