"""libclang's expressions as ours."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager

from clang import cindex

from ...dialects.source_location import Location
from .aliases import element_behind, element_of
from .c_source import CSource
from .c_types import (
    INT,
    ComplexType,
    CType,
    IntegerType,
    NumberType,
    OtherType,
    PointerType,
    complex_of,
    has_structures,
    promoted,
)
from .clang_library import (
    BINARY,
    evaluate,
    is_structure_or_pointer,
    place_of,
    unary_operator,
    unconverted,
)
from .functions import ALIGNED
from .hoisting import keeps_order
from .initial_lists import INITIAL, constant_table
from .passed_values import LARGEST, Inliner, converted, has_statements, passed
from .read_members import has_own_memory, holder_of, of_element, outlives_calls
from .read_types import is_const, is_uniform, is_volatile, joined_rows, read_row, read_type
from .side_effects import apart, has_effects
from .tree import (
    Assignment,
    Binary,
    Block,
    Call,
    Cast,
    Conditional,
    Declare,
    Evaluate,
    Expression,
    If,
    Literal,
    Name,
    Statement,
    Symbol,
    Unary,
    Unsupported,
    walk,
)
from .unsupported import REASONS


class ExpressionReader:
    """Reads expressions; raises nothing: what cannot be read becomes `Unsupported`."""

    def __init__(self, source: CSource, *, joins_rows: bool) -> None:
        self.source = source
        self._joins_rows = joins_rows
        self.symbols: dict[str, Symbol] = {}
        self.inliner: Inliner | None = None
        self._inlining: list[str] = []
        self._bound: dict[Symbol, Expression] = {}
        self._hoisted: list[Statement] | None = None

    @property
    def has_shared_members(self) -> bool:
        """Whether this scope reads a member of a structure that others may change as well."""
        found = (each for each in self.symbols.values() if each.holder is not None)
        return any(each.through or (each.holder and each.holder.is_global) for each in found)

    @contextmanager
    def scope(self) -> Generator[None]:
        """A call of a function: all variables but global ones are others than those outside."""
        outer = self.symbols
        self.symbols = {key: each for key, each in outer.items() if each.is_global}
        try:
            with self._conditionally():
                yield
        finally:
            outer.update({key: each for key, each in self.symbols.items() if each.is_global})
            self.symbols = outer

    @contextmanager
    def hoisting(self) -> Generator[list[Statement]]:
        """Calls of functions with statements: these are added to the list, to stand before."""
        outer, self._hoisted = self._hoisted, []
        try:
            yield self._hoisted
        finally:
            self._hoisted = outer

    @contextmanager
    def _conditionally(self) -> Generator[None]:
        """What is not always evaluated, or not here: nothing of it may stand before."""
        outer, self._hoisted = self._hoisted, None
        try:
            yield
        finally:
            self._hoisted = outer

    def place(self, cursor: cindex.Cursor) -> Location:
        """Where a piece begins; of a macro, where it is used."""
        return place_of(cursor.location, self.source) or self.source.location(1, 1)

    def symbol(self, cursor: cindex.Cursor) -> Symbol:
        """The variable that a cursor declares."""
        key = f"{cursor.location.file and cursor.location.file.name}:{cursor.location.offset}"
        key += f":{cursor.spelling}:{cursor.get_usr()}"
        found = self.symbols.get(key)
        if found is None:
            kind, rows = self._type(cursor)
            found = Symbol(
                cursor.spelling,
                kind,
                self.place(cursor),
                cursor.extent.start.offset,
                is_parameter=cursor.kind.name == "PARM_DECL",
                is_global=outlives_calls(cursor),
                is_const=is_const(cursor.type),
                is_volatile=is_volatile(cursor.type),
                has_rows=rows,
            )
            self.symbols[key] = found
            if found.is_const and not isinstance(kind, PointerType | OtherType):
                found.constant = evaluate(cursor)
                found.table = constant_table(cursor, kind)
            found.extents = self._extents(cursor, kind)
        return found

    def _type(self, cursor: cindex.Cursor) -> tuple[CType, bool]:
        """The type of a variable, and whether pointers to rows are taken for an array of these."""
        kind = read_type(cursor.type)
        joined = joined_rows(kind) if self._joins_rows else None
        return (kind, False) if joined is None else (joined, True)

    def _is_alias(self, cursor: cindex.Cursor) -> bool:
        """Whether a variable is a pointer to an element, `p = &a[i]`, of which all members are."""
        declared = unconverted(cursor).referenced
        if declared is None or declared.kind.name != "VAR_DECL" or outlives_calls(declared):
            return False
        structure = declared.type.get_canonical().get_pointee()
        if not has_structures(read_type(declared.type)) or not is_uniform(structure):
            return False
        values = [each for each in declared.get_children() if each.kind.is_expression()]
        return bool(values) and element_of(self.read(values[-1])) is not None

    def member_of(self, base: Name, cursor: cindex.Cursor) -> Name:
        """The member of a structure, as a variable."""
        arrow = "->" if isinstance(base.type, PointerType) else "."
        spelling = f"{base.symbol.spelling}{arrow}{cursor.spelling}"
        through = (*base.symbol.through, *([base.symbol] if arrow == "->" else []))
        found = base.symbol.members.get(spelling)
        if found is None:
            kind, rows = self._type(cursor)
            found = base.symbol.members[spelling] = Symbol(
                f"{base.symbol.name}_{cursor.spelling}",
                kind,
                base.symbol.place,
                base.symbol.offset,
                is_const=is_const(cursor.type),
                is_volatile=base.symbol.is_volatile or is_volatile(cursor.type),
                addresses=int(bool(through or base.symbol.is_global or base.symbol.addresses)),
                spelling=spelling,
                through=through,
                holder=base.symbol.holder or base.symbol,
                has_rows=rows,
            )
        self.symbols[f"{id(base.symbol)}{spelling}"] = found
        return Name(base.place, found.type, found)

    def _extents(self, cursor: cindex.Cursor, kind: CType) -> tuple[Expression, ...]:
        """The expressions between the brackets of a declaration, where it has all of them."""
        rank = 0
        written = cursor.type
        while written.kind.name.endswith("ARRAY"):
            rank += 1
            written = written.element_type
        inner = [
            each
            for each in cursor.get_children()
            if each.kind.is_expression() and each.kind.name not in INITIAL  # `int w[] = {1, 2}`
        ]
        inner = sorted(inner, key=lambda each: each.extent.start.offset)[:rank]
        if rank == 0 or len(inner) < rank:
            return ()
        return tuple(self.read(each) for each in inner)

    def read(self, cursor: cindex.Cursor) -> Expression:
        """The expression of a cursor."""
        kind, name = read_type(cursor.type), cursor.kind.name
        place = self.place(cursor)
        inner = list(cursor.get_children())
        if name == "PAREN_EXPR" and len(inner) == 1:
            return self.read(inner[0])
        if name in ("INTEGER_LITERAL", "FLOATING_LITERAL", "CHARACTER_LITERAL"):
            return self._constant(cursor, kind, place)
        if name == "IMAGINARY_LITERAL" and isinstance(kind, ComplexType) and len(inner) == 1:
            number = evaluate(inner[0])
            if number is not None:
                return Literal(place, kind, complex(0, number))
        if name == "CXX_UNARY_EXPR":  # sizeof, _Alignof
            return self._constant(cursor, kind, place)
        if name == "DECL_REF_EXPR":
            return self._name(cursor, kind, place)
        if name == "MEMBER_REF_EXPR" and len(inner) == 1 and has_own_memory(cursor):
            holder = holder_of(inner[0])
            base, structure = self.read(holder), holder.type.get_canonical()
            is_pointer = structure.kind.name == "POINTER"
            if isinstance(base, Unary) and isinstance(base.operand, Name):  # (&s)->x
                base, is_pointer = base.operand, False
            if is_pointer and (not isinstance(base, Name) or self._is_alias(holder)):
                structure = structure.get_pointee()
                base = self._dereference(base, read_row(structure), place)
            if isinstance(base, Name):
                return Name(place, kind, self.member_of(base, cursor).symbol)
            member = of_element(base, structure, cursor.referenced, kind, place)
            if member is not None:
                return member
        if name == "ARRAY_SUBSCRIPT_EXPR" and len(inner) == 2:
            base, index = self.read(inner[0]), self.read(inner[1])
            if isinstance(base.type, IntegerType):  # i[A]
                base, index = index, base
            return element_behind(place, kind, base, index)
        if name == "UNARY_OPERATOR" and len(inner) == 1:
            return self._unary(cursor, inner[0], kind, place)
        if name in ("BINARY_OPERATOR", "COMPOUND_ASSIGNMENT_OPERATOR") and len(inner) == 2:
            return self._binary(cursor, inner, kind, place)
        if name == "CONDITIONAL_OPERATOR" and len(inner) == 3:
            test = self.read(inner[0])
            if (chosen := self._branches(test, inner[1:], kind, place)) is not None:
                return chosen
            with self._conditionally():
                one, other = self.read(inner[1]), self.read(inner[2])
            return Conditional(place, kind, test, one, other)
        if name == "CALL_EXPR":
            return self._call(cursor, inner, kind, place)
        if name == "CSTYLE_CAST_EXPR" and inner:
            return Cast(place, kind, self.read(inner[-1]), explicit=True)
        if name == "UNEXPOSED_EXPR" and len(inner) == 1:
            return self._implicit(inner[0], kind, place)
        if name == "GENERIC_SELECTION_EXPR":
            return self._selected(inner, kind, place)
        parts = tuple(self.read(each) for each in inner if each.kind.is_expression())
        reason, hint = REASONS.get(name, ("this expression is not supported", None))
        return Unsupported(place, kind, reason, hint, parts)

    def _branches(
        self,
        test: Expression,
        branches: Sequence[cindex.Cursor | int],
        kind: CType,
        place: Location,
    ) -> Expression | None:
        """A choice between values that calls of functions with statements compute: an `if` before.

        y = t ? f(x) : z   ->   if (t) { ...; c = f; } else c = z; y = c
        y = t && f(x)      ->   if (t) { ...; c = f != 0; } else c = 0; y = c
        """
        if self._hoisted is None or not isinstance(kind, NumberType) or has_effects(test):
            return None
        symbol = Symbol("choice", kind, place, 0)
        blocks: list[Block] = []
        for each in branches:
            with self.hoisting() as before:
                value = Literal(place, INT, each) if isinstance(each, int) else self.read(each)
            if any(isinstance(one, int) for one in branches):
                value = Binary(place, INT, "!=", value, Literal(place, INT, 0))
            if not keeps_order(before, value) or any(
                isinstance(one, Assignment) for one in walk(value)
            ):
                return None
            name = Name(place, kind, symbol)
            given = Evaluate(place, 0, 0, Assignment(place, kind, "", name, value, kind))
            blocks.append(Block(place, 0, 0, [*before, given]))
        if all(len(each.statements) == 1 for each in blocks):
            return None
        self._hoisted += [Declare(place, 0, 0, symbol, None), If(place, 0, 0, test, *blocks)]
        return Name(place, kind, symbol)

    def _constant(self, cursor: cindex.Cursor, kind: CType, place: Location) -> Expression:
        value = evaluate(cursor)
        if value is None or isinstance(kind, OtherType):
            return Unsupported(place, kind, f"a number of type '{kind}' is not supported")
        return Literal(place, kind, value)

    def _name(self, cursor: cindex.Cursor, kind: CType, place: Location) -> Expression:
        meant = cursor.referenced
        if meant is None or meant.kind.name not in ("VAR_DECL", "PARM_DECL"):
            if meant is not None and meant.kind.name == "ENUM_CONSTANT_DECL":
                return Literal(place, kind, meant.enum_value)
            return Unsupported(place, kind, f"'{cursor.spelling}' is not a variable")
        symbol = self.symbol(meant)
        return self._bound[symbol] if symbol in self._bound else Name(place, kind, symbol)

    def _implicit(self, inner: cindex.Cursor, kind: CType, place: Location) -> Expression:
        """A conversion that C makes by itself; some only say that a variable is read."""
        operand = self.read(inner)
        if operand.type == kind or not isinstance(kind, NumberType):
            return operand
        return Cast(place, kind, operand, explicit=False)

    def _selected(self, inner: list[cindex.Cursor], kind: CType, place: Location) -> Expression:
        """The choice that `_Generic` makes, as in <tgmath.h>: the one of the result's type."""
        chosen = [
            each for each in inner[1:] if each.kind.is_expression() and read_type(each.type) == kind
        ]
        if len(chosen) == 1:
            return self.read(chosen[0])
        return Unsupported(place, kind, "_Generic is not supported", "write the choice itself")

    def _unary(
        self, cursor: cindex.Cursor, inner: cindex.Cursor, kind: CType, place: Location
    ) -> Expression:
        operator, operand = unary_operator(cursor), self.read(inner)
        if operator == "__extension__":
            return operand
        if "x" in operator:  # x++ and its kin
            one = Literal(place, INT, 1)
            computed = promoted(kind) if isinstance(kind, NumberType) else kind
            sign, is_postfix = operator.strip("x")[0], operator[0] == "x"
            return Assignment(place, kind, sign, operand, one, computed, is_postfix)
        if operator == "*":
            return self._dereference(operand, kind, place)
        if operator == "&" and isinstance(operand, Name):
            operand.symbol.addresses += 1
        return Unary(place, kind, operator, operand)

    def _dereference(self, pointer: Expression, kind: CType, place: Location) -> Expression:
        """`*p` is `p[0]`, and `*(p + i)` is `p[i]`."""
        return element_behind(place, kind, pointer, Literal(place, INT, 0))

    def _binary(
        self, cursor: cindex.Cursor, inner: list[cindex.Cursor], kind: CType, place: Location
    ) -> Expression:
        operator = BINARY.get(cursor.binary_operator.name, "")
        left = self.read(inner[0])
        if operator in ("&&", "||"):
            either = (inner[1], 0) if operator == "&&" else (1, inner[1])
            if (chosen := self._branches(left, either, INT, place)) is not None:
                return chosen
            with self._conditionally():
                right = self.read(inner[1])
        else:
            right = self.read(inner[1])
        if operator == "=":
            return Assignment(place, kind, "", left, right, kind)
        if operator.endswith("=") and cursor.kind.name == "COMPOUND_ASSIGNMENT_OPERATOR":
            # libclang does not tell the type of the computation. C converts the right operand to
            # it, but for shifts, which have the promoted type of the left one.
            computed = right.type
            if isinstance(left.type, ComplexType):
                computed = complex_of(left.type, right.type)
            if operator in ("<<=", ">>=") and isinstance(left.type, IntegerType):
                computed = promoted(left.type)
            return Assignment(place, kind, operator[:-1], left, right, computed)
        if operator == "," and (self._hoisted is not None or not has_effects(left)):
            # What is not sequenced may come in any order: the left operand is evaluated first.
            if self._hoisted is not None and has_effects(left):
                self._hoisted += apart(Evaluate(place, 0, 0, left))
            return right
        if operator in ("", ","):
            return Unsupported(
                place,
                kind,
                "the comma operator is not supported where it may not be evaluated",
                "write two statements; where assert() has it, define NDEBUG",
                (left, right),
            )
        return Binary(place, kind, operator, left, right)

    def _call(
        self, cursor: cindex.Cursor, inner: list[cindex.Cursor], kind: CType, place: Location
    ) -> Expression:
        arguments = tuple(self.read(each) for each in cursor.get_arguments())
        name = cursor.spelling
        meant = cursor.referenced
        if name == ALIGNED and arguments:
            return arguments[0]
        if meant is None or meant.kind.name != "FUNCTION_DECL":
            hint = "call the function by its name"
            return Unsupported(
                place, kind, "calls through pointers are not supported", hint, arguments
            )
        call = Call(place, kind, name, arguments)
        call.is_pure = any(each.kind.name == "CONST_ATTR" for each in meant.get_children())
        definition = meant.get_definition()
        call.is_recursive = definition is not None and definition.get_usr() in self._inlining
        if definition is None or call.is_recursive:
            return call
        call.is_defined = True
        self._inlining.append(definition.get_usr())
        with self._conditionally():
            replaced = self._with_arguments(call, definition)
            if replaced is None:
                self._inline(call, definition)
        self._inlining.pop()
        if self._hoisted is not None and self.inliner is not None and isinstance(kind, NumberType):
            whole = replaced or call
            found = self.inliner(cursor, arguments) if has_statements(whole) else None
            if found is not None:
                self._hoisted += found[0]
                return found[1]
        return call if replaced is None else replaced

    def _with_arguments(self, call: Call, definition: cindex.Cursor) -> Expression | None:
        """What a function of pointers returns, with arguments in place of its parameters.

        at(&m, i)   ->   m.data[i]
        """
        declared = [each for each in definition.get_children() if each.kind.name == "PARM_DECL"]
        parameters = [self.symbol(each) for each in declared]
        pieces = [piece for each in call.arguments for piece in walk(each)]
        if (
            not any(is_structure_or_pointer(each.type) for each in declared)
            or len(parameters) != len(call.arguments)
            or any(isinstance(each, Assignment | Unsupported) for each in pieces)
        ):
            return None
        around = self._bound
        pairs = zip(parameters, call.arguments, strict=True)
        self._bound = {**around, **{each: passed(each, value) for each, value in pairs}}
        try:
            self._inline(call, definition, binds=True)
        finally:
            self._bound = around
        returned, call.inlined = call.inlined, None
        if returned is None:
            return None
        parts = list(walk(returned))
        if len(parts) > LARGEST or any(isinstance(each, Assignment) for each in parts):
            return None
        return converted(returned, call.type)

    def _inline(self, call: Call, definition: cindex.Cursor, *, binds: bool = False) -> None:
        """Reads a function of declarations and `return`s, some behind an `if`.

        With `binds`, the values of its variables are read in place of these.
        """
        children = list(definition.get_children())
        body = children[-1] if children else None
        if body is None or body.kind.name != "COMPOUND_STMT":
            return
        statements = list(body.get_children())
        variables: list[cindex.Cursor] = []
        while statements and statements[0].kind.name == "DECL_STMT":
            variables += statements.pop(0).get_children()
        values: list[Expression | None] = []
        for each in variables:
            values.append(value := self._value(each))
            if binds and value is not None:
                symbol = self.symbol(each)
                self._bound[symbol] = converted(value, symbol.type)
        returned = self._returned(statements, call.place)
        if returned is None or None in values:
            return
        parameters = (each for each in children if each.kind.name == "PARM_DECL")
        call.parameters = tuple(self.symbol(each) for each in parameters)
        call.variables = tuple(
            (self.symbol(each), value)
            for each, value in zip(variables, values, strict=True)
            if value is not None
        )
        call.inlined = returned

    def _value(self, cursor: cindex.Cursor) -> Expression | None:
        """What a variable begins with; None for one that is no number of its own."""
        if cursor.kind.name != "VAR_DECL" or cursor.storage_class.name in ("STATIC", "EXTERN"):
            return None
        if not isinstance(read_type(cursor.type), NumberType):
            return None
        inner = [each for each in cursor.get_children() if each.kind.is_expression()]
        return self.read(inner[-1]) if inner and not is_volatile(cursor.type) else None

    def _returned(self, statements: list[cindex.Cursor], place: Location) -> Expression | None:
        """What statements return: with `if`, a choice; None for other statements."""
        if not statements:
            return None
        first, rest = statements[0], statements[1:]
        inner = list(first.get_children())
        if first.kind.name == "RETURN_STMT" and len(inner) == 1:
            return self.read(inner[0])
        if first.kind.name == "COMPOUND_STMT":
            return self._returned([*inner, *rest], place)
        if first.kind.name != "IF_STMT" or len(inner) not in (2, 3):
            return None
        one = self._returned([inner[1]], place)
        other = self._returned([*inner[2:], *rest], place)
        if one is None or other is None:
            return None
        return Conditional(place, one.type, self.read(inner[0]), one, other)
