"""The `schedule` dialect: schedules as operations, separate from the program.

    schedule.sequence @gemm {
      %i, %j, %k = schedule.loops "i", "j", "k"
      %it, %jt = schedule.tile %i, %j by [32, 32]
      schedule.interchange %k, %j
      schedule.parallel %it
    }

One operation per transformation, whose operands are the loops and whose results are the loops that
it makes; the names of the results are the names of these loops. Which transformations there are
is up to those who build the dialect with `make_dialect`.
"""

from __future__ import annotations

import types
import typing
from abc import ABC
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    SymbolRefAttr,
    i64,
)
from xdsl.ir import (
    Attribute,
    Block,
    Dialect,
    Operation,
    ParametrizedAttribute,
    Region,
    SSAValue,
    TypeAttribute,
)
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

Value = int | str | bool | tuple[int, ...] | tuple[str, ...] | tuple[int | str, ...]

Kind = type | types.UnionType
"""The type of an option's value, or of the items of one that is a list: `int | str` for both."""


@irdl_attr_definition
class LoopType(ParametrizedAttribute, TypeAttribute):
    """A loop of the scheduled function."""

    name = "schedule.loop"


@dataclass(frozen=True)
class Option:
    """An option of a transformation: the word in front of it, and whether it must be there."""

    keyword: str
    kind: Kind | tuple[Kind]
    required: bool


class StepOp(IRDLOperation, ABC):
    """A transformation: `%new_loops = schedule.name %loops keyword value ...`."""

    KNOWN_OPTIONS: ClassVar[Mapping[str, Option]] = {}
    MAKES_LOOPS: ClassVar[bool] = False

    loops = var_operand_def(LoopType())
    new_loops = var_result_def(LoopType())
    options = prop_def(DictionaryAttr)

    def __init__(self, loops: Sequence[SSAValue], options: Mapping[str, Value]) -> None:
        results = [LoopType()] * len(loops) if self.MAKES_LOOPS else []
        attributes = {name: _to_attribute(value) for name, value in options.items()}
        super().__init__(
            operands=[loops],
            result_types=[results],
            properties={"options": DictionaryAttr(attributes)},
        )

    def values(self) -> dict[str, Value]:
        """The options as Python values, by name."""
        return {name: _to_value(attribute) for name, attribute in self.options.data.items()}

    @classmethod
    def parse(cls, parser: Parser) -> StepOp:
        loops = parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        operands = [parser.resolve_operand(loop, LoopType()) for loop in loops or ()]
        names = {option.keyword: name for name, option in cls.KNOWN_OPTIONS.items()}
        values: dict[str, Value] = {}
        while (keyword := parser.parse_optional_keyword_in(names)) is not None:
            values[names[keyword]] = _parse_value(parser)
        return cls(operands, values)

    def print(self, printer: Printer) -> None:
        if self.loops:
            printer.print_string(" ")
            printer.print_list(self.loops, printer.print_ssa_value)
        for name, value in self.values().items():
            printer.print_string(f" {self.KNOWN_OPTIONS[name].keyword} {_print_value(value)}")

    def verify_(self) -> None:
        values = self.values()
        for name, option in self.KNOWN_OPTIONS.items():
            if option.required and name not in values:
                raise VerifyException(f"{self.name} needs '{option.keyword}'")
            if name in values and not _has_kind(values[name], option.kind):
                raise VerifyException(
                    f"{self.name} expects {_describe(option.kind)} after '{option.keyword}'"
                )
        if unknown := values.keys() - self.KNOWN_OPTIONS.keys():
            raise VerifyException(f"{self.name} has no option '{min(unknown)}'")
        if len(self.new_loops) != (len(self.loops) if self.MAKES_LOOPS else 0):
            raise VerifyException(f"{self.name} has one result per loop that it makes")
        if not isinstance(self.parent_op(), SequenceOp):
            raise VerifyException(f"{self.name} must be directly inside schedule.sequence")


@irdl_op_definition
class LoopsOp(IRDLOperation):
    """Loops that exist at this point, by name: `%i, %k = schedule.loops "i", "S1.k"`."""

    name = "schedule.loops"

    loop_names = prop_def(ArrayAttr[StringAttr])
    loops = var_result_def(LoopType())

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(
            result_types=[[LoopType()] * len(names)],
            properties={"loop_names": ArrayAttr([StringAttr(name) for name in names])},
        )
        for result, name in zip(self.loops, names, strict=True):
            if SSAValue.is_valid_name(own := name.rpartition(".")[2]):
                result.name_hint = own

    @classmethod
    def parse(cls, parser: Parser) -> LoopsOp:
        names = parser.parse_comma_separated_list(
            parser.Delimiter.NONE, lambda: parser.parse_str_literal("the name of a loop")
        )
        return cls(names)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.loop_names, printer.print_attribute)

    def verify_(self) -> None:
        if len(self.loop_names) != len(self.loops):
            raise VerifyException("schedule.loops has one result per name")
        if not isinstance(self.parent_op(), SequenceOp):
            raise VerifyException("schedule.loops must be directly inside schedule.sequence")


