"""LLVM IR -> machine code in memory, from the cache on disk when it is there.

What is linked to an image is loaded without LLVM; other object files are left to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ...passes.machine.target import Target
from ...support.stage_times import stage
from .cache import cache_key, default_cache
from .code_versions import object_version
from .image import Image
from .loaded_object import LoadedObject

_IMAGE, _OBJECT = b"I", b"O"
"""The first byte of an entry of the cache: what comes behind it."""


def load_code(
    llvm_ir: str, target: Target, exports: Iterable[str], imports: Mapping[str, int]
) -> LoadedObject:
    """The machine code of LLVM IR; `exports` are the symbols whose addresses are wanted.

    `imports` gives the addresses of symbols that the code needs and the process does not have.
    Raises RuntimeError when a symbol cannot be resolved.
    """
    code = _stored_code(llvm_ir, target)
    with stage("load"):
        if code.startswith(_IMAGE):
            return Image.from_bytes(code[1:]).load(exports, imports)
        from .object_code import load_object  # LLVM

        return load_object(code[1:], exports, imports)


def _stored_code(llvm_ir: str, target: Target) -> bytes:
    cache = default_cache()
    if cache is None:
        return _compiled(llvm_ir, target)
    with stage("cache"):
        key = cache_key("machine code", llvm_ir, object_version(target))
        code = cache.get(key)
    if code is None:
        code = _compiled(llvm_ir, target)
        with stage("cache"):
            cache.put(key, code)
    return code


def _compiled(llvm_ir: str, target: Target) -> bytes:
    # LLVM, which is not needed where code is at hand.
    from .link_image import NotLinked, link_image
    from .object_code import compile_module

    code = compile_module(llvm_ir, target=replace(target, is_loaded=True))
    try:
        return _IMAGE + link_image(code).to_bytes()
    except NotLinked:
        return _OBJECT + code
