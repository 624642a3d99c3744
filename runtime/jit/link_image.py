"""Linker: relocatable object files of x86-64 (ELF) to images.

Functions of the process may be anywhere: they are called through a jump to an address that is
among the constants, behind the code.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import NamedTuple

from .image import PAGE, Image

_HEADER = struct.Struct("<4sBB10xHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")  # the kind before the symbol: one number of 64 bits

_X86_64, _RELOCATABLE = 62, 1
_SYMBOLS, _WITH_ADDENDS, _NO_BITS = 2, 4, 8
_WRITABLE, _ALLOCATED, _EXECUTABLE, _THREAD_LOCAL = 1, 2, 4, 0x400
_ORDINARY = (1, _NO_BITS)
_NAMES = (".text", ".rodata", ".data", ".bss")
"""Types and beginnings of names of sections that are loaded and have no meaning of their own."""

_LOCAL, _FIRST_RESERVED = 0, 0xFF00
_ABSOLUTE_64, _RELATIVE_32, _JUMP_32, _RELATIVE_64 = 1, 2, 4, 24
_INDIRECT = (9, 41, 42)
"""Relocations: the address is read from where the linker puts it."""

_JUMP = struct.Struct("<HiH")
_JUMP_CODE, _TWO_BYTES = 0x25FF, 0x9066


class NotLinked(Exception):
    """An object file with something that images do not have."""


@dataclass(frozen=True)
class _Section:
    name: str
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int


@dataclass(frozen=True)
class _Symbol:
    name: str
    is_local: bool
    section: int
    value: int


class _Relocation(NamedTuple):
    """What is filled in at a place of a section: the symbol is meant by its number."""

    section: int
    offset: int
    kind: int
    symbol: int
    addend: int


@dataclass
class _Layout:
    """Where sections, jumps and addresses are put; `places` has sections by number."""

    places: dict[int, int] = field(default_factory=dict[int, int])
    jumps: dict[str, int] = field(default_factory=dict[str, int])
    addresses: dict[tuple[str, int], int] = field(default_factory=dict[tuple[str, int], int])
    end: int = 0

    def put(self, size: int, alignment: int) -> int:
        """The place of the next `size` bytes."""
        place = -(-self.end // max(1, alignment)) * max(1, alignment)
        self.end = place + size
        return place

    def close(self) -> int:
        """Fills a page; returns where the next one begins, in pages."""
        self.end = -(-self.end // PAGE) * PAGE
        return self.end // PAGE


def link_image(code: bytes) -> Image:
    """The image of an object file; raises NotLinked."""
    try:
        return _Linker(code).image()
    except (struct.error, IndexError, ValueError) as error:
        raise NotLinked("the object file is damaged") from error


class _Linker:
    """The link of one object file."""

    def __init__(self, code: bytes) -> None:
        self._code = code
        header = _HEADER.unpack_from(code)
        magic, width, order, kind, machine = header[:5]
        table: int = header[8]
        count: int = header[-2]
        names: int = header[-1]
        if (magic, width, order, kind, machine) != (b"\x7fELF", 2, 1, _RELOCATABLE, _X86_64):
            raise NotLinked("no object file of x86-64")
        raw: list[tuple[int, ...]] = [
            _SECTION.unpack_from(code, table + n * _SECTION.size) for n in range(count)
        ]
        self._sections = [
            _Section(self._text(raw[names][4] + name), kind, flags, offset, size, link, info, align)
            for name, kind, flags, _, offset, size, link, info, align, _ in raw
        ]
        self._symbols = self._read_symbols()
        self._relocations = [
            _Relocation(each.info, *_RELOCATION.unpack_from(code, place))
            for each in self._sections
            if each.kind == _WITH_ADDENDS and self._is_loaded(each.info)
            for place in range(each.offset, each.offset + each.size, _RELOCATION.size)
        ]
        self._layout = _Layout()
        self._relative: list[tuple[int, int]] = []
        self._external: list[tuple[int, str, int]] = []

    def _text(self, start: int) -> str:
        return self._code[start : self._code.index(b"\0", start)].decode()

    def _read_symbols(self) -> list[_Symbol]:
        tables = [each for each in self._sections if each.kind == _SYMBOLS]
        if len(tables) != 1:
            raise NotLinked("not one table of symbols")
        names = self._sections[tables[0].link].offset
        found: list[_Symbol] = []
        for place in range(tables[0].offset, tables[0].offset + tables[0].size, _SYMBOL.size):
            name, info, _, section, value, _ = _SYMBOL.unpack_from(self._code, place)
            found.append(_Symbol(self._text(names + name), info >> 4 == _LOCAL, section, value))
        return found

    def _is_loaded(self, number: int) -> bool:
        return bool(self._sections[number].flags & _ALLOCATED)

    def image(self) -> Image:
        """The image; raises NotLinked."""
        loaded = [n for n in range(len(self._sections)) if self._is_loaded(n)]
        for number in loaded:
            section = self._sections[number]
            is_ordinary = section.kind in _ORDINARY and section.name.startswith(_NAMES)
            if not is_ordinary or section.flags & _THREAD_LOCAL:
                raise NotLinked(f"a section {section.name}")
            if section.alignment > PAGE:
                raise NotLinked(f"a section {section.name} of large alignment")
        code = [n for n in loaded if self._sections[n].flags & _EXECUTABLE]
        data = [n for n in loaded if self._sections[n].flags & _WRITABLE and n not in code]
        self._put(code)
        self._put_jumps()
        first = self._layout.close()
        self._put([n for n in loaded if n not in (*code, *data)])
        self._put_addresses()
        second = self._layout.close()
        self._put(sorted(data, key=lambda n: self._sections[n].kind == _NO_BITS))
        third = self._layout.close()
        contents = self._filled()
        exports = {
            each.name: self._layout.places[each.section] + each.value
            for each in self._symbols
            if not each.is_local and each.section in self._layout.places
        }
        return Image(
            first,
            second - first,
            third - second,
            exports,
            tuple(self._relative),
            tuple(self._external),
            bytes(contents).rstrip(b"\0"),
        )

    def _put(self, sections: list[int]) -> None:
        for number in sections:
            section = self._sections[number]
            self._layout.places[number] = self._layout.put(section.size, section.alignment)

    def _put_jumps(self) -> None:
        for each in self._relocations:
            symbol = self._symbols[each.symbol]
            is_new = symbol.section == 0 and symbol.name not in self._layout.jumps
            if each.kind == _JUMP_32 and is_new:
                self._layout.jumps[symbol.name] = self._layout.put(_JUMP.size, 8)

    def _put_addresses(self) -> None:
        wanted = [(name, -1) for name in self._layout.jumps]
        wanted += [
            self._address_key(each.symbol) for each in self._relocations if each.kind in _INDIRECT
        ]
        for key in dict.fromkeys(wanted):
            self._layout.addresses[key] = self._layout.put(8, 8)

    def _address_key(self, number: int) -> tuple[str, int]:
        """What tells addresses apart: the name of a function of the process, or the symbol."""
        symbol = self._symbols[number]
        return (symbol.name, -1) if symbol.section == 0 else ("", number)

    def _filled(self) -> bytearray:
        contents = bytearray(self._layout.end)
        for number, place in self._layout.places.items():
            section = self._sections[number]
            if section.kind != _NO_BITS:
                contents[place : place + section.size] = self._code[
                    section.offset : section.offset + section.size
                ]
        for name, place in self._layout.jumps.items():
            distance = self._layout.addresses[name, -1] - (place + 6)
            _JUMP.pack_into(contents, place, _JUMP_CODE, distance, _TWO_BYTES)
        for (name, number), place in self._layout.addresses.items():
            self._address(place, name, number, 0)
        for each in self._relocations:
            self._relocate(contents, each)
        return contents

    def _address(self, place: int, name: str, number: int, addend: int) -> None:
        """An address that is known where the image is loaded."""
        if number < 0:
            self._external.append((place, name, addend))
        else:
            self._relative.append((place, self._place_of(number) + addend))

    def _place_of(self, number: int) -> int:
        """Where a symbol of this object file is."""
        symbol = self._symbols[number]
        if symbol.section >= _FIRST_RESERVED or symbol.section not in self._layout.places:
            raise NotLinked(f"the symbol '{symbol.name}'")
        return self._layout.places[symbol.section] + symbol.value

    def _relocate(self, contents: bytearray, what: _Relocation) -> None:
        place = self._layout.places[what.section] + what.offset
        symbol = self._symbols[what.symbol]
        form = "<i"
        if what.kind == _ABSOLUTE_64:
            self._address(place, *self._address_key(what.symbol), what.addend)
            return
        if what.kind in _INDIRECT:
            target = self._layout.addresses[self._address_key(what.symbol)]
        elif what.kind == _JUMP_32 and symbol.section == 0:
            target = self._layout.jumps[symbol.name]
        elif what.kind in (_RELATIVE_32, _JUMP_32, _RELATIVE_64) and symbol.section != 0:
            target = self._place_of(what.symbol)
            form = "<q" if what.kind == _RELATIVE_64 else form
        else:
            raise NotLinked(f"a relocation of kind {what.kind} at '{symbol.name}'")
        struct.pack_into(form, contents, place, target + what.addend - place)
