"""Complex numbers -> pairs of real ones; their arrays get a last dimension of 2.

    %A: memref<?xcomplex<f64>>   ->   %A: memref<?x2xf64> {loopwright.complex}
    %0 = affine.load %A[%i]      ->   %0 = affine.load %A[%i, 0]
                                      %0_im = affine.load %A[%i, 1]

That is how they lie in memory. The imaginary parts of scalar arguments and results come last, in
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard

from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    ComplexType,
    DenseArrayBase,
    DictionaryAttr,
    Float32Type,
    Float64Type,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    i32,
)
from xdsl.dialects.complex import ConstantOp, CreateOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from .....dialects.affine import LoadOp, StoreOp
from .....dialects.arith import SelectOp
from .....dialects.errors import SourceError
from .....dialects.locations import name_of
from .....dialects.marks import COMPLEX, FULL_RANGE
from .....dialects.supported_types import element_type
from ..cells import insert_before
from .annex_g import FULL_RANGE_PAIRS
from .complex_arithmetic import NUMBERS, PAIRS, Emission, Pair
from .emission import erase

_ALLOCATIONS = ("memref.alloc", "memref.alloca", "memref.cast")

_CARRIERS = (
    "affine.for",
    "affine.if",
    "affine.yield",
    "func.return",
    "scf.condition",
    "scf.for",
    "scf.if",
    "scf.while",
    "scf.yield",
)
"""Operations that hand values on."""


def _is_complex(kind: Attribute) -> TypeGuard[ComplexType]:
    return isa(kind, ComplexType)


def has_complex(kind: Attribute) -> bool:
    """Whether a type is one of complex numbers, or of their arrays."""
    return _is_complex(kind.element_type if isa(kind, MemRefType) else kind)


def expand_complex(function: func.FuncOp) -> None:
    """Rewrites a function in place; raises SourceError."""
    values = [result for op in function.walk() for result in op.results]
    values += [
        argument
        for operation in function.walk()
        for region in operation.regions
        for block in region.blocks
        for argument in block.args
    ]
    if any(has_complex(value.type) for value in values):
        _Expansion().function(function)


class _Expansion:
    def __init__(self) -> None:
        self.parts: dict[SSAValue, Pair] = {}
        self.replaced: list[Operation] = []

    def function(self, function: func.FuncOp) -> None:
        """Rewrites a function with what it takes and gives."""
        block = function.body.block
        given = [has_complex(argument.type) for argument in block.args]
        returned = [has_complex(kind) for kind in function.function_type.outputs]
        self._block(block)
        for operation in reversed(self.replaced):
            erase(operation)
        for value in self.parts:
            if isinstance(value, BlockArgument):
                value.block.erase_arg(value)
        end = block.last_op
        assert end is not None
        inputs = list(block.arg_types)
        function.properties["function_type"] = FunctionType.from_lists(
            inputs, [value.type for value in end.operands]
        )
        function.properties["arg_attrs"] = _marked(function.arg_attrs, given, len(inputs))
        if any(returned):
            count = len(end.operands)
            function.properties["res_attrs"] = _marked(function.res_attrs, returned, count)

    def _block(self, block: Block) -> None:
        for argument in list(block.args):
            if isa(argument.type, MemRefType):
                _widen(argument)
            elif _is_complex(argument.type):
                self._argument(block, argument)
        for operation in list(block.ops):
            for region in operation.regions:
                for inner in region.blocks:
                    self._block(inner)
            self._operation(operation)

    def _argument(self, block: Block, argument: BlockArgument) -> None:
        kind = _part(argument)
        real = block.insert_arg(kind, argument.index)
        imaginary = block.insert_arg(kind, len(block.args))
        real.location = imaginary.location = argument.location
        self._name(argument, (real, imaginary))

    def _operation(self, operation: Operation) -> None:
        name = operation.name
        for result in operation.results:
            if name in _ALLOCATIONS:
                _widen(result)
        values = [value.type for value in (*operation.operands, *operation.results)]
        if not any(map(_is_complex, values)):
            if any(has_complex(result.type) for result in operation.results):
                raise _unsupported(operation)
            return
        if isinstance(operation, LoadOp | memref.LoadOp):
            loads = [_access(operation, number) for number in (0, 1)]
            insert_before(operation, *loads)
            self._name(operation.results[0], (loads[0].results[0], loads[1].results[0]))
        elif isinstance(operation, StoreOp | memref.StoreOp):
            pair = self.parts[operation.value]
            insert_before(operation, *(_access(operation, n, part) for n, part in enumerate(pair)))
        elif name in _CARRIERS:
            self._carrier(operation)
        elif (expand := NUMBERS.get(name)) is not None:
            result = operation.results[0]
            number = expand(*self._evaluation(operation))
            number.name_hint = number.name_hint or result.name_hint
            result.replace_all_uses_with(number)
        else:
            self._name(operation.results[0], self._pair(operation))
        self.replaced.append(operation)

    def _carrier(self, operation: Operation) -> None:
        """Hands on the imaginary parts behind all else."""
        real = [self.parts.get(value, (value,))[0] for value in operation.operands]
        more = [self.parts[value][1] for value in operation.operands if value in self.parts]
        given = [result for result in operation.results if _is_complex(result.type)]
        kinds = [_part(each) if each in given else each.type for each in operation.results]
        properties = dict(operation.properties)
        if isinstance(sizes := properties.get("operandSegmentSizes"), DenseArrayBase):
            *others, last = map(int, sizes.get_values())
            segments = [*others, last + len(more)]
            properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, segments)
        new = type(operation).create(
            operands=[*real, *more],
            result_types=[*kinds, *(_part(each) for each in given)],
            properties=properties,
            attributes=operation.attributes,
            regions=[operation.detach_region(0) for _ in list(operation.regions)],
        )
        insert_before(operation, new)
        imaginary = iter(new.results[len(kinds) :])
        for old, result in zip(operation.results, new.results, strict=False):
            if old in given:
                self._name(old, (result, next(imaginary)))
            else:
                result.name_hint = old.name_hint
                old.replace_all_uses_with(result)

    def _pair(self, operation: Operation) -> Pair:
        name = operation.name
        if isinstance(operation, CreateOp):
            return operation.real, operation.imaginary
        if name in FULL_RANGE_PAIRS and FULL_RANGE in operation.attributes:
            return FULL_RANGE_PAIRS[name](*self._evaluation(operation))
        if name in PAIRS:
            return PAIRS[name](*self._evaluation(operation))
        new: list[Operation] = []
        if isinstance(operation, ConstantOp):
            kind = _part(operation.complex)
            for part in operation.value:
                assert isa(part, FloatAttr)
                new.append(arith.ConstantOp(FloatAttr(part.value.data, kind)))
        elif name == "llvm.mlir.undef":
            new += [
                type(operation).create(result_types=[_part(operation.results[0])]) for _ in range(2)
            ]
        elif name == "arith.select":
            condition, one, other = operation.operands
            choices = zip(self.parts[one], self.parts[other], strict=True)
            new += [SelectOp(condition, *pair) for pair in choices]
        else:
            raise _unsupported(operation)
        insert_before(operation, *new)
        return new[0].results[0], new[1].results[0]

    def _evaluation(self, operation: Operation) -> tuple[Emission | Pair, ...]:
        pairs = [self.parts[operand] for operand in operation.operands]
        return Emission(operation, _part(operation.operands[0])), *pairs

    def _name(self, old: SSAValue, pair: Pair) -> None:
        self.parts[old] = pair
        if (hint := old.name_hint) is not None:
            for value, name in zip(pair, (hint, f"{hint}_im"), strict=True):
                value.name_hint = value.name_hint or name


def _widen(array: SSAValue) -> None:
    """Gives an array of complex numbers a last dimension of 2."""
    kind = array.type
    if isa(kind, MemRefType) and _is_complex(kind.element_type):
        wide = MemRefType(_part(array), [*kind.get_shape(), 2], kind.layout, kind.memory_space)
        Rewriter.replace_value_with_new_type(array, wide)


def _part(value: SSAValue) -> Float32Type | Float64Type:
    """The type of the parts of a number, or of those in an array."""
    kind = element_type(value.type)
    part = kind.element_type if _is_complex(kind) else kind
    if not isinstance(part, Float32Type | Float64Type):
        raise SourceError.at(
            value,
            f"{name_of(value)} has type {value.type}: its parts are not supported",
            hint="use complex<f32> or complex<f64>",
        )
    return part


def _access(
    operation: LoadOp | StoreOp | memref.LoadOp | memref.StoreOp,
    number: int,
    value: SSAValue | None = None,
) -> Operation:
    """The load of a part, or the store of `value`."""
    indices = list(operation.indices)
    if isinstance(operation, LoadOp | StoreOp):
        function = operation.map.data
        results = (*function.results, AffineExpr.constant(number))
        wide = AffineMapAttr(AffineMap(function.num_dims, function.num_symbols, results))
        if value is None:
            new: Operation = LoadOp(operation.memref, indices, wide)
        else:
            new = StoreOp(value, operation.memref, indices, wide)
    else:
        constant = arith.ConstantOp(IntegerAttr(number, IndexType()))
        insert_before(operation, constant)
        indices.append(constant.result)
        if value is None:
            new = memref.LoadOp.get(operation.memref, indices)
        else:
            new = memref.StoreOp.get(value, operation.memref, indices)
    new.attributes |= operation.attributes
    return new


def _marked(
    attributes: ArrayAttr[DictionaryAttr] | None, complex: Sequence[bool], count: int
) -> ArrayAttr[DictionaryAttr]:
    """Attributes of arguments or results, of which some are complex numbers."""
    old = attributes.data if attributes is not None else [DictionaryAttr({})] * len(complex)
    marked = [
        DictionaryAttr({**each.data, COMPLEX: UnitAttr()}) if is_complex else each
        for each, is_complex in zip(old, complex, strict=True)
    ]
    return ArrayAttr([*marked, *[DictionaryAttr({})] * (count - len(marked))])


def _unsupported(operation: Operation) -> SourceError:
    return SourceError.at(
        operation,
        f"'{operation.name}' on complex numbers is not supported",
        hint="take the number apart with complex.re and complex.im",
    )
