"""Lists of initial values, and constant arrays that have them: `const int dx[2] = {1, 0}`."""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import TypeAlias

from clang import cindex

from .c_types import ArrayType, CType, FloatType, IntegerType
from .clang_library import evaluate
from .read_types import is_uniform, is_volatile
from .values import rounded

Position: TypeAlias = "tuple[int, ...]"
Table: TypeAlias = "Mapping[Position, int | float]"
"""The values of a constant array."""

INITIAL = ("INIT_LIST_EXPR", "STRING_LITERAL", "COMPOUND_LITERAL_EXPR")
"""Kinds of what an array begins with."""

_BYTE = 8

_ESCAPE = r"""\\([abfnrtv\\'"]|[0-3][0-7]{2}|[0-7]{1,2}(?![0-7])|x[\da-fA-F]{2}(?![\da-fA-F]))"""
_STRING = re.compile(rf'"(?!.*\?\?)([ -!#-\[\]-~]|{_ESCAPE})*"')
"""What C and Python write alike; two question marks may be a trigraph."""

_MOST = 1024
"""Elements of a constant array whose values are read."""


def shape(kind: CType) -> tuple[tuple[int, ...], CType]:
    """The extents and the type of the elements of an array of fixed size."""
    extents: list[int] = []
    while isinstance(kind, ArrayType) and kind.extent is not None and not kind.is_structure:
        extents.append(kind.extent)
        kind = kind.element
    return tuple(extents), kind


def collect(
    values: cindex.Cursor,
    position: Position,
    extents: Sequence[int],
    given: dict[Position, cindex.Cursor],
) -> bool:
    """Notes the values of a list by the elements that C gives them to.

    Rows need no braces, `int a[2][2] = {1, 2, 3, 4}`, and elements may be named, `{[1] = {3, 4}}`.
    False for what is no list of numbers of such an array.
    """
    at, size = 0, prod(extents)
    if values.kind.name == "STRING_LITERAL":
        return False
    for each in values.get_children():
        last = None
        if (named := _named(each)) is not None:
            path, last, each = named
            if len(path) > len(extents) or last == 0:
                return False
            inner = extents[len(path) :]
            at = sum(one * prod(extents[n + 1 :]) for n, one in enumerate(path))
        elif each.kind.name == "INIT_LIST_EXPR":  # of the largest part that begins here
            inner = next(
                part for n in range(1, len(extents) + 1) if at % prod(part := extents[n:]) == 0
            )
        else:
            inner = ()
        if each.kind.name == "STRING_LITERAL" or (inner and each.kind.name != "INIT_LIST_EXPR"):
            return False
        for first in range(at, at + prod(inner) * (1 if last is None else last), prod(inner) or 1):
            if first + prod(inner) > size:
                return False
            if each.kind.name != "INIT_LIST_EXPR":
                given[(*position, *_place(first, extents))] = each
            elif not inner:  # `{1}` for a number
                found = list(each.get_children())
                if len(found) != 1:
                    return False
                given[(*position, *_place(first, extents))] = found[0]
            else:
                row = (*position, *_place(first, extents)[: len(extents) - len(inner)])
                for old in [one for one in given if one[: len(row)] == row]:
                    del given[old]  # a list takes the place of all that was given before
                if not collect(each, row, inner, given):
                    return False
            at = first + prod(inner)
    return True


def _place(number: int, extents: Sequence[int]) -> Position:
    """The subscripts of the element with this number in row-major order."""
    found: list[int] = []
    for extent in reversed(extents):
        number, last = divmod(number, extent)
        found.append(last)
    return tuple(reversed(found))


def _named(value: cindex.Cursor) -> tuple[Position, int, cindex.Cursor] | None:
    """The first element that a value names, how many it is for, and the value: `[0 ... 3] = x`.

    It is for none where the names are no numbers, or one before the last is a range.
    """
    tokens = [each.spelling for each in value.get_tokens()]
    if not tokens or tokens[0] != "[" or value.kind.name != "UNEXPOSED_EXPR":
        return None
    *written, given = value.get_children()
    numbers = [evaluate(each) for each in written]
    path = tuple(each for each in numbers if isinstance(each, int) and each >= 0)
    *before, is_range = _ranges(tokens)
    if any(before) or not len(path) == len(numbers) == len(before) + 1 + is_range:
        return (), 0, value
    if not is_range:
        return path, 1, given
    *outer, low, high = path
    return (*outer, low), high - low + 1, given


def _ranges(tokens: Sequence[str]) -> list[bool]:
    """Whether each of the names at the beginning, as in `[1][0 ... 3] = x`, is a range."""
    found: list[bool] = []
    depth = 0
    for token in tokens:
        if token == "[" and not depth:
            found.append(False)
        elif not depth:
            break
        depth += (token == "[") - (token == "]")
        found[-1] |= token == "..."
    return found


def string_elements(values: cindex.Cursor, kind: CType) -> list[int] | None:
    """The elements of an array of characters that a string begins; None for other arrays.

    What the string leaves is zero; its own last zero is left out where there is no room.
    """
    extents, element = shape(kind)
    if values.kind.name != "STRING_LITERAL" or len(extents) != 1:
        return None
    if not isinstance(element, IntegerType) or element.width != _BYTE:
        return None
    tokens = [each.spelling for each in values.get_tokens()]
    if not tokens or not all(map(_STRING.fullmatch, tokens)):  # as a macro's name
        return None
    text: bytes = b"".join(literal_eval("b" + each) for each in tokens)
    if len(text) > extents[0]:
        return None
    return [element.wrap(each) for each in text.ljust(extents[0], b"\0")]


def constant_table(variable: cindex.Cursor, kind: CType) -> Table | None:
    """The values of an array that is constant; None where they are not known here."""
    defined = variable.get_definition()
    if defined is None or not isinstance(kind, ArrayType) or is_volatile(defined.type):
        return None
    children = list(defined.get_children())
    lists = [each for each in children if each.kind.name in ("INIT_LIST_EXPR", "STRING_LITERAL")]
    if len(lists) != 1 or any(each.kind.name == "UNEXPOSED_ATTR" for each in children):  # weak
        return None
    extents, element = shape(kind)
    if (text := string_elements(lists[0], kind)) is not None and len(text) <= _MOST:
        return {(at,): value for at, value in enumerate(text)}
    if isinstance(element, ArrayType):  # structures whose members are all numbers of one type
        members = list(_structure(defined.type).get_fields())
        if len(members) != element.extent or not is_uniform(_structure(defined.type)):
            return None
        extents, element = (*extents, len(members)), element.element
    if not isinstance(element, IntegerType | FloatType) or prod(extents) > _MOST:
        return None
    given: dict[Position, cindex.Cursor] = {}
    if not collect(lists[0], (), extents, given):
        return None
    found: dict[Position, int | float] = dict.fromkeys(product(*map(range, extents)), 0)
    for position, each in given.items():
        value = evaluate(each)
        if value is None or position not in found:
            return None
        if isinstance(element, IntegerType):
            if not isinstance(value, int) or not element.lowest <= value <= element.highest:
                return None
            found[position] = value
        else:
            found[position] = rounded(value, element).real
    return found


def _structure(kind: cindex.Type) -> cindex.Type:
    """The type of the elements of an array."""
    canonical = kind.get_canonical()
    while canonical.kind.name.endswith("ARRAY"):
        canonical = canonical.element_type.get_canonical()
    return canonical
