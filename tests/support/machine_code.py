"""Loop IR straight to machine code, called with NumPy arrays: no schedules, no kernels."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, ModuleOp
from xdsl.ir import Attribute

from loopwright.dialects.parse import parse_module
from loopwright.lowering.llvm import Options, translate
from loopwright.lowering.llvm.names import FAILED_ALLOCATIONS, symbol
from loopwright.passes.machine.target import Target
from loopwright.runtime.jit import object_code as jit
from loopwright.runtime.jit.openmp import imports

C_TYPES: dict[str, Any] = {
    "index": ctypes.c_int64,
    "i1": ctypes.c_bool,
    "i8": ctypes.c_int8,
    "i16": ctypes.c_int16,
    "i32": ctypes.c_int32,
    "i64": ctypes.c_int64,
    "f32": ctypes.c_float,
    "f64": ctypes.c_double,
}
NUMPY_TYPES: dict[str, type[Any]] = {
    "index": np.int64,
    "i1": np.bool_,
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "f32": np.float32,
    "f64": np.float64,
}


class MachineCode:
    """The functions of a module or its text, compiled; `code(name, *arguments)` calls one."""

    def __init__(
        self,
        program: str | ModuleOp,
        *,
        threads: int = 1,
        fast_math: bool = False,
        contract: bool = True,
        vectorise: bool | None = None,
    ) -> None:
        module = parse_module(program) if isinstance(program, str) else program
        self.functions = {
            op.sym_name.data: op.function_type for op in module.ops if isinstance(op, func.FuncOp)
        }
        options = Options(num_threads=threads, fast_math=fast_math, contract=contract)
        self.llvm_ir = str(translate(module, target=Target.host(), options=options))
        self.options = jit.CompileOptions(vectorise)
        compiled = jit.compile_module(self.llvm_ir, target=Target.host(), options=self.options)
        exports = [symbol(name) for name in self.functions]
        if FAILED_ALLOCATIONS in self.llvm_ir:
            exports.append(FAILED_ALLOCATIONS)
        self.loaded = jit.load_object(compiled, exports, imports())

    @property
    def assembly(self) -> str:
        return jit.emit_assembly(self.llvm_ir, target=Target.host(), options=self.options)

    @property
    def failed_allocations(self) -> int:
        """How many allocations have failed so far."""
        return ctypes.c_int64.from_address(self.loaded[FAILED_ALLOCATIONS]).value

    def __call__(self, name: str, *arguments: Any) -> Any:
        """Calls a function; returns its result, or the tuple of its results."""
        kind = self.functions[name]
        types: list[Any] = []
        values: list[Any] = []
        for argument, parameter in zip(arguments, kind.inputs, strict=True):
            if isinstance(parameter, MemRefType):
                pointer, sizes = array_and_sizes(argument, parameter)
                types += [ctypes.c_void_p, *[ctypes.c_int64] * len(sizes)]
                values += [pointer, *sizes]
            else:
                types.append(C_TYPES[str(parameter)])
                values.append(argument)
        results = [C_TYPES[str(result)] for result in kind.outputs]
        address = self.loaded[symbol(name)]
        if len(results) <= 1:
            function = ctypes.CFUNCTYPE(results[0] if results else None, *types)(address)
            return function(*values)
        cells = [result() for result in results]
        types += [ctypes.c_void_p] * len(cells)
        ctypes.CFUNCTYPE(None, *types)(address)(*values, *map(ctypes.addressof, cells))
        return tuple(cell.value for cell in cells)


def array_and_sizes(
    array: np.ndarray[Any, Any], kind: MemRefType[Attribute]
) -> tuple[int, list[int]]:
    assert array.flags.c_contiguous and array.dtype == NUMPY_TYPES[str(kind.element_type)]
    shape = kind.get_shape()
    assert len(shape) == array.ndim
    pairs = list(zip(shape, array.shape, strict=True))
    assert all(extent in (DYNAMIC_INDEX, size) for extent, size in pairs)
    return array.ctypes.data, [size for extent, size in pairs if extent == DYNAMIC_INDEX]