@irdl_op_definition
class SequenceOp(IRDLOperation):
    """The schedule of a function: transformations that are applied in turn."""

    name = "schedule.sequence"

    function = prop_def(FlatSymbolRefAttrConstr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    def __init__(self, function: str, operations: Sequence[Operation]) -> None:
        super().__init__(
            properties={"function": SymbolRefAttr(function)},
            regions=[Region(Block(operations))],
        )

    @classmethod
    def parse(cls, parser: Parser) -> SequenceOp:
        name = parser.parse_symbol_name().data
        attributes = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region()
        operation = cls(name, ())
        # An empty region is parsed without a block.
        if region.blocks:
            operation = cls.create(properties=dict(operation.properties), regions=[region])
        operation.attributes |= attributes.data if attributes else {}
        return operation

    def print(self, printer: Printer) -> None:
        printer.print_string(f" @{self.function.root_reference.data}")
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.body, print_empty_block=False)

    def verify_(self) -> None:
        for operation in self.body.block.ops:
            if not isinstance(operation, LoopsOp | StepOp):
                raise VerifyException(
                    f"'{operation.name}' is no transformation: schedule.sequence holds operations "
                    "of the schedule dialect"
                )


def make_step(
    name: str, options: Mapping[str, Option], *, makes_loops: bool, documentation: str | None
) -> type[StepOp]:
    """The operation `schedule.name` of a transformation with these options."""
    members = {
        "__doc__": documentation,
        "__module__": __name__,
        "name": f"schedule.{name}",
        "__annotations__": {"KNOWN_OPTIONS": "ClassVar", "MAKES_LOOPS": "ClassVar"},
        "KNOWN_OPTIONS": options,
        "MAKES_LOOPS": makes_loops,
    }
    class_name = "".join(part.capitalize() for part in name.split("-"))
    return irdl_op_definition(type(f"{class_name}Op", (StepOp,), members))


def make_dialect(steps: Iterable[type[StepOp]]) -> Dialect:
    """The `schedule` dialect with these transformations."""
    return Dialect("schedule", [SequenceOp, LoopsOp, *steps], [LoopType])


def _to_attribute(value: Value) -> Attribute:
    match value:
        case bool():
            return BoolAttr.from_bool(value)
        case int():
            return IntegerAttr(value, i64)
        case str():
            return StringAttr(value)
        case tuple():
            return ArrayAttr([_to_attribute(item) for item in value])


def _to_value(attribute: Attribute) -> Value:
    match attribute:
        case IntegerAttr(type=IntegerType(width=width), value=value):
            return bool(value.data) if width.data == 1 else value.data
        case StringAttr(data=text):
            return text
        case ArrayAttr(data=items):
            values = [_to_value(item) for item in items]
            return tuple(value for value in values if isinstance(value, int | str))
        case _:
            raise VerifyException(f"{attribute} is no value of an option")


def _parse_value(parser: Parser) -> Value:
    if (flag := parser.parse_optional_boolean()) is not None:
        return flag
    if (text := parser.parse_optional_str_literal()) is not None:
        return text
    if (number := parser.parse_optional_integer(allow_boolean=False)) is not None:
        return number
    items = parser.parse_optional_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: _parse_item(parser)
    )
    if items is None:
        parser.raise_error("expected an integer, a string, true, false or a list in [ ]")
    return tuple(items)


def _parse_item(parser: Parser) -> int | str:
    text = parser.parse_optional_str_literal()
    return text if text is not None else parser.parse_integer(allow_boolean=False)


def _print_value(value: Value) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return StringAttr(value).__str__()
        case int():
            return str(value)
        case _:
            return f"[{', '.join(_print_value(item) for item in value)}]"


# What a value of each kind is called in errors.
_KINDS: Mapping[Kind, str] = {
    int: "an integer",
    str: "a string",
    int | str: "an integer or a string",
    bool: "true or false",
}


def _describe(kind: Kind | tuple[Kind]) -> str:
    if isinstance(kind, tuple):
        return f"a list in [ ], each item {_KINDS[kind[0]]},"
    return _KINDS[kind]


def _has_kind(value: Value, kind: Kind | tuple[Kind]) -> bool:
    if isinstance(kind, tuple):
        return isinstance(value, tuple) and all(_has_kind(item, kind[0]) for item in value)
    return type(value) in (typing.get_args(kind) or (kind,))
