"""Lists of initial values, and constant arrays that have them: `const int dx[2] = {1, 0}`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise, product
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

_MOST = 1024
"""Elements of a constant array whose values are read."""


def shape(kind: CType) -> tuple[tuple[int, ...], CType]:
    """The extents and the type of the elements of an array of fixed size."""
    extents: list[int] = []
    while isinstance(kind, ArrayType) and kind.extent is not None and not kind.is_structure:
        extents.append(kind.extent)
        kind = kind.element
    return tuple(extents), kind


def designates(values: cindex.Cursor) -> bool:
    """Whether values are for elements that are named, as in `{[3] = 1}`."""
    tokens = [each.spelling for each in values.get_tokens()]
    return any(one == "]" and other == "=" for one, other in pairwise(tokens))


def collect(
    values: cindex.Cursor,
    position: Position,
    extents: Sequence[int],
    given: dict[Position, cindex.Cursor],
) -> bool:
    """Notes the values of a list; False for one without braces around its rows."""
    for number, each in enumerate(values.get_children()):
        is_list = each.kind.name == "INIT_LIST_EXPR"
        if is_list != (len(extents) > 1):
            return False
        if is_list:
            if not collect(each, (*position, number), extents[1:], given):
                return False
        else:
            given[(*position, number)] = each
    return True


def constant_table(variable: cindex.Cursor, kind: CType) -> Table | None:
    """The values of an array that is constant; None where they are not known here."""
    defined = variable.get_definition()
    if defined is None or not isinstance(kind, ArrayType) or is_volatile(defined.type):
        return None
    children = list(defined.get_children())
    lists = [each for each in children if each.kind.name == "INIT_LIST_EXPR"]
    if len(lists) != 1 or any(each.kind.name == "UNEXPOSED_ATTR" for each in children):  # weak
        return None
    extents, element = shape(kind)
    if isinstance(element, ArrayType):  # structures whose members are all numbers of one type
        members = list(_structure(defined.type).get_fields())
        if len(members) != element.extent or not is_uniform(_structure(defined.type)):
            return None
        extents, element = (*extents, len(members)), element.element
    if not isinstance(element, IntegerType | FloatType) or prod(extents) > _MOST:
        return None
    given: dict[Position, cindex.Cursor] = {}
    names_elements = any(each.spelling == "=" for each in lists[0].get_tokens())
    if names_elements or not collect(lists[0], (), extents, given):
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
