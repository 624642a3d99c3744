"""Versions of glibc's symbols: libraries ask for the oldest, and run on systems of ten years ago.

A linker takes the newest version that it finds; `.symver` names another one.
"""

from __future__ import annotations

import re

_OLDEST = {"x86_64": "GLIBC_2.2.5", "aarch64": "GLIBC_2.17"}
"""The version that a symbol has had since glibc knows the architecture."""

_NEWER = {
    ("x86_64", "aligned_alloc"): "GLIBC_2.16",
    ("x86_64", "__register_atfork"): "GLIBC_2.3.2",
}

_MATHEMATICS = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp2 expm1 fabs fdim
floor fma fmax fmin fmod frexp hypot ldexp lgamma log log10 log1p log2 lrint lround llrint llround
modf nearbyint pow remainder rint round sin sinh sincos sqrt tan tanh tgamma trunc
"""

_OTHERS = """
__register_atfork aligned_alloc dlopen dlsym free getenv malloc memcpy memmove memset pthread_create
pthread_join pthread_self strcmp
"""


_VERSION = re.compile(rb"GLIBC_\d+\.\d+(?:\.\d+)?(?=\0)")
"""A version among the strings of a library."""

_FIRST = (2, 17)
"""The oldest glibc of all manylinux tags that installers know for every architecture."""


def symbol_versions(architecture: str) -> str:
    """Module-level assembly that gives each function of glibc its version, as LLVM IR."""
    mathematics = _MATHEMATICS.split()
    names = [*_OTHERS.split(), *mathematics, *(f"{name}f" for name in mathematics)]
    oldest = _OLDEST[architecture]
    return "".join(
        f'module asm ".symver {name}, {name}@{_NEWER.get((architecture, name), oldest)}"\n'
        for name in names
    )


def platform_tag(library: bytes, architecture: str) -> str:
    """The tag of the systems that a shared library runs on: by the newest version that it needs."""
    oldest = _number(_OLDEST[architecture])
    needed = {_number(name.decode()) for name in _VERSION.findall(library)}
    major, minor = max({oldest, *needed, _FIRST})
    return f"manylinux_{major}_{minor}_{architecture}"


def _number(version: str) -> tuple[int, int]:
    major, minor = version.removeprefix("GLIBC_").split(".")[:2]
    return int(major), int(minor)
