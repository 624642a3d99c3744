"""Statement instances -> operations: scalar, or `width` adjacent instances as vectors.

In a vector loop, `Lanes.variable` numbers the lane: the loop variable is `base + step * lane`. An
access whose subscripts do not depend on the lane is loaded once and broadcast; one that moves by
one element per lane is a contiguous vector access; anything else linear is a gather or scatter.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from xdsl.dialects import arith, func, memref
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import IndexType, MemRefType, UnitAttr, VectorType, i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap

from ...dialects import affine, vector
from ...dialects.arith import IndexCastOp
from ...dialects.memref import INSPECTED
from ...dialects.vector import is_vector, vector_of
from ...passes.polyhedral.bounded_subscripts import bounded_gathers
from ...passes.polyhedral.fused_products import keep_fused
from ...passes.polyhedral.gathers import (
    CHECKED,
    argument_arrays,
    whole_arrays,
)
from ...passes.polyhedral.schedule_tree import Loop
from ...passes.polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..nest.aff_to_index import aff_form
from ..nest.index_expression import Index, Quotient, linear_form
from ..nest.nest import Call
from .alignment import RowAccess
from .array_views import cast_to, row_of
from .checked_gathers import lanes_inside
from .gather_offsets import gather_offsets
from .ir_builder import IRBuilder, vector_constant, vector_of_zeros
from .lane_places import Lanes, Place, along_lanes, elements_to, locate, stride_in
from .storage import Storage


@dataclass(frozen=True)
class _Loaded:
    """A loaded value and its memory location."""

    memref: SSAValue
    place: Place


class StatementEmitter:
    """Emits the bodies of a Scop's statements with given values of their induction variables.

    The subscripts of `inspected` gathers, by statement, are known to be inside when they run.
    """

    def __init__(
        self,
        builder: IRBuilder,
        scop: Scop,
        parameters: Mapping[str, Index],
        scalars: Mapping[SSAValue, SSAValue],
        storage: Storage,
        inspected: Mapping[str, Container[memref.LoadOp]] = MappingProxyType({}),
    ):
        self.builder = builder
        self.inspected = inspected
        self.bounded: dict[str, frozenset[memref.LoadOp]] = {}
        self.scalars = scalars
        self.storage = storage
        self.arrays = argument_arrays(scop)
        self.memrefs = whole_arrays(scop)
        self.statements = {statement.name: statement for statement in scop.statements}
        # One load may be part of several statements, each with its own map.
        self.accesses = {
            statement.name: {
                access.op: access for access in statement.accesses if not access.is_opaque
            }
            for statement in scop.statements
        }
        # Those of one statement are asked for again in each of its copies.
        self.forms = {
            id(access): [linear_form(each, access.map.num_dims) for each in access.map.results]
            for statement in scop.statements
            for access in statement.accesses
        }
        self.schedules: dict[tuple[int, str], Index] = {}
        self.parameters = {p.name: parameters[p.name] for p in scop.parameters}

    def emit(self, call: Call, lanes: Lanes | None, moving: Container[int] = frozenset()) -> None:
        """The operations of one instance (of `lanes.width` instances).

        Divergent loops move the arguments at the positions `moving`. What they leave in place is
        accessed in all lanes that come to them; others than those that are on keep what they have.
        """
        statement = self.statements[call.statement]
        values = dict(self.scalars)
        arguments = self._arguments(call)
        user = statement.name
        held: dict[tuple[Array, AffineMap], SSAValue] = {}
        for operation in statement.body:
            access = self.accesses[user].get(operation)
            if isinstance(operation, func.CallOp):
                self._call(statement, operation, values, arguments, self._known(user, arguments))
            elif access is None:
                self._compute(statement, operation, values, arguments, lanes)
            elif access.kind is AccessKind.READ:
                place = self._standing(access, lanes, moving) or lanes
                loaded = self._reused_load(access, user, arguments, place)
                values[operation.results[0]] = held[access.array, access.map] = loaded
            else:
                subscripts = self._subscripts(access, user, arguments)
                stored = self._operand(statement, operation.operands[0], values, arguments, lanes)
                around = self._standing(access, lanes, moving)
                old = held.get((access.array, access.map))
                if around is None or old is None or lanes is None:
                    self._store(access, user, subscripts, stored, lanes)
                else:
                    stored = self._broadcast(stored, lanes.width)
                    chosen = self.builder.emit(arith.SelectOp(self._mask(lanes), stored, old))
                    self._store(access, user, subscripts, chosen.result, around)

    def _standing(
        self, access: Access, lanes: Lanes | None, moving: Container[int]
    ) -> Lanes | None:
        """The lanes that come to divergent control flow, which leaves the access in its place."""
        if lanes is None or lanes.around is None:
            return None
        arguments = (number for form in self.forms[id(access)] for number in form.variables())
        return None if any(number in moving for number in arguments) else lanes.around

    def _arguments(self, call: Call) -> dict[int, Index]:
        """The values of a statement's loops and of the parameters, by position."""
        return dict(enumerate((*call.arguments, *self.parameters.values())))

    def _known(self, user: str, arguments: Mapping[int, Index]) -> dict[Index, Index]:
        """The values of the loops around a statement, by what they are functions of."""
        return {
            self._schedule(loop, user).substitute(arguments): value
            for loop, value in self.storage.loops
            if user in loop.schedule
        }

    def loop_value(self, loop: Loop, call: Call) -> Index:
        """The value of a loop when the call runs."""
        return self._schedule(loop, call.statement).substitute(self._arguments(call))

    def _schedule(self, loop: Loop, user: str) -> Index:
        """The value of a loop as a function of a statement's loops, and of the parameters."""
        key = (id(loop), user)
        if key not in self.schedules:
            inputs = len(self.statements[user].loops)
            self.schedules[key] = aff_form(loop.schedule[user], inputs, self.parameters)
        return self.schedules[key]

    def can_use_lanes(self, call: Call, lanes: Lanes) -> bool:
        """Whether every access and index of the call is linear in the lane and no store repeats."""
        statement = self.statements[call.statement]
        if statement.is_opaque:
            return False
        arguments = self._arguments(call)
        for access in statement.accesses:
            located = along_lanes(self._subscripts(access, statement.name, arguments), lanes)
            if located is None:
                return False
            if access.kind is AccessKind.WRITE and not any(located.steps):
                return False
            if stride_in(self.storage.memref(access.array, statement.name), located.steps) is None:
                return False
        indices = statement.indices.values()
        return all(self._along(statement, each, arguments, lanes) is not None for each in indices)

    def _along(
        self,
        statement: Statement,
        expression: AffineExpr,
        arguments: Mapping[int, Index],
        lanes: Lanes,
    ) -> tuple[Index, int] | None:
        """An index in the first lane, and its step from lane to lane."""
        index = linear_form(expression, len(statement.loops)).substitute(arguments)
        return index.along(lanes.variable, lanes.width)

    def rows(self, call: Call, lanes: Lanes) -> Iterator[RowAccess]:
        """The accesses of the call along a row from lane to lane, where pitches are known."""
        arguments = self._arguments(call)
        for access in self.statements[call.statement].accesses:
            memref = self.storage.memref(access.array, call.statement)
            located = along_lanes(self._subscripts(access, call.statement, arguments), lanes)
            place = located and elements_to(memref, located.first)
            if located is not None and located.is_contiguous and place is not None:
                yield RowAccess(memref, place, is_store=access.kind is AccessKind.WRITE)

    def gathers(self, call: Call, lanes: Lanes) -> bool:
        """Whether lanes of an access of the call lie apart in memory."""
        return any(self._lies_apart(call, lanes, self.statements[call.statement].accesses))

    def scatters(self, call: Call, lanes: Lanes) -> bool:
        """Whether lanes of all stores of the call lie apart in memory."""
        return all(self._lies_apart(call, lanes, self.statements[call.statement].writes))

    def _lies_apart(self, call: Call, lanes: Lanes, accesses: Iterable[Access]) -> Iterator[bool]:
        arguments = self._arguments(call)
        for access in accesses:
            place = along_lanes(self._subscripts(access, call.statement, arguments), lanes)
            yield place is None or (any(place.steps) and not place.is_contiguous)

    def _subscripts(self, access: Access, user: str, arguments: Mapping[int, Index]) -> list[Index]:
        """Those in memory: which partial result a tile has is said by the loop over tiles."""
        program = self._program_subscripts(access, arguments)
        if access.array.argument is None and any(map(_is_rounded, program)):
            known = self._known(user, arguments)
            program = [known.get(subscript, subscript) for subscript in program]
        return self.storage.subscripts(access.array, user, program)

    def _program_subscripts(self, access: Access, arguments: Mapping[int, Index]) -> list[Index]:
        return [form.substitute(arguments) for form in self.forms[id(access)]]

    def _compute(
        self,
        statement: Statement,
        operation: Operation,
        values: dict[SSAValue, SSAValue],
        arguments: Mapping[int, Index],
        lanes: Lanes | None,
    ) -> None:
        if isinstance(operation, memref.LoadOp):
            values[operation.res] = self.gather(statement, operation, values, arguments, lanes)
            return
        operands = [
            self._operand(statement, operand, values, arguments, lanes)
            for operand in operation.operands
        ]
        types = list(operation.result_types)
        if lanes is not None and any(is_vector(operand.type) for operand in operands):
            operands = [self._broadcast(operand, lanes.width) for operand in operands]
            types = [vector_of(kind, lanes.width) for kind in types]
        copy = self.builder.emit(
            type(operation).create(
                operands=operands,
                result_types=types,
                properties=dict(operation.properties),
                attributes=dict(operation.attributes),
            )
        )
        keep_fused(copy, operation)
        values.update(zip(operation.results, copy.results, strict=True))

    def _call(
        self,
        statement: Statement,
        call: func.CallOp,
        values: Mapping[SSAValue, SSAValue],
        arguments: Mapping[int, Index],
        known: Mapping[Index, Index],
    ) -> None:
        """A call of an opaque region, behind which no loaded value is known."""
        operands = [
            self._passed(statement, operand, arguments, known)
            if operand in self.memrefs
            else self._operand(statement, operand, values, arguments, None)
            for operand in call.arguments
        ]
        copy = func.CallOp(call.callee, operands, [])
        copy.attributes |= call.attributes
        self.builder.emit(copy)
        self.builder.forget(lambda key: isinstance(key, _Loaded))

    def _passed(
        self,
        statement: Statement,
        operand: SSAValue,
        arguments: Mapping[int, Index],
        known: Mapping[Index, Index],
    ) -> SSAValue:
        """The array that an opaque region takes, or the partial result in place of it.

        `known` are the values of the loops around, by what they are functions of.
        """
        array = self.memrefs[operand]
        accesses = (each for each in statement.accesses if each.is_opaque)
        access = next((each for each in accesses if each.array.value is operand), None)
        if access is None or access.array is array:
            return cast_to(self.builder, self.storage.memref(array, statement.name), operand.type)
        partial = self.storage.memref(access.array, statement.name)
        program = self._program_subscripts(access, arguments)
        found = [known.get(subscript, subscript) for subscript in program]
        subscripts = self.storage.subscripts(access.array, statement.name, found)
        sizes = self.storage.placements[access.array.name, statement.name].sizes
        rank = len(array.shape)
        first, extents = subscripts[: len(subscripts) - rank], sizes[len(sizes) - rank :]
        return row_of(self.builder, partial, first, extents, operand.type)

    def gather(
        self,
        statement: Statement,
        operation: memref.LoadOp,
        values: Mapping[SSAValue, SSAValue],
        arguments: Mapping[int, Index],
        lanes: Lanes | None,
    ) -> SSAValue:
        """A load at subscripts that depend on data."""
        array = self.storage.arguments[self.arrays[operation.memref].name]
        indices = [
            self._operand(statement, index, values, arguments, lanes) for index in operation.indices
        ]
        if lanes is None or not any(is_vector(index.type) for index in indices):
            load = memref.LoadOp.get(array, indices)
            load.attributes[self._mark(statement, operation)] = UnitAttr()
            return self.builder.emit(load).results[0]
        *rows, offsets = indices
        first = Index()
        column = statement.indices.get(operation.indices[-1])
        located = column and self._along(statement, column, arguments, lanes)
        mask, mark = self._mask(lanes), self._mark(statement, operation)
        if any(is_vector(row.type) for row in rows):
            broadcast = partial(self._broadcast, width=lanes.width)
            if mark == CHECKED:
                mask = lanes_inside(self.builder, array, indices, mask, lanes.width, broadcast)
                mark = INSPECTED
            offsets = gather_offsets(self.builder, array, indices, broadcast)
            rows = [self.builder.constant(0, IndexType())] * len(rows)
        elif located and located[1] == 1:
            first, offsets = located[0], self._lane_offsets(lanes.width, 1)
        kind = vector_of(operation.res.type, lanes.width)
        places = [*rows, self.builder.value(first)]
        gather = vector.GatherOp(array, places, offsets, mask, self._zero(kind))
        gather.attributes[mark] = UnitAttr()
        return self.builder.emit(gather).result

    def _mark(self, statement: Statement, gather: memref.LoadOp) -> str:
        is_inspected = gather in self.inspected.get(statement.name, ())
        return INSPECTED if is_inspected or gather in self._bounded(statement) else CHECKED

    def _bounded(self, statement: Statement) -> frozenset[memref.LoadOp]:
        """The gathers of a statement that are inside of their arrays, whose extents are known."""
        if statement.name not in self.bounded:

            def shape(array: SSAValue) -> list[int | None]:
                kind = self.storage.arguments[self.arrays[array].name].type
                assert isinstance(kind, MemRefType)
                return [None if extent < 0 else extent for extent in kind.get_shape()]

            self.bounded[statement.name] = bounded_gathers(statement, shape)
        return self.bounded[statement.name]

    def _operand(
        self,
        statement: Statement,
        operand: SSAValue,
        values: Mapping[SSAValue, SSAValue],
        arguments: Mapping[int, Index],
        lanes: Lanes | None,
    ) -> SSAValue:
        expression = statement.indices.get(operand)
        if expression is None:
            return values[operand]
        index = linear_form(expression, len(statement.loops)).substitute(arguments)
        value = self._index_value(index, lanes)
        if isinstance(operand.type, IndexType):
            return value
        kind = operand.type
        width = lanes.width if lanes is not None and is_vector(value.type) else None
        result = kind if width is None else vector_of(kind, width)
        cast = IndexCastOp.create(operands=[value], result_types=[result])
        return self.builder.emit(cast).results[0]

    def _index_value(self, index: Index, lanes: Lanes | None) -> SSAValue:
        if lanes is None:
            return self.builder.value(index)
        located = index.along(lanes.variable, lanes.width)
        assert located is not None, "checked by can_use_lanes"
        first_lane, stride = located
        base = self.builder.value(first_lane)
        if stride == 0:
            return base
        steps = self._lane_offsets(lanes.width, stride)
        first = self._broadcast(base, lanes.width)
        return self.builder.emit(
            arith.AddiOp.create(operands=[first, steps], result_types=[steps.type])
        ).results[0]

    def _lane_offsets(self, width: int, stride: int) -> SSAValue:
        kind = vector_of(IndexType(), width)
        lanes = tuple(stride * lane for lane in range(width))
        return self.builder.emit(vector_constant(kind, lanes)).result

    def _broadcast(self, value: SSAValue, width: int) -> SSAValue:
        if is_vector(value.type):
            return value
        kind = vector_of(value.type, width)
        return self.builder.once(
            (value, width),
            lambda: self.builder.emit(
                xdsl_vector.BroadcastOp.create(operands=[value], result_types=[kind])
            ).results[0],
        )

    def _reused_load(
        self, access: Access, user: str, arguments: Mapping[int, Index], lanes: Lanes | None
    ) -> SSAValue:
        place = locate(self._subscripts(access, user, arguments), lanes)
        key = _Loaded(self.storage.memref(access.array, user), place)
        return self.builder.once(key, lambda: self._load(access, user, place))

    def _load(self, access: Access, user: str, place: Place) -> SSAValue:
        memref = self.storage.memref(access.array, user)
        lanes = place.lanes
        if lanes is None or (place.is_contiguous and lanes.mask is None):
            attribute, operands = self.builder.map(place.first)
            element = access.array.element_type
            kind = element if lanes is None else vector_of(element, lanes.width)
            operation = affine.LoadOp if lanes is None else affine.VectorLoadOp
            return self.builder.emit(
                operation.create(
                    operands=[memref, *operands],
                    properties={"map": attribute},
                    result_types=[kind],
                )
            ).results[0]
        kind = vector_of(access.array.element_type, lanes.width)
        operands = [self.builder.value(index) for index in place.first]
        if place.is_contiguous:
            return self.builder.emit(
                xdsl_vector.MaskedLoadOp(memref, operands, self._mask(lanes), self._zero(kind))
            ).result
        stride = stride_in(memref, place.steps)
        assert stride is not None, "checked by can_use_lanes"
        offsets = self._lane_offsets(lanes.width, stride)
        return self.builder.emit(
            vector.GatherOp(memref, operands, offsets, self._mask(lanes), self._zero(kind))
        ).result

    def _store(
        self,
        access: Access,
        user: str,
        subscripts: list[Index],
        value: SSAValue,
        lanes: Lanes | None,
    ) -> None:
        memref = self.storage.memref(access.array, user)
        self.builder.forget(lambda key: isinstance(key, _Loaded) and key.memref is memref)
        place = locate(subscripts, lanes)
        if lanes is not None:
            value = self._broadcast(value, lanes.width)
        if lanes is None or (place.is_contiguous and lanes.mask is None):
            attribute, operands = self.builder.map(place.first)
            operation = affine.StoreOp if lanes is None else affine.VectorStoreOp
            self.builder.emit(
                operation.create(operands=[value, memref, *operands], properties={"map": attribute})
            )
            return
        operands = [self.builder.value(index) for index in place.first]
        if place.is_contiguous:
            self.builder.emit(xdsl_vector.MaskedStoreOp(memref, operands, self._mask(lanes), value))
            return
        stride = stride_in(memref, place.steps)
        assert stride is not None, "checked by can_use_lanes"
        offsets = self._lane_offsets(lanes.width, stride)
        self.builder.emit(vector.ScatterOp(memref, operands, offsets, self._mask(lanes), value))

    def _mask(self, lanes: Lanes) -> SSAValue:
        if lanes.mask is not None:
            return lanes.mask
        kind = vector_of(i1, lanes.width)
        return self.builder.emit(vector_constant(kind, (1,) * lanes.width)).result

    def _zero(self, kind: VectorType[Attribute]) -> SSAValue:
        return self.builder.once(
            ("zero", kind), lambda: self.builder.emit(vector_of_zeros(kind)).result
        )


def _is_rounded(index: Index) -> bool:
    """Whether an index is the quotient of another one."""
    return any(isinstance(atom, Quotient) for atom, _ in index.terms)
