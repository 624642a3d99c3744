"""Functions that programs declare: checks of their types, and their addresses."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects.builtin import ModuleOp, f32, f64, i32, i64
from xdsl.ir import Attribute

from ...dialects.errors import SourceError
from ...dialects.external import ExternalCallOp
from ...dialects.mathematics import ExternalOp
from .registered_functions import SIGNATURES, function_address, is_library_function

_INTEGERS = {"i": i32, "l": i64}


def check_external_functions(module: ModuleOp) -> None:
    """Raises SourceError at a call of a function that has no address."""
    for operation in module.walk():
        if (
            isinstance(operation, ExternalOp | ExternalCallOp)
            and function_address(operation.callee.data) is None
        ):
            name = operation.callee.data
            raise SourceError.at(
                operation,
                f"the function '@{name}' is neither of the C mathematics library nor registered",
                hint=f'name it: loopwright.register_function("{name}", ...)',
            )
        if isinstance(operation, ExternalOp) and is_library_function(operation.callee.data):
            name = operation.callee.data
            kinds = (*operation.result_types, *operation.operand_types)
            if kinds != _types(name):
                result, *arguments = map(str, _types(name))
                raise SourceError.at(
                    operation,
                    f"the C mathematics library has '@{name}' as "
                    f"({', '.join(arguments)}) -> {result}",
                    hint="declare it so, or call a function of another name",
                )


def external_functions(module: ModuleOp) -> Mapping[str, int]:
    """The addresses of the functions that a module calls."""
    calls = (each for each in module.walk() if isinstance(each, ExternalOp | ExternalCallOp))
    names = dict.fromkeys(call.callee.data for call in calls)
    return {name: address for name in names if (address := function_address(name)) is not None}


def _types(name: str) -> tuple[Attribute, ...]:
    """The types of the result and the arguments of a library function."""
    is_double = name in SIGNATURES
    signature = SIGNATURES[name if is_double else name.removesuffix("f")]
    kind = f64 if is_double else f32
    return tuple(_INTEGERS.get(letter, kind) for letter in signature)
