"""Imports functions in other dialects and forms: what is left is affine, scf, memref and arith."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from xdsl.dialects import func, scf
from xdsl.dialects.builtin import (
    ComplexType,
    IndexType,
    MemRefType,
    ModuleOp,
    NoneAttr,
    TensorType,
    UnrankedMemRefType,
    VectorType,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from .....dialects.errors import SourceError
from .....dialects.supported_types import element_type
from ..inlining import check_blocks, inline_calls
from .atomics import expand_atomic
from .bufferise import bufferise
from .complex_numbers import expand_complex
from .copies import expand_copy
from .globals import globals_of, localise_globals
from .index_operations import replace_index_operations
from .layouts import drop_layouts, rank_arguments
from .library_calls import is_external, is_pure, library_function, replace_library_calls
from .parallel_loops import expand_forall, expand_parallel
from .regions import expand_integer_loop, expand_switch, inline_region
from .resolve_views import resolve_views
from .results import results_to_arguments
from .vectors import expand_vectors, has_vectors
from .views import VIEWS

_STRUCTURES: dict[str, Callable[[Operation], None]] = {
    "memref.alloca_scope": inline_region,
    "memref.atomic_rmw": expand_atomic,
    "scf.execute_region": inline_region,
    "scf.for": expand_integer_loop,
    "scf.forall": expand_forall,
    "scf.index_switch": expand_switch,
    "scf.parallel": expand_parallel,
}

_FOREIGN = frozenset({"memref.copy", "memref.get_global", *VIEWS, *_STRUCTURES}) - {
    "memref.cast",
    "scf.for",
}


def import_module(module: ModuleOp) -> ModuleOp:
    """The module with its functions imported, the same one if none needs it.

    A function that cannot be imported stays as it is: raising it says why.
    """
    if not any(_is_foreign_in(each, module) for each in _functions(module)):
        return module
    copy = module.clone()
    for function in _functions(copy):
        if not _is_foreign_in(function, module):
            continue
        trial = function.clone()
        try:
            import_function(trial, module)
        except SourceError:
            # Raising it says why; functions that it calls may have other arguments by then.
            trial = function.clone()
            with suppress(SourceError):
                inline_calls(trial, module)
        block = function.parent
        assert block is not None
        block.insert_op_before(trial, function)
        function.detach()
        function.erase()
    return copy


def _functions(module: ModuleOp) -> list[func.FuncOp]:
    return [op for op in module.ops if isinstance(op, func.FuncOp) and not op.is_declaration]


def _is_foreign_in(function: func.FuncOp, module: ModuleOp | None) -> bool:
    """Whether a function, or one that it calls, is foreign."""
    by_name = {each.sym_name.data: each for each in _functions(module)} if module else {}
    pending, seen = [function], {function.sym_name.data}
    while pending:
        each = pending.pop()
        if is_foreign(each, module):
            return True
        for call in each.walk():
            if isinstance(call, func.CallOp):
                name = call.callee.root_reference.data
                if name in by_name and name not in seen:
                    seen.add(name)
                    pending.append(by_name[name])
    return False


def is_foreign(function: func.FuncOp, module: ModuleOp | None) -> bool:
    """Whether a function has something to import."""
    types = [*function.function_type.inputs, *function.function_type.outputs]
    if any(_is_foreign_type(each) for each in types):
        return True
    return any(_is_foreign_operation(each, module) for each in function.walk())


def _is_foreign_type(kind: Attribute) -> bool:
    if isinstance(element_type(kind), ComplexType):
        return True
    if isa(kind, MemRefType):
        if isinstance(kind.element_type, VectorType):
            return True
        return not (isinstance(kind.layout, NoneAttr) and isinstance(kind.memory_space, NoneAttr))
    return isinstance(kind, TensorType | UnrankedMemRefType)


def _is_foreign_operation(operation: Operation, module: ModuleOp | None) -> bool:
    return (
        operation.name in _FOREIGN
        or operation.name.startswith(("index.", "linalg.", "tensor.", "bufferization."))
        or any(_is_foreign_type(result.type) for result in operation.results)
        or has_vectors(operation)
        or (isinstance(operation, scf.ForOp) and not isinstance(operation.lb.type, IndexType))
        or (isinstance(operation, func.CallOp) and _is_library_call(operation, module))
        or (
            isinstance(operation, func.ReturnOp)
            and any(isinstance(value.type, MemRefType) for value in operation.operands)
        )
    )


def _is_library_call(call: func.CallOp, module: ModuleOp | None) -> bool:
    return (
        library_function(call, module) is not None
        or is_pure(call, module)
        or is_external(call, module)
    )


def import_function(function: func.FuncOp, module: ModuleOp | None) -> None:
    """Rewrites a function in place, if it is foreign; raises SourceError.

    `module` has the functions that it calls, which are inlined.
    """
    if not _is_foreign_in(function, module):
        return
    check_blocks(function)
    replace_library_calls(function, module)
    inline_calls(function, module)
    replace_library_calls(function, module)
    replace_index_operations(function)
    rank_arguments(function)
    expand_vectors(function)
    bufferise(function)
    localise_globals(function, globals_of(module))
    for operation in list(function.walk()):
        if (expand := _STRUCTURES.get(operation.name)) is not None:
            expand(operation)
    _expand_structured(function)
    results_to_arguments(function)
    for operation in list(function.walk()):
        if operation.name == "memref.copy":
            expand_copy(operation)
    resolve_views(function)
    drop_layouts(function)
    expand_complex(function)


def _expand_structured(function: func.FuncOp) -> None:
    operations = [each for each in function.walk() if each.name.startswith("linalg.")]
    if not operations:
        return
    # Its hundred operations take longer to define than a small program to compile.
    from .....dialects.linalg import StructuredOp
    from .linalg_loops import expand_structured

    for operation in operations:
        if isinstance(operation, StructuredOp):
            expand_structured(operation)
