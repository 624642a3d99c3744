"""Functions in C: signatures, bodies, calls.

Arguments come in order. A memref is a `restrict` pointer to rows of its extents, after one int64_t
for each dynamic one; an index is an int64_t; scalars are themselves. One result is returned,
several are written through trailing pointers.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, UnrankedMemRefType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from ...dialects.errors import SourceError
from ...dialects.external import ExternalCallOp
from ...dialects.marks import UNSIGNED
from ...dialects.memref import is_memref
from .c_expressions import ATOM, Expression, integer, unary
from .helpers import Helper
from .names import Names, function_name
from .printer import Array, Emitters, Printer, Unit, needed_values
from .types import HEADERS, c_type


def print_function(unit: Unit, op: func.FuncOp, functions: frozenset[str]) -> tuple[str, str]:
    """The prototype and the definition of a function; `functions` are the C names in the file."""
    needed = needed_values(op)
    printer = Printer(unit, Names(functions), needed)
    unsigned = _unsigned_arguments(op)
    parameters = [_parameter(printer, each, each in unsigned) for each in op.args]
    declared = [text for texts in parameters for text in texts]
    kinds = [_result_type(unit, op, position) for position in range(len(op.function_type.outputs))]
    pointers = [printer.names.take(f"result_{n}", "result") for n in range(len(kinds))]
    if len(kinds) > 1:
        declared += [f"{kind} *restrict {name}" for kind, name in zip(kinds, pointers, strict=True)]
    returned = kinds[0] if len(kinds) == 1 else "void"
    name = function_name(op.sym_name.data)
    head = _wrapped(f"{returned} {name}(", declared)
    unused = [
        f"(void){_name(printer, argument)};" for argument in op.args if argument not in needed
    ]
    if unused:
        printer.line(" ".join(unused))

    def end(values: list[Expression]) -> None:
        _return(printer, op, kinds, pointers, values)

    printer.block(op.body.block, end)
    return f"{head};", "\n".join([f"{head} {{", *printer.lines, "}"])


def _result_type(unit: Unit, op: func.FuncOp, position: int) -> str:
    kind = op.function_type.outputs.data[position]
    if isinstance(kind, MemRefType):
        raise SourceError.at(op, f"a result of type '{kind}' cannot be printed as C")
    terminator = op.body.block.last_op
    assert terminator is not None
    name = c_type(kind, terminator.operands[position])
    if name in HEADERS:
        unit.headers.add(HEADERS[name])
    return name


def _unsigned_arguments(op: func.FuncOp) -> set[SSAValue]:
    """The arguments whose integers are unsigned; none where arrays go on to other functions."""
    attributes = op.arg_attrs
    if attributes is None or any(isinstance(inner, func.CallOp) for inner in op.walk()):
        return set()
    pairs = zip(op.args, attributes.data, strict=True)
    return {argument for argument, each in pairs if UNSIGNED in each.data}


def _parameter(printer: Printer, argument: SSAValue, is_unsigned: bool) -> list[str]:
    """The declarations; a number or element of an unsigned type is read as the signed one."""
    signed = printer.type(argument)
    kind = f"u{signed}" if is_unsigned else signed
    if not isinstance(argument.type, MemRefType):
        name = printer.names.take(argument.name_hint, "arg")
        value = Expression(name)
        printer.bind(argument, unary(f"({signed})", value) if is_unsigned else value)
        return [f"{kind} {name}"]
    name = printer.names.take(argument.name_hint, "arg")
    parameters: list[str] = []
    extents: list[Expression] = []
    for position, extent in enumerate(_shape(argument)):
        if extent == DYNAMIC_INDEX:
            size = printer.names.take(f"{name}_dim{position}", "dim")
            parameters.append(f"int64_t {size}")
            extents.append(Expression(size))
        else:
            extents.append(integer(extent))
    printer.arrays[argument] = Array(name, tuple(extents), read_as=signed if is_unsigned else None)
    if not extents or extents[0].text == "0":
        rows = "".join(f"[{extent}]" for extent in extents[1:])
        declared = f"{kind} (*restrict {name}){rows}" if rows else f"{kind} *restrict {name}"
    else:
        rows = "".join(f"[{extent}]" for extent in extents[1:])
        declared = f"{kind} {name}[restrict {extents[0]}]{rows}"
    return [*parameters, declared]


def _shape(value: SSAValue) -> tuple[int, ...]:
    assert is_memref(value.type)
    return value.type.get_shape()


def _name(printer: Printer, argument: SSAValue) -> str:
    if isinstance(argument.type, MemRefType):
        return printer.array(argument).name
    return printer.value(argument).text


def _wrapped(start: str, parameters: Sequence[str]) -> str:
    lines = [start]
    for number, parameter in enumerate(parameters or ["void"]):
        piece = parameter + ("," if number < len(parameters) - 1 else ")")
        separator = "" if number == 0 else " "
        if number and len(lines[-1]) + len(piece) + 1 > 98:
            lines.append(" " * len(start))
            separator = ""
        lines[-1] += separator + piece
    return "\n".join(lines)


def _return(
    printer: Printer,
    op: func.FuncOp,
    kinds: Sequence[str],
    pointers: Sequence[str],
    values: Sequence[Expression],
) -> None:
    if len(kinds) > 1:
        for pointer, value in zip(pointers, values, strict=True):
            printer.line(f"*{pointer} = {value};")
    elif kinds:
        (value,) = values
        if value.precedence != ATOM or value.reads:
            printer.line(f"const {kinds[0]} {pointers[0]} = {value};")
            value = Expression(pointers[0])
        printer.at_very_end_of_block(f"return {value};")


def emit_call(printer: Printer, op: func.CallOp) -> None:
    arguments: list[str] = []
    for operand in op.arguments:
        if isinstance(operand.type, MemRefType):
            array = printer.array(operand)
            shape = _shape(operand)
            arguments += [
                extent.text
                for extent, size in zip(array.extents, shape, strict=True)
                if size == DYNAMIC_INDEX
            ]
            arguments.append(f"&{array.name}" if array.is_scalar else array.name)
        else:
            arguments.append(printer.value(operand).text)
    printer.before_write()
    function = function_name(op.callee.root_reference.data)
    if len(op.res) == 1:
        name = printer.names.take(op.res[0].name_hint, "t")
        kind = printer.type(op.res[0])
        printer.line(f"const {kind} {name} = {function}({', '.join(arguments)});")
        printer.bind(op.res[0], Expression(name))
        return
    for result in op.res:
        name = printer.names.take(result.name_hint, "t")
        printer.line(f"{printer.type(result)} {name};")
        printer.bind(result, Expression(name))
        arguments.append(f"&{name}")
    printer.line(f"{function}({', '.join(arguments)});")


def emit_external_call(printer: Printer, op: ExternalCallOp) -> None:
    """A call of a function that is only declared, with its prototype."""
    parameters: list[str] = []
    arguments: list[str] = []
    for operand, kind in zip(op.operands_, op.function_type.inputs, strict=True):
        if not isa(kind, MemRefType | UnrankedMemRefType):
            parameters.append(printer.type(operand))
            arguments.append(printer.value(operand).text)
            continue
        array, element = printer.array(operand), f"{printer.type(operand)} *"
        parameters.append(element)
        arguments.append(f"&{array.name}" if array.is_scalar else f"({element}){array.name}")
        if not isa(kind, MemRefType):
            extents = [extent.text for extent in array.extents]
            parameters += ["int64_t", "const int64_t *"]
            arguments += [str(len(extents)), f"(int64_t[]){{{', '.join(extents) or '0'}}}"]
            continue
        for extent, size in zip(array.extents, kind.get_shape(), strict=True):
            if size == DYNAMIC_INDEX:
                parameters.append("int64_t")
                arguments.append(extent.text)
    name = op.callee.data
    returned = printer.type(op.results_[0]) if op.results_ else "void"
    prototype = f"extern {returned} {name}({', '.join(parameters) or 'void'});"
    printer.unit.helper(Helper(name, prototype))
    printer.before_write()
    text = f"{name}({', '.join(arguments)});"
    if not op.results_:
        printer.line(text)
        return
    (result,) = op.results_
    variable = printer.names.take(result.name_hint, "t")
    printer.line(f"const {returned} {variable} = {text}")
    printer.bind(result, Expression(variable))


EMITTERS: Emitters = {"func.call": emit_call, "memref.external": emit_external_call}
