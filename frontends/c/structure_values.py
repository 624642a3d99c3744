"""Structures as values: `a[i] = t`, `pixel p = {1, 2}`, `z = (number){x, y}`, member by member."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

from clang import cindex

from .aliases import element_behind
from .c_types import INT, ArrayType, FloatType, IntegerType
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
    Subscript,
    Symbol,
    walk,
)

_MOST = 16
"""Numbers that are assigned one by one."""

_PLACES = ("DECL_REF_EXPR", "ARRAY_SUBSCRIPT_EXPR", "MEMBER_REF_EXPR")
"""Variables, elements and members: two of one type are one place, or do not overlap."""

Path: TypeAlias = "tuple[cindex.Cursor | int, ...]"
"""Where a number is in a structure: members, and subscripts of those that are arrays."""


class StructureValues:
    """Reads assignments of whole structures of numbers.

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
        numbers = _numbers_of(cursor.type)
        return self._set([self._number(target, each) for each in numbers], value, numbers)

    def initial(self, symbol: Symbol, value: cindex.Cursor) -> list[Statement] | None:
        """The statements that give a variable its first value; None as above."""
        numbers = _numbers_of(value.type)
        whole = Name(symbol.place, symbol.type, symbol)
        targets = [self._part(whole, value.type, each) for each in numbers]
        return self._set(targets, value, numbers)

    def _set(
        self,
        targets: Sequence[Expression | None],
        value: cindex.Cursor,
        numbers: Sequence[Path],
    ) -> list[Statement] | None:
        if not numbers or None in targets:
            return None
        place = self._expressions.place(value)
        first: list[Statement] = []
        called = unconverted(value)
        if called.kind.name == "CALL_EXPR":
            found = None if self.inliner is None else self.inliner(called, self._read(called))
            if found is None:
                return None
            first, result = found
            values = [self._part(result, value.type, each) for each in numbers]
        else:
            values = [self._number(value, each) for each in numbers]
        if None in values:
            return None
        known = [each for each in targets if each is not None]
        given = [each for each in values if each is not None]
        written = frozenset(filter(None, map(_root, known)))
        is_held = called.kind.name not in (*_PLACES, "CALL_EXPR") or any(
            _is_moved(each, written) for each in given
        )  # it may read what is assigned
        last: list[Statement] = []
        for target, each, path in zip(known, given, numbers, strict=True):
            target = _with_held_subscripts(target, written, first)
            if is_held:
                spelled = (one if isinstance(one, int) else one.spelling for one in path)
                held = Symbol("_".join(map(str, spelled)), target.type, place, 0)
                first.append(Declare(place, 0, 0, held, each))
                each = Name(place, held.type, held)
            assigned = Assignment(place, target.type, "", target, each, target.type)
            last.append(Evaluate(place, 0, 0, assigned))
        return [*first, *last]

    def _read(self, call: cindex.Cursor) -> list[Expression]:
        return [self._expressions.read(each) for each in call.get_arguments()]

    def _number(self, cursor: cindex.Cursor, path: Path) -> Expression | None:
        """The number at a path in what an expression gives; None where it is not known."""
        cursor = unconverted(cursor)
        inner = [each for each in cursor.get_children() if each.kind.is_expression()]
        name, place = cursor.kind.name, self._expressions.place(cursor)
        if name == "COMPOUND_LITERAL_EXPR" and len(inner) == 1:
            return self._number(inner[0], path)
        if name == "INIT_LIST_EXPR":
            return self._listed(cursor, inner, path)
        if name == "CONDITIONAL_OPERATOR" and len(inner) == 3:
            test = self._expressions.read(inner[0])
            one, other = (self._number(each, path) for each in inner[1:])
            if one is None or other is None or has_effects(test):
                return None
            return Conditional(place, one.type, test, one, other)
        if name not in _PLACES:
            return None
        base = self._expressions.read(cursor)
        return None if has_effects(base) else self._part(base, cursor.type, path)

    def _listed(
        self, cursor: cindex.Cursor, inner: Sequence[cindex.Cursor], path: Path
    ) -> Expression | None:
        """The number at a path in a list of initial values."""
        first, *rest = path
        members = list(cursor.type.get_canonical().get_fields())
        position = first if isinstance(first, int) else members.index(first)
        if "=" in (each.spelling for each in cursor.get_tokens()):
            return None  # names of members
        if not isinstance(first, int) and len(inner) > len(members):
            return None  # braces that are left out
        if position >= len(inner):
            return Literal(self._expressions.place(cursor), INT, 0)
        return (
            self._number(inner[position], tuple(rest))
            if rest
            else self._expressions.read(inner[position])
        )

    def _part(self, base: Expression, kind: cindex.Type, path: Path) -> Expression | None:
        """The number at a path in a structure that is a variable or an element."""
        place = base.place
        for step in path:
            kind = kind.get_canonical()
            if isinstance(step, int):
                if not isinstance(base.type, ArrayType):
                    return None
                index = Literal(place, INT, step)
                base, kind = (
                    element_behind(place, base.type.element, base, index),
                    kind.element_type,
                )
                continue
            if kind.get_declaration().kind.name != "STRUCT_DECL":
                return None  # a number, where braces are left out
            found = (
                self._expressions.member_of(base, step)
                if isinstance(base, Name)
                else of_element(base, kind, step, read_type(step.type), place)
            )
            if found is None:
                return None
            base, kind = found, step.type
        return base


