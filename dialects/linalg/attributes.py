"""Attributes of the linalg dialect: `#linalg.iterator_type<parallel>` and others like it."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class _WordAttr(ParametrizedAttribute):
    """An attribute that is one word in angle brackets."""

    word: StringAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[StringAttr]:
        with parser.in_angle_brackets():
            return (StringAttr(parser.parse_identifier()),)

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.word.data}>")


@irdl_attr_definition
class IteratorTypeAttr(_WordAttr):
    """`parallel` or `reduction`: what the iterations of a loop have to do with each other."""

    name = "linalg.iterator_type"
    word: StringAttr


@irdl_attr_definition
class ElementwiseKindAttr(_WordAttr):
    """The operation on elements that `linalg.elementwise` applies."""

    name = "linalg.elementwise_kind"
    word: StringAttr


@irdl_attr_definition
class TypeFunctionAttr(_WordAttr):
    """`cast_signed` or `cast_unsigned`: how named operations convert their inputs."""

    name = "linalg.type_fn"
    word: StringAttr
