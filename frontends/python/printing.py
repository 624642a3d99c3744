"""Affine MLIR as Python functions: what `loopwright.kernel` translates back."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator, Sequence

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, MemRefType, i1
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import (
    AffineBinaryOpExpr,
    AffineBinaryOpKind,
    AffineDimExpr,
    AffineExpr,
    AffineMap,
    AffineSymExpr,
)

from ...dialects import affine
from ...dialects.errors import SourceError
from ...dialects.locations import name_of
from ...dialects.marks import UNSIGNED
from ...passes.polyhedral.affine_text import to_text
from ...passes.polyhedral.gathers import depends_on_data
from ...passes.polyhedral.identifiers import ArgumentNames
from ...passes.polyhedral.linear_terms import linear_terms
from ...passes.polyhedral.memrefs import as_memref
from ...passes.polyhedral.size_assumptions import (
    assumptions,
    equal_sizes,
    integer_arguments,
    is_equality_of_sizes,
)
from .printed_names import MODULE_NAMES, function_name
from .printed_operations import (
    BINARY,
    CALLS,
    CASTS,
    EXTENSIONS,
    FIRST_UNSIGNED,
    FLOAT_PREDICATES,
    INTEGER_PREDICATES,
    LOGICAL,
    OF_MATH,
    SIGNED_TO_UNSIGNED,
    UNSIGNED_OPERATIONS,
    bare,
    is_true,
    operation_name,
    takes_unsigned,
)


def print_file(functions: Sequence[func.FuncOp]) -> str:
    """Functions as a Python file; raises SourceError."""
    names: list[str] = []
    for each in functions:
        names.append(function_name(each.sym_name.data, names))
    printed = map(print_python, functions, names)
    text = "".join(f"\n\n{each}" for each in printed)
    types = sorted(set(re.findall(r"\bloopwright\.([fiu]\d+)\b", text)))
    text = re.sub(r"\bloopwright\.([fiu]\d+)\b", r"\1", text)
    header = "import math\n\n" if "math." in text else ""
    header += "import numpy as np\n\n" if "np." in text else ""
    header += "import loopwright\n"
    header += f"from loopwright import {', '.join(types)}\n" if types else ""
    return header + text


def print_python(function: func.FuncOp, name: str | None = None) -> str:
    """A function of affine loops as a Python function; raises SourceError for other operations."""
    return _Printer(function).text(name or function_name(function.sym_name.data, ()))


class _Printer:
    def __init__(self, function: func.FuncOp) -> None:
        self.function = function
        self.lines: list[str] = []
        self.depth = 1
        self.names: dict[SSAValue, str] = {}
        self.stored: set[Operation] = set()
        self.taken = set(MODULE_NAMES)
        self.unsigned: set[SSAValue] = {
            operation.operands[0].owner.operands[0]
            for operation in function.walk()
            if operation.name in EXTENSIONS
            and isinstance(operation.operands[0].owner, affine.LoadOp)
        }
        attributes = function.arg_attrs or ()
        pairs = zip(function.body.block.args, attributes, strict=False)
        self.unsigned |= {value for value, each in pairs if UNSIGNED in each.data}
        self.argument_names = ArgumentNames.of(function)
        self.equal = {name: group for group in equal_sizes(function) for name in group}

    def text(self, name: str) -> str:
        block = self.function.body.block
        arguments = [f"{self._name(each)}: {self._annotation(each)}" for each in block.args]
        head = f"@loopwright.kernel\ndef {name}({', '.join(arguments)}):\n"
        self.lines += [f"    assert {each}" for each in self._asserted()]
        self._block(block)
        return head + "\n".join(self.lines or ["    pass"]) + "\n"

    def _name(self, value: SSAValue) -> str:
        if value not in self.names:
            hint = name_of(value).removeprefix("%").replace(".", "_").replace("$", "_")
            hint = hint if hint.isidentifier() and not keyword.iskeyword(hint) else f"v{hint}"
            text, number = hint, 1
            while text in self.taken or not text.isidentifier():
                number += 1
                text = f"{hint}_{number}"
            self.taken.add(text)
            self.names[value] = text
        return self.names[value]

    def _element(self, value: SSAValue, kind: Attribute) -> str:
        if kind == i1:
            raise SourceError.at(self.function, "arguments of type i1 are not printed as Python")
        text = str(kind)
        return text.replace("i", "u") if value in self.unsigned else text

    def _annotation(self, value: SSAValue) -> str:
        if isinstance(value.type, IndexType):
            return "int"
        kind = as_memref(value)
        if kind is not None:
            extents = [
                f'"{self._extent_name(value, position)}"' if extent < 0 else str(extent)
                for position, extent in enumerate(kind.get_shape())
            ]
            element = self._element(value, kind.element_type)
            return f"loopwright.{element}[{', '.join(extents) or '()'}]"
        return f"loopwright.{self._element(value, value.type)}"

    def _extent_name(self, array: SSAValue, position: int) -> str:
        """The name of an extent; equal ones have one name, that of an argument if there is one."""
        assert isinstance(array, BlockArgument)
        group = self.equal.get(self.argument_names.dimensions[array.index, position])
        if group is None:
            return f"{self._name(array)}_{position}"
        arguments = self.function.body.block.args
        for each in arguments:
            if self.argument_names.arguments[each.index] in group:
                return self._name(each)
        return min(group)

    def _asserted(self) -> Iterator[str]:
        """What the function takes for granted about its sizes, but for what extents say."""
        arguments = self.function.body.block.args
        dims = [self._name(arguments[position]) for position in integer_arguments(self.function)]
        places = list(self.argument_names.dimensions)
        symbols = [f"{self._name(arguments[array])}.shape[{n}]" for array, n in places]
        extents = [self._extent_name(arguments[array], n) for array, n in places]
        for refused, one in assumptions(self.function):
            parts: list[str] = []
            for each in one.constraints:
                sides = (to_text(part, dims, extents) for part in linear_terms(each.lhs)[0])
                if refused or not is_equality_of_sizes(each) or len(set(sides)) > 1:
                    text = self._affine(each.lhs, dims, symbols)
                    parts.append(f"{text} {each.kind.value} 0")
            if refused and len(one.constraints) == 1:
                yield parts[0].replace(" >= 0", " < 0").replace(" == 0", " != 0")
            elif refused:
                yield f"not ({' and '.join(parts)})"
            else:
                yield from parts

    # Statements

    def _line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def _block(self, block: Block, carried: Sequence[str] = ()) -> None:
        before = len(self.lines)
        for operation in block.ops:
            self._statement(operation, carried)
        if len(self.lines) == before:
            self._line("pass")

    def _statement(self, operation: Operation, carried: Sequence[str]) -> None:
        if isinstance(operation, affine.ForOp):
            self._loop(operation)
        elif isinstance(operation, affine.IfOp):
            self._condition(operation)
        elif operation in self.stored:
            pass
        elif isinstance(operation, affine.StoreOp):
            place = self._place(operation.memref, operation.map.data, operation.indices)
            value = self._value(operation.value)
            if operation.memref in self.unsigned:
                value = (
                    f"loopwright.{self._element(operation.memref, operation.value.type)}({value})"
                )
            self._line(f"{place} = {bare(value)}")
        elif isinstance(operation, affine.YieldOp):
            if operation.operands:
                values = [self._value(each) for each in operation.operands]
                changed = [pair for pair in zip(carried, values, strict=True) if len(set(pair)) > 1]
                if changed:
                    names, values = zip(*changed, strict=True)
                    self._line(f"{', '.join(names)} = {', '.join(values)}")
        elif isinstance(operation, memref.AllocOp | memref.AllocaOp):
            self._allocation(operation)
        elif operation.name in ("func.return", "memref.dealloc", "memref.dim"):
            if operation.name == "func.return" and operation.operands:
                self._line(f"return {', '.join(self._results(operation.operands))}")
        elif operation.regions or not operation.results:
            raise SourceError.at(operation, f"'{operation.name}' is not printed as Python")
        elif operation.results and not self._is_inlined(operation):
            text = bare(self._expression(operation))
            text = f"1 if {text} else 0" if operation.results[0].type == i1 else text
            self._line(f"{self._name(operation.results[0])} = {text}")

    def _results(self, values: Sequence[SSAValue]) -> Iterator[str]:
        attributes = self.function.res_attrs
        for position, value in enumerate(values):
            unsigned = attributes is not None and UNSIGNED in attributes.data[position].data
            text = self._value(value)
            kind = str(value.type).replace("i", "u")
            yield f"loopwright.{kind}({text})" if unsigned else text

    def _loop(self, loop: affine.ForOp) -> None:
        arguments = loop.body.block.args
        carried: list[str] = []
        for argument, initial, result in zip(arguments[1:], loop.inits, loop.results, strict=True):
            store = self._destination(loop, result)
            if isinstance(initial, BlockArgument) and len(list(initial.uses)) == 1:
                self.names[argument] = self._name(initial)  # goes on in the inner loop
            elif store is not None:
                self.stored.add(store)
                self.names[argument] = self._place(store.memref, store.map.data, store.indices)
            name = self._name(argument)
            carried.append(name)
            if name == self.names.get(initial):
                self.names[result] = name
                continue
            value = self._value(initial)
            if isinstance(initial.owner, arith.ConstantOp):
                value = f"loopwright.{initial.type}({value})"
            self._line(f"{name} = {value}")
            self.names[result] = name
        lower = self._bound(loop.lowerBoundMap.data, loop.lowerBoundOperands, "max")
        upper = self._bound(loop.upperBoundMap.data, loop.upperBoundOperands, "min")
        step = loop.step.value.data
        bounds = [lower, upper, str(step)] if step != 1 else [lower, upper]
        bounds = bounds[1:] if bounds[0] == "0" and len(bounds) == 2 else bounds
        self._line(f"for {self._name(arguments[0])} in range({', '.join(bounds)}):")
        self.depth += 1
        self._block(loop.body.block, carried)
        self.depth -= 1
        self.taken.discard(self._name(arguments[0]))  # a later loop may have this variable

    @staticmethod
    def _destination(loop: affine.ForOp, result: SSAValue) -> affine.StoreOp | None:
        """The store of a carried value behind its loop, where it can be summed up in that place."""
        uses = list(result.uses)
        store = uses[0].operation if len(uses) == 1 else None
        if not isinstance(store, affine.StoreOp) or store.parent is not loop.parent:
            return None
        between: Operation | None = loop
        while between is not store:
            assert between is not None
            for inner in between.walk():
                accesses = isinstance(inner, affine.LoadOp | affine.StoreOp)
                if (accesses and inner.memref is store.memref) or (
                    inner is not loop and set(inner.results) & set(store.indices)
                ):
                    return None
            between = between.next_op
        return store

    def _condition(self, operation: affine.IfOp) -> None:
        constraints = operation.condition.data
        dims, symbols = self._operands(constraints.num_dims, operation.operands)
        parts = [
            f"{self._affine(each.lhs, dims, symbols)} {each.kind.value} "
            f"{self._affine(each.rhs, dims, symbols)}"
            for each in constraints.constraints
        ]
        condition = " and ".join(parts) or "True"
        if operation.results and self._is_choice(operation):
            for position, result in enumerate(operation.results):
                values: list[str] = []
                for region in (operation.then_region, operation.else_region):
                    assert region.block.last_op is not None
                    values.append(self._value(region.block.last_op.operands[position]))
                self._line(f"{self._name(result)} = {values[0]} if {condition} else {values[1]}")
            return
        chosen = [self._name(each) for each in operation.results]
        self._line(f"if {condition}:")
        self.depth += 1
        self._block(operation.then_region.block, chosen)
        self.depth -= 1
        if operation.else_region.blocks:
            self._line("else:")
            self.depth += 1
            self._block(operation.else_region.block, chosen)
            self.depth -= 1

    def _is_choice(self, operation: affine.IfOp) -> bool:
        """Whether both branches are expressions."""
        return all(
            self._is_inlined(each)
            for region in (operation.then_region, operation.else_region)
            for each in region.block.ops
            if not isinstance(each, affine.YieldOp)
        )

    def _allocation(self, operation: memref.AllocOp | memref.AllocaOp) -> None:
        kind = operation.memref.type
        assert isinstance(kind, MemRefType)
        sizes = iter(operation.dynamic_sizes)
        extents = [
            self._value(next(sizes)) if extent < 0 else str(extent) for extent in kind.get_shape()
        ]
        shape = f"({', '.join(extents)}{',' if len(extents) == 1 else ''})"
        name = self._name(operation.memref)
        self._line(f"{name} = np.empty({shape}, dtype=loopwright.{kind.element_type})")

    # Expressions

    def _is_inlined(self, operation: Operation) -> bool:
        """Whether the value is written where it is used: once, with no store in between."""
        if isinstance(operation, arith.ConstantOp):
            return True
        result = operation.results[0]
        is_index = isinstance(result.type, IndexType) or operation.name == "arith.index_cast"
        if is_index and not depends_on_data(result):
            return True
        uses = list(operation.results[0].uses)
        if len(uses) != 1 or uses[0].operation.parent is not operation.parent:
            return False
        following = operation.next_op
        while following is not None and following is not uses[0].operation:
            if following.regions or isinstance(following, affine.StoreOp):
                return False
            following = following.next_op
        # What is written inside of a loop's head or bounds is evaluated before the loop.
        return not uses[0].operation.regions

    def _value(self, value: SSAValue) -> str:
        if value in self.unsigned and as_memref(value) is None:
            return f"loopwright.{value.type}({self._name(value)})"
        is_new = value not in self.names
        if is_new and isinstance(value.owner, Operation) and self._is_inlined(value.owner):
            return self._expression(value.owner)
        name = self._name(value)
        return f"({name} != 0)" if value.type == i1 else name

    def _expression(self, operation: Operation) -> str:
        name = operation_name(operation)
        if isinstance(operation, arith.ConstantOp):
            attribute = operation.value
            if isinstance(attribute, FloatAttr):
                number = repr(float(attribute.value.data))
            else:
                assert isinstance(attribute, IntegerAttr)
                number = str(attribute.value.data)
            return f"({number})" if number.startswith("-") else number
        if isinstance(operation, affine.LoadOp):
            place = self._place(operation.memref, operation.map.data, operation.indices)
            if operation.memref in self.unsigned and not self._is_unsigned(operation.results[0]):
                return f"loopwright.{operation.results[0].type}({place})"
            return place
        if isinstance(operation, memref.LoadOp):
            inner = ", ".join(bare(self._value(each)) for each in operation.indices)
            return f"{self._name(operation.memref)}[{inner or '()'}]"
        if isinstance(operation, affine.ApplyOp):
            map_ = operation.map.data
            dims, symbols = self._operands(map_.num_dims, operation.operands)
            return f"({self._affine(map_.results[0], dims, symbols)})"
        values = [self._value(each) for each in operation.operands]
        if operation.results[0].type == i1 and name in LOGICAL:
            if name == "arith.xori":
                if not is_true(operation.operands[1]):
                    raise SourceError.at(operation, "'arith.xori' is not printed as Python")
                return f"(not {values[0]})"
            return f"({values[0]} {LOGICAL[name]} {values[1]})"
        if operation.operands and operation.operands[0].type == i1 and name in CASTS:
            values = [f"(1 if {bare(values[0])} else 0)"]
        if name in BINARY:
            return f"({values[0]} {BINARY[name]} {values[1]})"
        if name in CALLS:
            return f"{CALLS[name]}({', '.join(map(bare, values))})"
        if name in UNSIGNED_OPERATIONS:
            text = UNSIGNED_OPERATIONS[name].format(*self._as_unsigned(operation))
            return f"loopwright.{operation.results[0].type}({bare(text)})"
        if name == "arith.index_castui":
            return self._as_unsigned(operation)[0]
        if name in EXTENSIONS:
            (value,) = self._as_unsigned(operation)
            return f"loopwright.{operation.results[0].type}({value})"
        if name == "memref.dim":
            return f"{values[0]}.shape[{values[1]}]"
        if name in CASTS:
            kind = operation.results[0].type
            index = isinstance(kind, IndexType)
            return values[0] if index else f"loopwright.{kind}({bare(values[0])})"
        if name == "arith.negf":
            return f"(-{values[0]})"
        if name == "math.rsqrt":
            return f"(1.0 / np.sqrt({values[0]}))"
        if name in OF_MATH:
            return f"loopwright.{operation.results[0].type}({name}({bare(values[0])}))"
        if name == "arith.divsi":
            quotient = f"(abs({values[0]}) // abs({values[1]}))"
            return f"({quotient} if ({values[0]} ^ {values[1]}) >= 0 else -{quotient})"
        if isinstance(operation, arith.CmpfOp | arith.CmpiOp):
            floats = isinstance(operation, arith.CmpfOp)
            table = FLOAT_PREDICATES if floats else INTEGER_PREDICATES
            number = operation.predicate.value.data
            if not floats and number >= FIRST_UNSIGNED:
                number -= SIGNED_TO_UNSIGNED
                values = self._as_unsigned(operation)
            predicate = table.get(number)
            if predicate is not None:
                return f"({values[0]} {predicate} {values[1]})"
        if name == "arith.select":
            return f"({values[1]} if {bare(values[0])} else {values[2]})"
        raise SourceError.at(operation, f"'{name}' is not printed as Python")

    def _as_unsigned(self, operation: Operation) -> list[str]:
        """The operands of an operation on unsigned numbers."""
        values: list[str] = []
        for each in operation.operands:
            kind = str(each.type).replace("i", "u")
            if each in self.unsigned:
                values.append(self._name(each))
            elif self._is_unsigned(each):
                values.append(self._value(each))
            else:
                values.append(f"loopwright.{kind}({self._value(each)})")
        return values

    def _is_unsigned(self, value: SSAValue) -> bool:
        """Whether a value is an unsigned element, and used as one alone."""
        load = value.owner
        return (
            isinstance(load, affine.LoadOp)
            and load.memref in self.unsigned
            and all(takes_unsigned(use.operation) for use in value.uses)
        )

    def _place(self, array: SSAValue, map_: AffineMap, operands: Iterable[SSAValue]) -> str:
        dims, symbols = self._operands(map_.num_dims, operands)
        inner = ", ".join(self._affine(each, dims, symbols) for each in map_.results)
        return f"{self._name(array)}[{inner or '()'}]"

    def _bound(self, map_: AffineMap, operands: Iterable[SSAValue], kind: str) -> str:
        dims, symbols = self._operands(map_.num_dims, operands)
        parts = [self._affine(each, dims, symbols) for each in map_.results]
        return parts[0] if len(parts) == 1 else f"{kind}({', '.join(parts)})"

    def _operands(
        self, dims: int, operands: Iterable[SSAValue]
    ) -> tuple[Sequence[str], Sequence[str]]:
        values = [self._value(each) for each in operands]
        return values[:dims], values[dims:]

    def _affine(self, expression: AffineExpr, dims: Sequence[str], symbols: Sequence[str]) -> str:
        """An affine expression as a sum, without parentheses around it."""
        terms, constant = linear_terms(expression)
        parts = [
            (factor, self._term(term, abs(factor), dims, symbols))
            for term, factor in terms.items()
            if factor
        ]
        if constant or not parts:
            parts.append((constant, str(abs(constant))))
        first = next((n for n, (factor, _) in enumerate(parts) if factor > 0), 0)
        parts.insert(0, parts.pop(first))
        (factor, head), *rest = parts
        return (
            ("-" if factor < 0 else "")
            + head
            + "".join(f" {'-' if factor < 0 else '+'} {text}" for factor, text in rest)
        )

    def _term(
        self, term: AffineExpr, factor: int, dims: Sequence[str], symbols: Sequence[str]
    ) -> str:
        match term:
            case AffineDimExpr(position):
                text = dims[position]
            case AffineSymExpr(position):
                text = symbols[position]
            case AffineBinaryOpExpr(kind, lhs, rhs):
                left, right = (self._affine(each, dims, symbols) for each in (lhs, rhs))
                left = left if left.isidentifier() else f"({left})"
                if kind is AffineBinaryOpKind.CeilDiv:
                    text = f"(-(-{left} // {right}))"
                else:
                    text = f"({left} {_OPERATORS[kind]} {right})"
            case _:
                raise AssertionError(term)
        return text if factor == 1 else f"{factor} * {text}"


_OPERATORS = {AffineBinaryOpKind.Mod: "%", AffineBinaryOpKind.FloorDiv: "//"}