def _root(place: Expression) -> Symbol | None:
    """The variable that a number is in."""
    while isinstance(place, Subscript):
        place = place.base
    return place.symbol if isinstance(place, Name) else None


def _is_moved(place: Expression, written: frozenset[Symbol]) -> bool:
    """Whether subscripts read what is assigned, as in `t = a[t.next]`."""
    subscripts = (each.index for each in walk(place) if isinstance(each, Subscript))
    return any(
        isinstance(each, Name) and each.symbol in written
        for subscript in subscripts
        for each in walk(subscript)
    )


def _with_held_subscripts(
    place: Expression, written: frozenset[Symbol], first: list[Statement]
) -> Expression:
    """A place whose subscripts are computed `first` where they read what is assigned."""
    if not isinstance(place, Subscript) or not _is_moved(place, written):
        return place
    base, index = _with_held_subscripts(place.base, written, first), place.index
    if any(isinstance(each, Name) and each.symbol in written for each in walk(index)):
        held = Symbol("subscript", index.type, index.place, 0)
        first.append(Declare(index.place, 0, 0, held, index))
        index = Name(index.place, held.type, held)
    return replace(place, base=base, index=index)


def is_structure(kind: cindex.Type) -> bool:
    """Whether values of a type are read number by number."""
    return bool(_numbers_of(kind))


def _numbers_of(structure: cindex.Type) -> list[Path]:
    """Where the numbers of a structure are; none where it has other members."""
    is_one = structure.get_canonical().get_declaration().kind.name == "STRUCT_DECL"
    found = _paths(structure) if is_one else None
    return [] if found is None else found


def _paths(kind: cindex.Type) -> list[Path] | None:
    kind = kind.get_canonical()
    found: list[Path] = []
    if is_volatile(kind):
        return None
    if kind.kind.name == "CONSTANTARRAY":
        inner = _paths(kind.element_type) if kind.element_count <= _MOST else None
        if inner is None:
            return None
        found = [(each, *path) for each in range(kind.element_count) for path in inner]
    elif kind.get_declaration().kind.name == "STRUCT_DECL":
        for each in kind.get_fields():
            inner = None if each.is_bitfield() else _paths(each.type)
            if inner is None:
                return None
            found += [(each, *path) for path in inner]
    else:
        return [()] if isinstance(read_type(kind), IntegerType | FloatType) else None
    return found if len(found) <= _MOST else None
