"""Builder of loop IR: numbered variables, insertion points, indices as operands."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import TypeVar, cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.dialects.memref import ExtractAlignedPointerAsIndexOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.ir.affine import (
    AffineConstraintExpr,
    AffineConstraintKind,
    AffineExpr,
    AffineMap,
    AffineSet,
)
from xdsl.rewriter import InsertPoint, Rewriter

from ...dialects import affine
from ..nest.index_expression import (
    Choice,
    Comparison,
    Condition,
    Extremum,
    Index,
    Quotient,
    Variable,
    conjuncts,
    decide,
)

OperationT = TypeVar("OperationT", bound=Operation)


class TooManyOperationsError(Exception):
    """The limit of a builder's operations is reached."""


class IRBuilder:
    """Appends operations to a block and maps `Variable` numbers to SSA values.

    It raises TooManyOperationsError instead of appending more than `most`.
    """

    def __init__(self, entry: Block, most: int | None = None):
        self.block = entry
        self.entry = entry
        self.left = math.inf if most is None else most
        self.values: dict[int, SSAValue] = {}
        self.count = 0
        self.constants: dict[tuple[int, Attribute], SSAValue] = {}
        self.addresses: dict[SSAValue, Index] = {}
        self.last_at_head: Operation | None = None
        self.available: dict[Hashable, SSAValue] = {}

    def new_variable(self) -> int:
        """A number for an SSA value that will be bound later."""
        self.count += 1
        return self.count - 1

    def bind(self, number: int, value: SSAValue) -> None:
        """Says which SSA value a variable is."""
        self.values[number] = value

    def emit(self, operation: OperationT) -> OperationT:
        """Appends the operation and returns it."""
        self.left -= 1
        if self.left < 0:
            raise TooManyOperationsError
        self.block.add_op(operation)
        return operation

    def constant(self, value: int, kind: IndexType | IntegerType) -> SSAValue:
        """An integer constant at the head of the function, one per value and type."""
        key = (value, kind)
        if key not in self.constants:
            operation = arith.ConstantOp(IntegerAttr(value, kind))
            self.constants[key] = self._at_head(operation).result
        return self.constants[key]

    def address(self, memref: SSAValue) -> Index:
        """Where an argument begins in memory, in bytes, as the function finds out at its head."""
        if memref not in self.addresses:
            operation = ExtractAlignedPointerAsIndexOp.get(memref)
            self.addresses[memref] = self.named(self._at_head(operation).aligned_pointer)
        return self.addresses[memref]

    def _at_head(self, operation: OperationT) -> OperationT:
        after = self.last_at_head
        place = InsertPoint.after(after) if after else InsertPoint.at_start(self.entry)
        Rewriter.insert_op(operation, place)
        self.last_at_head = operation
        return operation

    def value(self, index: Index) -> SSAValue:
        """The index as an SSA value of type index."""
        if index.is_constant:
            return self.constant(index.constant, IndexType())
        if index.constant == 0 and len(index.terms) == 1:
            atom, coefficient = index.terms[0]
            if isinstance(atom, Variable) and coefficient == 1:
                return self.values[atom.number]
        map_attribute, operands = self.map((index,))
        return self.emit(affine.ApplyOp(operands, map_attribute)).result

    def extremum(self, kind: str, indices: Sequence[Index]) -> SSAValue:
        """The maximum or minimum of the indices as an SSA value."""
        if len(indices) == 1:
            return self.value(indices[0])
        map_attribute, operands = self.map(indices)
        operation = affine.MaxOp if kind == "max" else affine.MinOp
        return self.emit(
            operation.create(
                operands=operands,
                properties={"map": map_attribute},
                result_types=[IndexType()],
            )
        ).results[0]

    def map(self, indices: Sequence[Index]) -> tuple[AffineMapAttr, list[SSAValue]]:
        """An affine map with one result per index, and the operands of its dims."""
        positions: dict[int, int] = {}
        expressions = self._affine(indices, positions)
        operands = [self.values[number] for number in positions]
        return AffineMapAttr(AffineMap(len(operands), 0, tuple(expressions))), operands

    def condition(self, condition: Condition) -> tuple[AffineSetAttr, list[SSAValue]] | None:
        """The condition as an affine set and its operands; None when it has a disjunction."""
        comparisons = conjuncts(condition)
        if comparisons is None:
            return None
        positions: dict[int, int] = {}
        expressions = self._affine([comparison.left for comparison in comparisons], positions)
        zero = AffineExpr.constant(0)
        constraints = tuple(
            AffineConstraintExpr(_CONSTRAINT_KINDS[comparison.kind], expression, zero)
            for comparison, expression in zip(comparisons, expressions, strict=True)
        )
        operands = [self.values[number] for number in positions]
        return AffineSetAttr(AffineSet(len(operands), 0, constraints)), operands

    def truth(self, condition: Condition) -> SSAValue:
        """The condition as an i1 value."""
        if isinstance(condition, Comparison):
            zero = self.constant(0, IndexType())
            predicate = "sge" if condition.kind == ">=" else "eq"
            return self.emit(arith.CmpiOp(self.value(condition.left), zero, predicate)).result
        combine = arith.AndIOp if condition.kind == "all" else arith.OrIOp
        result: SSAValue | None = None
        for operand in condition.operands:
            value = self.truth(operand)
            result = value if result is None else self.emit(combine(result, value)).result
        return self.constant(int(condition.kind == "all"), i1) if result is None else result

    def branch(
        self,
        condition: Condition,
        then: Callable[[], None],
        otherwise: Callable[[], None] | None,
    ) -> None:
        """An affine.if (scf.if for a disjunction) whose bodies the two functions append.

        Where constants decide the condition, there is no branch.
        """
        decision = decide(condition)
        if decision is not None:
            chosen = then if decision else otherwise
            if chosen is not None:
                chosen()
            return
        as_set = self.condition(condition)
        truth = self.truth(condition) if as_set is None else None
        end = scf.YieldOp if as_set is None else affine.YieldOp.get
        regions = [Region(self.filled(Block(), then, end))]
        regions.append(Region(self.filled(Block(), otherwise, end)) if otherwise else Region())
        if as_set is None:
            assert truth is not None
            self.emit(scf.IfOp(truth, [], regions[0], regions[1]))
            return
        attribute, operands = as_set
        self.emit(
            affine.IfOp.create(
                operands=operands, properties={"condition": attribute}, regions=regions
            )
        )

    def filled(
        self, block: Block, body: Callable[[], None], terminator: Callable[[], Operation]
    ) -> Block:
        """`block` with what `body` appends and a terminator."""
        outer, self.block = self.block, block
        self.available.clear()
        body()
        self.emit(terminator())
        self.block = outer
        self.available.clear()
        return block

    def when(self, truth: SSAValue, body: Callable[[], None]) -> None:
        """An scf.if without an alternative, in which `body` appends."""
        then = Region(self.filled(Block(), body, scf.YieldOp))
        self.emit(scf.IfOp(truth, [], then, Region()))

    def once(self, key: Hashable, make: Callable[[], SSAValue]) -> SSAValue:
        """The value made earlier in this straight-line code under the same key, or a new one."""
        if key not in self.available:
            self.available[key] = make()
        return self.available[key]

    def forget(self, stale: Callable[[Hashable], bool]) -> None:
        """Values under stale keys are made anew from here on: memory has changed."""
        for key in [key for key in self.available if stale(key)]:
            del self.available[key]

    def _affine(self, indices: Sequence[Index], positions: dict[int, int]) -> list[AffineExpr]:
        def position(number: int) -> int:
            return positions.setdefault(number, len(positions))

        return [self._linear(index).to_affine(position) for index in indices]

    def _linear(self, index: Index) -> Index:
        """The index with every maximum, minimum and choice computed into a variable."""
        if all(isinstance(atom, Variable) for atom, _ in index.terms):
            return index
        result = Index(index.constant)
        for atom, coefficient in index.terms:
            result = result + self._linear_atom(atom) * coefficient
        return result

    def _linear_atom(self, atom: Variable | Quotient | Extremum | Choice) -> Index:
        match atom:
            case Variable():
                return Index.of(atom)
            case Quotient(numerator, divisor):
                return Index.of(Quotient(self._linear(numerator), divisor))
            case Extremum(kind, operands):
                return self.named(self.extremum(kind, operands))
            case Choice(condition, then, otherwise):
                select = arith.SelectOp(
                    self.truth(condition), self.value(then), self.value(otherwise)
                )
                return self.named(self.emit(select).result)

    def named(self, value: SSAValue) -> Index:
        """An index that stands for an SSA value."""
        number = self.new_variable()
        self.bind(number, value)
        return Index.variable(number)


def vector_of_zeros(kind: VectorType[Attribute]) -> arith.ConstantOp:
    """A constant of a vector type, of integers or floats, not yet anywhere."""
    number = 0 if isinstance(kind.element_type, IntegerType | IndexType) else 0.0
    return vector_constant(kind, (number,) * kind.get_shape()[0])


def vector_constant(kind: VectorType[Attribute], lanes: tuple[float, ...]) -> arith.ConstantOp:
    """A constant vector of these numbers, not yet anywhere."""
    return arith.ConstantOp.create(
        result_types=[kind], properties={"value": _elements(kind, lanes)}
    )


@lru_cache(maxsize=1024)
def _elements(kind: VectorType[Attribute], lanes: tuple[float, ...]) -> Attribute:
    """The numbers as an attribute, packed once for all copies that use them."""
    return DenseIntOrFPElementsAttr.from_list(
        cast(VectorType[IndexType], kind), cast(tuple[int, ...], lanes)
    )


_CONSTRAINT_KINDS = {">=": AffineConstraintKind.ge, "==": AffineConstraintKind.eq}
