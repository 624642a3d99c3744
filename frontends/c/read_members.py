"""Members of structures that are elements of arrays: `a[i].x` is an element of the row `a[i]`."""

from __future__ import annotations

from clang import cindex

from ...dialects.locations import Location
from .c_types import INT, ArrayType, CType, IntegerType, PointerType
from .read_types import member_position
from .tree import Binary, Expression, Literal, Subscript


class MemberArray(Subscript):
    """An array in an element of an array, `a[i].v`: `index` is where it begins."""

    def element(self, place: Location, kind: CType, index: Expression) -> Subscript:
        """`a[i].v[j]` -> `a[i][1 + j]`"""
        is_short = isinstance(index.type, IntegerType) and index.type.width < 32
        total = Binary(place, INT if is_short else index.type, "+", self.index, index)
        return Subscript(place, kind, self.base, total)


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
    if row is None or found is None or found[0] != row.element:
        return None
    position = Literal(place, INT, found[1])
    if isinstance(kind, ArrayType) and kind.element == row.element:
        return MemberArray(place, kind, base, position)
    return Subscript(place, kind, base, position) if kind == row.element else None


def _row_of(base: Expression) -> ArrayType | None:
    """The structure that an element of an array is, as a row of numbers."""
    if not isinstance(base, Subscript):
        return None
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
