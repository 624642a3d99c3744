"""libclang's types as ours."""

from __future__ import annotations

from collections.abc import Iterator

from clang import cindex

from .c_types import (
    BOOL,
    ArrayType,
    ComplexType,
    CType,
    FloatType,
    IntegerType,
    OtherType,
    PointerType,
)

_INTEGERS: dict[str, tuple[str, bool, int]] = {
    "CHAR_S": ("char", True, 0),
    "CHAR_U": ("char", False, 0),
    "SCHAR": ("signed char", True, 0),
    "UCHAR": ("unsigned char", False, 0),
    "SHORT": ("short", True, 0),
    "USHORT": ("unsigned short", False, 0),
    "INT": ("int", True, 0),
    "UINT": ("unsigned int", False, 0),
    "LONG": ("long", True, 1),
    "ULONG": ("unsigned long", False, 1),
    "LONGLONG": ("long long", True, 2),
    "ULONGLONG": ("unsigned long long", False, 2),
}
"""Name, whether it is signed, and its rank among those of its width."""

_FLOATS = {
    "FLOAT": "float",
    "DOUBLE": "double",
    "FLOAT16": "_Float16",
    "HALF": "_Float16",
}

_ARRAYS = ("CONSTANTARRAY", "VARIABLEARRAY", "INCOMPLETEARRAY")


def read_type(kind: cindex.Type) -> CType:
    """The type, without typedefs and qualifiers."""
    canonical = kind.get_canonical()
    name = canonical.kind.name
    if name == "BOOL":
        return BOOL
    if name == "ENUM":
        return read_type(canonical.get_declaration().enum_type)
    if name in _INTEGERS:
        spelling, signed, rank = _INTEGERS[name]
        return IntegerType(spelling, 8 * canonical.get_size(), signed, rank)
    if name in _FLOATS:
        return FloatType(_FLOATS[name], 8 * canonical.get_size())
    if name == "COMPLEX":
        part = read_type(canonical.element_type)
        if isinstance(part, FloatType):
            return ComplexType(part)
    if canonical.spelling.split()[-1:] == ["__bf16"]:  # libclang has no name for its kind
        return FloatType("__bf16", 16)
    if name in _ARRAYS:
        extent = canonical.element_count if name == "CONSTANTARRAY" else None
        return ArrayType(read_row(canonical.element_type), extent, kind.spelling)
    if name == "POINTER":
        restrict = canonical.is_restrict_qualified()
        return PointerType(read_row(canonical.get_pointee()), restrict, kind.spelling)
    return OtherType(kind.spelling)


def joined_rows(kind: CType) -> PointerType | None:
    """Pointers to rows of numbers as an array of rows, `T **` -> `T (*)[?]`; None for others."""
    rows = kind.target if isinstance(kind, PointerType) else None
    if not isinstance(rows, PointerType) or not isinstance(rows.target, IntegerType | FloatType):
        return None
    return PointerType(ArrayType(rows.target, None, str(rows)), restrict=False, spelling=str(kind))


def read_row(kind: cindex.Type) -> CType:
    """The type of elements; structures are rows of numbers of the type that their first member has.

    `struct { double x, y; int n; }` -> `double[3]`
    """
    members = [each.type for each in kind.get_canonical().get_fields()]
    number = _number(members[0]) if members else None
    if not isinstance(number, IntegerType | FloatType) or number == BOOL:
        return read_type(kind)
    count, rest = divmod(8 * kind.get_size(), number.width)
    is_row = kind.get_canonical().get_declaration().kind.name == "STRUCT_DECL" and not rest
    is_row &= 8 * kind.get_align() >= number.width and not any(map(is_volatile, members))
    return ArrayType(number, count, kind.spelling, is_structure=True) if is_row else read_type(kind)


def is_uniform(structure: cindex.Type) -> bool:
    """Whether all members of a structure are numbers of one type, or arrays of them."""
    kinds = set(_numbers(structure))
    return len(kinds) == 1 and isinstance(kinds.pop(), IntegerType | FloatType)


def _number(kind: cindex.Type) -> CType:
    """The type of the first number in a member, which may be an array or a structure."""
    return next(_numbers(kind), None) or read_type(kind)


def _numbers(kind: cindex.Type) -> Iterator[CType]:
    """The types of the numbers in a member."""
    canonical = kind.get_canonical()
    while canonical.kind.name in _ARRAYS:
        canonical = canonical.element_type.get_canonical()
    if canonical.get_declaration().kind.name == "STRUCT_DECL":
        for each in canonical.get_fields():
            yield from _numbers(each.type)
    else:
        yield read_type(canonical)


def member_position(structure: cindex.Type, member: cindex.Cursor) -> tuple[CType, int] | None:
    """The type of a member's first number, and how many of them are before it; None for others."""
    number = _number(member.type)
    if not isinstance(number, IntegerType | FloatType) or is_volatile(member.type):
        return None
    # The offset that the member itself has is the one in an anonymous structure around it.
    offset = structure.get_canonical().get_offset(member.spelling)
    position, rest = divmod(offset, number.width)
    return None if rest or offset < 0 else (number, position)


def is_const(kind: cindex.Type) -> bool:
    """Whether a variable, or the elements of an array, may not be written."""
    canonical = kind.get_canonical()
    while not canonical.is_const_qualified() and canonical.kind.name in _ARRAYS:
        canonical = canonical.element_type.get_canonical()
    return canonical.is_const_qualified()


def is_volatile(kind: cindex.Type) -> bool:
    """Whether a variable, or what an array or a pointer leads to, is volatile."""
    canonical = kind.get_canonical()
    while True:
        if canonical.is_volatile_qualified():
            return True
        if canonical.kind.name in _ARRAYS:
            canonical = canonical.element_type.get_canonical()
        elif canonical.kind.name == "POINTER":
            canonical = canonical.get_pointee().get_canonical()
        else:
            return False
