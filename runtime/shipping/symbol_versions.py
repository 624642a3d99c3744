"""Versions of glibc's symbols: libraries ask for the oldest, and run on systems of ten years ago.

A linker takes the newest version that it finds where an object file does not name one.
"""

from __future__ import annotations

import re
import struct

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


_FUNCTIONS = frozenset(
    (*_OTHERS.split(), *_MATHEMATICS.split(), *(f"{name}f" for name in _MATHEMATICS.split()))
)

# Of a 64-bit little-endian object file: see elf(5).
_SECTIONS = struct.Struct("<40xQ10xHHH")  # the header: where sections are, size, number, names
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOL_TABLE, _UNDEFINED = 2, 0


def with_oldest_versions(code: bytes, architecture: str) -> bytes:
    """An object file whose references to functions of glibc are to their oldest versions.

    A reference to `exp@GLIBC_2.2.5` is what assemblers make of `.symver exp, exp@GLIBC_2.2.5`.
    """
    start, size, count, _ = _SECTIONS.unpack_from(code)
    sections = [list(_SECTION.unpack_from(code, start + size * each)) for each in range(count)]
    (symbols,) = (each for each in sections if each[1] == _SYMBOL_TABLE)
    position = symbols[6]
    names = sections[position]
    texts = bytearray(code[names[4] : names[4] + names[5]])
    patched = bytearray(code)
    for place in range(symbols[4], symbols[4] + symbols[5], _SYMBOL.size):
        text, *kind, section, value, length = _SYMBOL.unpack_from(code, place)
        name = texts[text : texts.index(0, text)].decode()
        if section == _UNDEFINED and name in _FUNCTIONS:
            version = _NEWER.get((architecture, name), _OLDEST[architecture])
            _SYMBOL.pack_into(patched, place, len(texts), *kind, section, value, length)
            texts += f"{name}@{version}\0".encode()
    names[4:6] = len(patched), len(texts)
    _SECTION.pack_into(patched, start + size * position, *names)
    return bytes(patched + texts)


def platform_tag(library: bytes, architecture: str) -> str:
    """The tag of the systems that a shared library runs on: by the newest version that it needs."""
    oldest = _number(_OLDEST[architecture])
    needed = {_number(name.decode()) for name in _VERSION.findall(library)}
    major, minor = max({oldest, *needed, _FIRST})
    return f"manylinux_{major}_{minor}_{architecture}"


def _number(version: str) -> tuple[int, int]:
    major, minor = version.removeprefix("GLIBC_").split(".")[:2]
    return int(major), int(minor)
