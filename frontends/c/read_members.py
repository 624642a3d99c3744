"""Members of structures that are elements of arrays: `a[i].x` is an element of the row `a[i]`."""

from __future__ import annotations

from clang import cindex

from ...dialects.locations import Location
from .c_types import INT, LONG, ArrayType, CType, IntegerType, PointerType
from .read_types import member_position, read_row
from .tree import Binary, Expression, Literal, Subscript, widened


class MemberArray(Subscript):
    """An array or a structure in an element of an array, `a[i].v`: `index` is where it begins."""

    def element(self, place: Location, kind: CType, index: Expression) -> Subscript:
        """`a[i].v[j]` -> `a[i][1 + j]`, `a[i].m[j]` -> `a[i][1 + j * 3]`"""
        element = self.type.element if isinstance(self.type, ArrayType) else None
        count = None if element is None else _count(element)
        if element is None or count is None:
            return Subscript(place, kind, self, index)
        if isinstance(element, ArrayType):
            length = Literal(place, LONG, count)
            index = Binary(place, LONG, "*", widened(index), length)
            return MemberArray(place, element, self.base, _sum(place, self.index, index))
        return Subscript(place, kind, self.base, _sum(place, self.index, index))


def _sum(place: Location, first: Expression, index: Expression) -> Expression:
    if isinstance(first, Literal):
        is_short = isinstance(index.type, IntegerType) and index.type.width < 32
        return Binary(place, INT if is_short else index.type, "+", first, index)
    return Binary(place, LONG, "+", widened(first), widened(index))


def _count(kind: CType) -> int | None:
    """How many numbers an array has; None where this is not known."""
    count = 1
    while isinstance(kind, ArrayType):
        if kind.extent is None:
            return None
        count *= kind.extent
        kind = kind.element
    return count


def of_element(
    base: Expression,
    structure: cindex.Type,
    member: cindex.Cursor | None,
    kind: CType,
    place: Location,
) -> Subscript | None:
    """A member of an element, `a[i].x` -> `a[i][0]`; None where its type is not that of others."""
    row = _row_of(base)
    found = None if member is None else member_position(structure, member)
    if row is None or member is None or found is None or found[0] != row.element:
        return None
    position: Expression = Literal(place, INT, found[1])
    if isinstance(base, MemberArray):
        position = _sum(place, position, base.index)
        base = base.base
    if kind == row.element:
        return Subscript(place, kind, base, position)
    kind = read_row(member.type)
    element: CType = kind
    while isinstance(element, ArrayType):
        element = element.element
    is_row = isinstance(kind, ArrayType) and element == row.element
    return MemberArray(place, kind, base, position) if is_row else None


def _row_of(base: Expression) -> ArrayType | None:
    """The structure that an element of an array is, as a row of numbers."""
    if not isinstance(base, Subscript):
        return None
    if isinstance(base, MemberArray):
        kind = base.type
        return kind if isinstance(kind, ArrayType) and kind.is_structure else None
    around = _row_of(base.base) if isinstance(base.base, Subscript) else base.base.type
    if isinstance(around, PointerType):
        around = around.target
    elif isinstance(around, ArrayType):
        around = around.element
    return around if isinstance(around, ArrayType) else None


def holder_of(base: cindex.Cursor) -> cindex.Cursor:
    """What a member is written behind: the anonymous structures around it have no name."""
    while base.type.get_canonical().get_declaration().is_anonymous_record_decl():
        (base,) = base.get_children()
    return base


def has_own_memory(member: cindex.Cursor) -> bool:
    """Whether a member is no bit-field, and shares its memory with no other one."""
    declared = member.referenced
    if declared is None or declared.is_bitfield():
        return False
    around = declared.semantic_parent
    while around is not None and around.kind.name == "STRUCT_DECL":
        if not around.is_anonymous_record_decl():
            return True
        around = around.semantic_parent
    return False


def outlives_calls(variable: cindex.Cursor) -> bool:
    """Whether a variable keeps its value between calls of the function."""
    if variable.storage_class.name in ("STATIC", "EXTERN"):
        return True
    return variable.get_usr() != "" and "@F@" not in variable.get_usr()
