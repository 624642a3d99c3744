"""Structures as values: `a[i] = t`, `pixel p = {1, 2}`, `z = (number){x, y}`, member by member."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from clang import cindex

from .c_types import INT, FloatType, IntegerType
from .clang_library import unconverted
from .read_expressions import ExpressionReader, Inliner
from .read_members import of_element
from .read_types import is_volatile, read_type
from .side_effects import has_effects
from .tree import (
    Assignment,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    Literal,
    Name,
    Statement,
    Symbol,
)

_MOST = 16
"""Members that are assigned one by one."""

_PLACES = ("DECL_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR")
"""Variables and elements: two of them are one place, or do not overlap."""


class StructureValues:
    """Reads assignments of whole structures whose members are numbers.

    a[i] = t;             ->   a[i].x = t.x; a[i].y = t.y;
    t = (point){t.y, 0};  ->   double x = t.y, y = 0; t.x = x; t.y = y;
    """

    def __init__(self, expressions: ExpressionReader) -> None:
        self._expressions = expressions
        self.inliner: Inliner | None = None
        self._results: list[Symbol] = []

    @contextmanager
    def returning(self, result: Symbol | None) -> Generator[None]:
        """Meanwhile, what is returned as a structure becomes the value of a variable."""
        self._results += [] if result is None else [result]
        yield
        self._results = self._results[: len(self._results) - (result is not None)]

    def returned(self, value: cindex.Cursor) -> list[Statement] | None:
        """The statements that keep a structure which a function returns; None for all else."""
        return self.initial(self._results[-1], value) if self._results else None

    def assignment(self, cursor: cindex.Cursor) -> list[Statement] | None:
        """The statements of an assignment; None for all else, and what has other members."""
        if cursor.kind.name != "BINARY_OPERATOR" or cursor.binary_operator.name != "Assign":
            return None
        target, value = cursor.get_children()
        members = _members(cursor.type)
        targets = [self._member(target, members, each) for each in members]
        return self._set(targets, value, members)

    def initial(self, symbol: Symbol, value: cindex.Cursor) -> list[Statement] | None:
        """The statements that give a variable its first value; None as above."""
        members = _members(value.type)
        whole = Name(symbol.place, symbol.type, symbol)
        targets = [self._expressions.member_of(whole, each) for each in members]
        return self._set(targets, value, members)

    def _set(
        self,
        targets: Sequence[Expression | None],
        value: cindex.Cursor,
        members: Sequence[cindex.Cursor],
    ) -> list[Statement] | None:
        if not members or None in targets:
            return None
        place = self._expressions.place(value)
        first: list[Statement] = []
        called = unconverted(value)
        if called.kind.name == "CALL_EXPR":
            found = None if self.inliner is None else self.inliner(called, self._read(called))
            if found is None:
                return None
            first, result = found
            values = [self._expressions.member_of(result, each) for each in members]
        else:
            values = [self._member(value, members, each) for each in members]
        if None in values:
            return None
        is_held = called.kind.name not in (*_PLACES, "CALL_EXPR")  # it may read what is assigned
        last: list[Statement] = []
        for target, each, member in zip(targets, values, members, strict=True):
            assert target is not None and each is not None
            if is_held:
                held = Symbol(member.spelling, target.type, place, 0)
                first.append(Declare(place, 0, 0, held, each))
                each = Name(place, held.type, held)
            assigned = Assignment(place, target.type, "", target, each, target.type)
            last.append(Evaluate(place, 0, 0, assigned))
        return [*first, *last]

    def _read(self, call: cindex.Cursor) -> list[Expression]:
        return [self._expressions.read(each) for each in call.get_arguments()]

    def _member(
        self, cursor: cindex.Cursor, members: Sequence[cindex.Cursor], member: cindex.Cursor
    ) -> Expression | None:
        """The member of a structure that an expression gives; None where it is not known."""
        cursor = unconverted(cursor)
        inner = [each for each in cursor.get_children() if each.kind.is_expression()]
        name, place = cursor.kind.name, self._expressions.place(cursor)
        if name == "COMPOUND_LITERAL_EXPR" and len(inner) == 1:
            return self._member(inner[0], members, member)
        if name == "INIT_LIST_EXPR":
            if "=" in (each.spelling for each in cursor.get_tokens()) or len(inner) > len(members):
                return None  # names of members, or braces that are left out
            position = members.index(member)
            if position >= len(inner):
                return Literal(place, INT, 0)
            return self._expressions.read(inner[position])
        if name == "CONDITIONAL_OPERATOR" and len(inner) == 3:
            test = self._expressions.read(inner[0])
            one, other = (self._member(each, members, member) for each in inner[1:])
            if one is None or other is None or has_effects(test):
                return None
            return Conditional(place, one.type, test, one, other)
        if name not in _PLACES:
            return None
        base = self._expressions.read(cursor)
        if has_effects(base):
            return None
        if isinstance(base, Name):
            return self._expressions.member_of(base, member)
        return of_element(base, cursor.type.get_canonical(), member, read_type(member.type), place)


def is_structure(kind: cindex.Type) -> bool:
    """Whether values of a type are read member by member."""
    return bool(_members(kind))


def _members(structure: cindex.Type) -> list[cindex.Cursor]:
    """The members of a structure that are all numbers; none for others."""
    canonical = structure.get_canonical()
    if canonical.get_declaration().kind.name != "STRUCT_DECL":
        return []
    members = list(canonical.get_fields())
    plain = all(
        isinstance(read_type(each.type), IntegerType | FloatType)
        and not each.is_bitfield()
        and not is_volatile(each.type)
        for each in members
    )
    return members if plain and len(members) <= _MOST else []
