"""vector.print -> calls of functions that print, those of MLIR's own runtime library.

vector.print %x : f32   ->   memref.external "printF32"(%x), memref.external "printNewline"()
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    Float64Type,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    f32,
    i8,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.hints import isa

from .....dialects.affine import StoreOp
from .....dialects.errors import SourceError
from .....dialects.external import ExternalCallOp
from .....dialects.supported_types import is_scalar
from .....dialects.vector_shapes import PrintOp
from ..cells import insert_before
from .emission import loop_nest
from .lanes import Lanes, element_of, index_value, tensor_type
from .library_calls import order_cell

_ENDS = {"newline": "printNewline", "comma": "printComma", "open": "printOpen"}
_ENDS["close"] = "printClose"


def expand_print(operation: Operation) -> None:
    """Calls that print what an operation prints."""
    assert isinstance(operation, PrintOp)
    function = operation.parent_op()
    while not isinstance(function, func.FuncOp):
        assert function is not None
        function = function.parent_op()
    _Printing(order_cell(function)).all_of(operation)


class _Printing:
    def __init__(self, order: SSAValue) -> None:
        self.order = order

    def all_of(self, operation: PrintOp) -> None:
        if operation.text is not None:
            self._text(operation, operation.text.data)
        if (value := operation.source) is not None:
            if isinstance(value.type, TensorType):
                self._vector(operation, value, tensor_type(value).get_shape(), ())
            else:
                self._number(operation, value)
        if operation.end in _ENDS:
            self._call(operation, _ENDS[operation.end])

    def _call(self, anchor: Operation, name: str, *operands: SSAValue) -> None:
        kind = FunctionType.from_lists([each.type for each in operands], [])
        insert_before(anchor, ExternalCallOp(name, operands, [], kind, self.order))

    def _vector(
        self, anchor: Operation, value: SSAValue, shape: Sequence[int], lanes: Lanes
    ) -> None:
        """`( 1, 2, 3 )`, the last element apart as no comma is behind it."""
        if not shape:
            self._number(anchor, element_of(anchor, value, lanes))
            return
        self._call(anchor, "printOpen")
        (lane,), end = loop_nest(anchor, [shape[0] - 1])
        self._vector(end, value, shape[1:], [*lanes, lane])
        self._call(end, "printComma")
        last = index_value(anchor, shape[0] - 1)
        self._vector(anchor, value, shape[1:], [*lanes, last])
        self._call(anchor, "printClose")

    def _number(self, anchor: Operation, value: SSAValue) -> None:
        kind = value.type
        if not is_scalar(kind):
            raise SourceError.at(anchor, f"'vector.print' of a value of type {kind}")
        if isinstance(kind, IndexType):
            name, new = "printU64", arith.IndexCastOp(value, i64)
        elif isa(kind, IntegerType):
            name = "printI64"
            extend = arith.ExtUIOp if kind.width.data == 1 else arith.ExtSIOp
            new = None if kind == i64 else extend(value, i64)
        else:
            name = "printF64" if isinstance(kind, Float64Type) else "printF32"
            new = None if kind == f32 or name == "printF64" else arith.ExtFOp(value, f32)
        if new is not None:
            insert_before(anchor, new)
            value = new.results[0]
        self._call(anchor, name, value)

    def _text(self, anchor: Operation, text: str) -> None:
        """A text is memory that ends with zero."""
        data = [*text.encode(), 0]
        memory = memref.AllocaOp.get(i8, shape=[len(data)])
        insert_before(anchor, memory)
        for place, byte in enumerate(data):
            constant = arith.ConstantOp(IntegerAttr(byte - 256 if byte > 127 else byte, i8))
            function = AffineMapAttr(AffineMap(0, 0, (AffineExpr.constant(place),)))
            insert_before(anchor, constant, StoreOp(constant.result, memory.memref, (), function))
        self._call(anchor, "printString", memory.memref)
