"""Verification of operations, with source locations in errors."""

from __future__ import annotations

import difflib

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    AttrSizedResultSegments,
    IRDLOperation,
    OptionalDef,
)
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolTable
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from .errors import SourceError
from .hinted_errors import HintedVerifyException
from .locations import name_of

_SEGMENTS = (AttrSizedOperandSegments, AttrSizedResultSegments)


def verify(operation: Operation) -> None:
    """Verifies an operation and all inside it; raises SourceError.

    Checks what xDSL checks, and that values are defined before they are used.
    """
    _verify(operation, set())


def one_line(message: str) -> str:
    """The message of an xDSL error as one line that starts in lower case."""
    message = " ".join(message.split()).rstrip(".!")
    return message[:1].lower() + message[1:] if message[1:2].islower() else message


def _verify(operation: Operation, visible: set[SSAValue]) -> None:
    for operand in operation.operands:
        if operand not in visible and operation.parent is not None:
            message = f"{name_of(operand)} is used before it is defined"
            raise SourceError.at(operation, message, operand=operand)
    if isinstance(operation, FuncOp) and not operation.sym_name.data.isprintable():
        # Names are shown in terminals and written to many kinds of files.
        name = operation.sym_name.data.encode("unicode_escape").decode()
        raise SourceError.at(operation, f"the name '{name}' has characters that are not printable")
    try:
        if operation.has_trait(SymbolTable):
            _verify_symbols(operation)
        if isinstance(operation, CallOp):
            _verify_callee(operation)
        if isinstance(operation, IRDLOperation):
            _verify_properties(operation)
        operation.verify(verify_nested_ops=False)
        _verify_more(operation)
        for region in operation.regions:
            _verify_blocks(operation, region)
    except SourceError:
        raise
    except VerifyException as error:
        message = one_line(str(error))
        if isinstance(error, HintedVerifyException):
            raise SourceError.at(operation, message, error.hint, operand=error.operand) from error
        raise SourceError.at(operation, message) from error
    except Exception as error:
        # Verification of xDSL's operations fails in many ways on operations in generic form.
        message = one_line(str(error))
        raise SourceError.at(operation, f"'{operation.name}': {message}") from error
    inherited = set[SSAValue]() if operation.has_trait(IsolatedFromAbove) else visible
    for region in operation.regions:
        _verify_region(region, inherited)


def _verify_properties(operation: IRDLOperation) -> None:
    """All that an operation in generic form must have is there.

    xDSL asks for the numbers of operands first, and speaks of nothing else where they are missing.
    """
    definition = operation.get_irdl_definition()
    fields = {**definition.properties, **definition.attributes}
    needed = [name for name, field in fields.items() if not isinstance(field, OptionalDef)]
    needed += [each.attribute_name for each in definition.options if isinstance(each, _SEGMENTS)]
    needed = list(dict.fromkeys(needed))  # Subclasses repeat the options.
    missing = [name for name in needed if operation.get_attr_or_prop(name) is None]
    if missing:
        names = " and ".join(f"'{name}'" for name in missing)
        properties = ", ".join(f"{name} = ..." for name in needed)
        raise SourceError.at(
            operation,
            f"'{operation.name}' has no {names}",
            f'in generic form, write "{operation.name}"(...) <{{{properties}}}>',
        )


def _verify_more(operation: Operation) -> None:
    """Rules of MLIR that xDSL's operations do not check."""
    if isinstance(operation, ConstantOp):
        value = operation.value
        if isa(value, IntegerAttr[IndexType]) and not -(2**63) <= value.value.data < 2**63:
            raise VerifyException(f"{value.value.data} does not fit into 64 bits")
    if isinstance(operation, FuncOp):
        name = operation.sym_name.data
        if not name or "\0" in name:
            raise VerifyException("the name of a function is neither empty nor has it a NUL")
    if isinstance(operation, FuncOp) and operation.is_declaration:
        visibility = operation.sym_visibility
        if visibility is None or visibility.data != "private":
            raise SourceError.at(
                operation,
                f"'@{operation.sym_name.data}' has no body",
                "a body ends with 'return'; a function without a body is 'private'",
            )


def _verify_symbols(operation: Operation) -> None:
    names = set[str]()
    for symbol in operation.regions[0].block.ops:
        name = symbol.get_attr_or_prop("sym_name")
        if isinstance(name, StringAttr):
            if name.data in names:
                raise SourceError.at(symbol, f"'@{name.data}' is defined twice")
            names.add(name.data)


def _verify_callee(call: CallOp) -> None:
    around = call.get_toplevel_object()
    if not isinstance(around, Operation) or not around.has_trait(SymbolTable):
        return
    name = call.callee.root_reference.data
    functions = [op.sym_name.data for op in around.walk() if isinstance(op, FuncOp)]
    if name not in functions:
        close = difflib.get_close_matches(name, functions, 1)
        hint = f"did you mean '@{close[0]}'?" if close else "define it, with a body"
        raise SourceError.at(call, f"there is no function '@{name}' in this module", hint)


def _verify_blocks(operation: Operation, region: Region) -> None:
    if len(region.blocks) == 1 and not region.block.ops and not operation.has_trait(NoTerminator):
        raise VerifyException(f"the region of '{operation.name}' ends without a terminator")


def _verify_region(region: Region, visible: set[SSAValue]) -> None:
    """Verifies a region of an operation to which the values in `visible` are visible."""
    blocks: list[Block] = list(region.blocks)
    local: list[SSAValue] = [argument for block in blocks for argument in block.args]
    if len(blocks) > 1:
        # Control flow between blocks is refused later: here every block may see every other one.
        local += [result for block in blocks for op in block.ops for result in op.results]
    visible.update(local)
    for block in blocks:
        for operation in block.ops:
            _verify(operation, visible)
            local += operation.results
            visible.update(operation.results)
    visible.difference_update(local)
