"""Object code for LLVM IR, from the cache on disk when it is there."""

from __future__ import annotations

import inspect
from functools import cache

from ...passes.machine.target import Target
from ...support.stage_times import stage
from ...support.version import __version__
from . import masked_accesses
from . import object_code as jit
from .cache import cache_key, default_cache
from .llvm import library, library_module, llvmlite_module, module_protocol


@cache
def _code_generator() -> str:
    """What turns LLVM IR into object code: versions, and the text of our own part."""
    parts = (jit, masked_accesses, library, library_module, llvmlite_module, module_protocol)
    sources = map(inspect.getsource, parts)
    return "\n".join((__version__, *sources))


def object_code(llvm_ir: str, target: Target) -> bytes:
    """The object file for LLVM IR, from the cache on disk when it is there."""
    cache = default_cache()
    if cache is None:
        return jit.compile_module(llvm_ir, target=target)
    key = cache_key(llvm_ir, jit.fingerprint(target), _code_generator())
    with stage("cache"):
        code = cache.get(key)
    if code is None:
        code = jit.compile_module(llvm_ir, target=target)
        with stage("cache"):
            cache.put(key, code)
    return code
