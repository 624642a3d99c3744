"""Images of machine code: what an object file is once it is linked, to be loaded without LLVM.

    code (read, execute) | constants and addresses (read) | data (read, write)

Each part begins at a page. All is as it will be in memory but for addresses, which are filled in
where the image is loaded: `relative` ones are those of places in the image, `external` ones those
of functions of the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import mmap
import struct
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from ...passes.machine.detection import VECTOR_LIBRARY
from .loaded_object import LoadedObject

PAGE = mmap.PAGESIZE

_LENGTH = struct.Struct("<Q")
_ADDRESS = struct.Struct("<Q")


@dataclass(frozen=True)
class Image:
    """The bytes of an image, without zeros at the end, and the sizes of its parts in pages.

    `exports` has the places of public symbols. An address is a place in the image, and the place
    or the symbol whose address it is, with what is added to it.
    """

    code: int
    constants: int
    data: int
    exports: Mapping[str, int]
    relative: tuple[tuple[int, int], ...]
    external: tuple[tuple[int, str, int], ...]
    contents: bytes

    def to_bytes(self) -> bytes:
        """The image for a file."""
        head = json.dumps({**asdict(self), "contents": None}).encode()
        return _LENGTH.pack(len(head)) + head + self.contents

    @classmethod
    def from_bytes(cls, data: bytes) -> Image:
        """The image in a file that `to_bytes` has written."""
        (length,) = _LENGTH.unpack_from(data)
        start = _LENGTH.size + length
        head: dict[str, Any] = json.loads(data[_LENGTH.size : start])
        return cls(
            head["code"],
            head["constants"],
            head["data"],
            head["exports"],
            tuple((place, target) for place, target in head["relative"]),
            tuple((place, name, offset) for place, name, offset in head["external"]),
            data[start:],
        )

    def load(self, exports: Iterable[str], imports: Mapping[str, int]) -> LoadedObject:
        """Puts the image into memory; `exports` are the symbols whose addresses are wanted.

        `imports` gives the addresses of symbols that are to be others than those of the process.
        Raises RuntimeError where one is missing, OSError where the system refuses the memory.
        """
        wanted = tuple(exports)
        for name in wanted:
            if name not in self.exports:
                raise RuntimeError(f"Symbols not found: [ {name} ]")
        addresses = {
            name: imports[name] if name in imports else _process_address(name)
            for _, name, _ in self.external
        }
        size = (self.code + self.constants + self.data) * PAGE
        # A child of a fork has data of its own.
        memory = mmap.mmap(-1, size, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
        memory[: len(self.contents)] = self.contents
        for place, target in self.relative:
            _ADDRESS.pack_into(memory, place, start + target)
        for place, name, offset in self.external:
            _ADDRESS.pack_into(memory, place, (addresses[name] + offset) % 2**64)
        _protect(start, self.code * PAGE, mmap.PROT_READ | mmap.PROT_EXEC)
        _protect(start + self.code * PAGE, self.constants * PAGE, mmap.PROT_READ)
        return LoadedObject({name: start + self.exports[name] for name in wanted}, memory)


def _protect(start: int, size: int, protection: int) -> None:
    if size and _system().mprotect(ctypes.c_void_p(start), ctypes.c_size_t(size), protection):
        number = ctypes.get_errno()
        raise OSError(number, "machine code cannot be made executable")


@cache
def _system() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@cache
def _process_address(name: str) -> int:
    """The address of a function of the C library, of mathematics and of vectors of it."""
    libraries = [_system()]
    for file in ("libm.so.6", VECTOR_LIBRARY) if not hasattr(_system(), name) else ():
        with contextlib.suppress(OSError):
            libraries.append(ctypes.CDLL(file))
    for library in libraries:
        with contextlib.suppress(AttributeError):
            address = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
            if address is not None:
                return address
    raise RuntimeError(f"Symbols not found: [ {name} ]")
