"""memref.get_global -> local memrefs, with the values of constants.

%w = memref.get_global @weights : memref<3xf32>   ->   %w = memref.alloca() : memref<3xf32>
                                                        affine.store %c0, %w[0] ...
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.hints import isa

from .....dialects.affine import StoreOp
from .....dialects.errors import SourceError
from .....dialects.external import PRINTED_ARRAYS
from .....dialects.memref import GlobalOp
from ..cells import insert_before
from .emission import loop_nest
from .views import VIEWS

MOST_ELEMENTS = 64
"""Each element of a constant is a statement of its own, unless all are the same."""


_READERS = frozenset(
    (
        *("affine.load", "affine.vector_load", "memref.dealloc", "memref.dim", "memref.load"),
        *("vector.gather", "vector.load", "vector.maskedload", "vector.transfer_read"),
    )
)


def globals_of(module: ModuleOp | None) -> dict[str, GlobalOp]:
    """The global variables of a module by name."""
    found = [op for op in module.ops if isinstance(op, GlobalOp)] if module is not None else []
    return {op.sym_name.data: op for op in found}


def is_only_read(value: SSAValue) -> bool:
    """Whether no use of a memref, or of a view of it, may write its elements."""
    for use in value.uses:
        user = use.operation
        if user.name in VIEWS:
            if not all(is_only_read(result) for result in user.results):
                return False
        elif not (
            user.name in _READERS
            or (user.name == "memref.copy" and use.index == 0)
            or _is_input(user, use.index)
            or (isinstance(user, func.CallOp) and user.callee.root_reference.data in PRINTED_ARRAYS)
        ):
            return False
    return True


def _is_input(user: Operation, position: int) -> bool:
    """Whether an operand is an input of a structured operation."""
    if not user.name.startswith("linalg."):
        return False
    from .....dialects.linalg import StructuredOp

    return isinstance(user, StructuredOp) and position < len(user.inputs)


def _keeps_values(variable: GlobalOp) -> bool:
    """Whether a variable may hold other values than its first ones."""
    name, module = variable.sym_name.data, variable.parent_op()
    if variable.constant is not None or module is None:
        return False
    return not all(
        is_only_read(each.memref)
        for each in module.walk()
        if isinstance(each, memref.GetGlobalOp) and each.name_.root_reference.data == name
    )


def localise_globals(function: func.FuncOp, known: Mapping[str, GlobalOp]) -> None:
    """Replaces uses of global variables; raises SourceError for those that keep their values."""
    made: dict[str, SSAValue] = {}
    for operation in list(function.walk()):
        if not isinstance(operation, memref.GetGlobalOp):
            continue
        name = operation.name_.root_reference.data
        if name not in made:
            variable = known.get(name)
            if variable is None:
                raise SourceError.at(operation, f"there is no variable '@{name}' in this module")
            made[name] = _local(function, operation, variable)
        operation.memref.replace_all_uses_with(made[name])
        operation.detach()
        operation.erase()


def _local(function: func.FuncOp, use: Operation, variable: GlobalOp) -> SSAValue:
    kind = variable.type
    assert isa(kind, MemRefType)
    first = function.body.block.first_op
    assert first is not None
    allocation = memref.AllocOp.get(kind.element_type, shape=kind.get_shape())
    insert_before(first, allocation)
    allocation.memref.name_hint = variable.sym_name.data
    value = variable.initial_value
    if isinstance(value, DenseIntOrFPElementsAttr):
        if _keeps_values(variable):
            raise SourceError.at(
                use,
                f"'@{variable.sym_name.data}' keeps its values from call to call",
                hint="pass it as an argument, or make it constant",
            )
        fill_constant(first, allocation.memref, value, use)
    elif variable.constant is not None or not _is_private(variable):
        raise SourceError.at(
            use,
            f"the values of '@{variable.sym_name.data}' are not known here",
            hint="pass it as an argument",
        )
    return allocation.memref


def _is_private(variable: GlobalOp) -> bool:
    return variable.sym_visibility is not None and variable.sym_visibility.data == "private"


def fill_constant(
    anchor: Operation, array: SSAValue, value: DenseIntOrFPElementsAttr, use: Operation
) -> None:
    """Stores the elements of a constant, before `anchor`; raises SourceError at `use`."""
    kind = array.type
    assert isa(kind, MemRefType)
    shape = kind.get_shape()
    if value.is_splat():
        constant = scalar_constant(value.get_values()[0], kind.element_type)
        insert_before(anchor, constant)
        variables, end = loop_nest(anchor, shape)
        identity = AffineMapAttr(AffineMap.identity(len(shape)))
        insert_before(end, StoreOp(constant.result, array, variables, identity))
        return
    values = value.get_values()
    if len(values) > MOST_ELEMENTS:
        raise SourceError.at(
            use,
            f"a constant of {len(values)} elements",
            hint=f"pass arrays of more than {MOST_ELEMENTS} elements as arguments",
        )
    for number, element in enumerate(values):
        constant = scalar_constant(element, kind.element_type)
        place = AffineMapAttr(AffineMap(0, 0, tuple(_subscripts(number, shape))))
        insert_before(anchor, constant, StoreOp(constant.result, array, (), place))


def _subscripts(number: int, shape: Sequence[int]) -> list[AffineExpr]:
    subscripts: list[AffineExpr] = []
    for extent in reversed(shape):
        subscripts.insert(0, AffineExpr.constant(number % extent))
        number //= extent
    return subscripts


def scalar_constant(value: object, kind: Attribute) -> arith.ConstantOp:
    """A constant of a type."""
    if isa(kind, AnyFloat):
        return arith.ConstantOp(FloatAttr(float(str(value)), kind))
    assert isa(kind, IntegerType) or isinstance(kind, IndexType)
    return arith.ConstantOp(IntegerAttr(int(str(value)), kind))
