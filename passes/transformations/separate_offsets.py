"""Separation of offsets: sums of products of integers less zero points, as sums of the integers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import islpy as isl
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineExpr, AffineMap
from xdsl.utils.hints import isa

from ..polyhedral.offset_products import Factor, needed, offset_product
from ..polyhedral.schedule_tree import (
    Tree,
    loops_around,
    nest_of,
    replace_node,
    sequence,
    statements,
    without_marks,
)
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..schedules.errors import MalformedTransformation
from ..schedules.program_edits import (
    as_base,
    check_as_written,
    free_name,
    loops_over,
    make_access,
    make_load,
    make_store,
    named_domain,
    only_statement,
    program_order,
    put_inside,
    variables_of,
)
from ..schedules.schedule import Schedule, Transformation, option

_SET = isl.dim_type.set


@dataclass(frozen=True)
class SeparateOffsets(Transformation):
    """Multiplies out a sum of products of integers that have offsets, as quantised layers do.

    Exact, as integers wrap around. The sums of single factors are computed in front of the nest.
    Products of what is loaded can then be added in pairs (Jacob et al., "Quantization and training
    of neural networks for efficient integer-arithmetic-only inference", CVPR 2018, section 2.3).
    `separate-offsets{statements=S1}`:

        for i: for j:                           for i: for k: P[i] += A[i, k]
          for k:                                for j: for k: Q[j] += B[k, j] - v
            S1: C[i, j] += (A[i, k] - u)   ->   for i: for j:
                           * (B[k, j] - v)        C[i, j] += - v * P[i] - u * Q[j]
                                                  for k: S1: C[i, j] += A[i, k] * B[k, j]
    """

    name: ClassVar[str] = "separate-offsets"
    symbol: ClassVar[str] = "SO"
    works_in_run_time_tiles: ClassVar[bool] = False

    loops: tuple[str, ...] = option("none: the statement says what is multiplied out", default=())
    statements: tuple[str, ...] = option("the statement with the sum", default=())

    @property
    def subject(self) -> str:
        return f"separate-offsets of {', '.join(self.statements)}"

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        name = only_statement(schedule, self.loops, self.statements)
        scop = _Separation(schedule, schedule.scop.statement(name)).program()
        return as_base(scop), scop.tree


@dataclass(frozen=True)
class _Sum:
    """The sum of a factor in an array of its own, and the offset of the other one that it has."""

    array: Array
    subscripts: tuple[int, ...]
    offset: Factor
    statements: tuple[Statement, Statement]


class _Separation:
    """The program with the products that a statement adds up multiplied out.

    Induction variables of the statement are named by their positions: `terms` are those along which
    it adds up, `alone` the first one of loops that have no other statement.
    """

    def __init__(self, schedule: Schedule, statement: Statement) -> None:
        self.schedule = schedule
        self.old = schedule.scop
        self.statement = statement
        self.name = statement.name
        found = offset_product(statement, schedule.dependences.accumulations.get(self.name))
        if found is None:
            raise MalformedTransformation(
                f"{self.name} adds up no products of short integers with offsets, "
                "as in s += (a[k] - u) * (b[k] - v)"
            )
        self.product = found
        self.around = loops_around(schedule.tree, self.name)
        check_as_written(statement, self.around)
        self.alone = sum(statements(loop.body) != (self.name,) for loop in self.around)
        moved = variables_of(found.store.map.results)
        count = len(self.around)
        self.terms = [k for k in range(self.alone, count) if k not in moved]
        self.kept = [k for k in range(count) if k not in self.terms]
        self.taken = {each.name for each in self.old.statements}

    def program(self) -> Scop:
        """The program; raises MalformedTransformation where there is none."""
        self._check_offsets()
        first, second = self.product.factors
        # The second factor is added up with its offset: the product of both offsets is in it.
        pairs = [(first.value, second), (second.whole, first)]
        sums = [self._sum(value, other) for value, other in pairs if other.offset is not None]
        correction = self._correction(sums)
        nest = nest_of(self.schedule.tree, self.name)
        outer, top = self.around[: self.alone], self.around[self.alone]
        body = sequence([loops_over(correction, self.alone), top])
        before = [each for one in sums for each in one.statements]
        parts = [loops_over(each, 0) for each in before]
        parts.append(put_inside(nest, outer, top, body, [correction]))
        tree = without_marks(replace_node(self.schedule.tree, nest, sequence(parts)))
        ordered = program_order(self.old, tree, [*before, correction, self._plain()])
        arrays = (*self.old.arrays, *(each.array for each in sums))
        return replace(self.old, arrays=arrays, statements=ordered, tree=tree)

    def _check_offsets(self) -> None:
        """Offsets stay along the sum, and nothing in the nest writes what is loaded."""
        offsets = [each.offset for each in self.product.factors if each.offset is not None]
        computed = list(needed(self.statement, offsets))
        used = [each for read in self._reads(computed) for each in read.map.results]
        used += self._indices(computed, offsets).values()
        if not self.terms or set(self.terms) & variables_of(used):
            raise MalformedTransformation(
                f"the offsets must be the same for all that {self.name} adds to one element"
            )
        nest = statements(nest_of(self.schedule.tree, self.name))
        written = {a.array.name for name in nest for a in self.old.statement(name).writes}
        for read in self.statement.reads:
            if read is not self.product.load and read.array.name in written:
                raise MalformedTransformation(
                    f"{read.array.name}, which {self.name} reads, is written in the same nest: "
                    "distribute it first"
                )

    def _reads(self, operations: Iterable[Operation]) -> Iterable[Access]:
        inside = list(operations)
        return (read for read in self.statement.reads if read.op in inside)

    def _indices(
        self, operations: Iterable[Operation], values: Iterable[SSAValue] = ()
    ) -> Mapping[SSAValue, AffineExpr]:
        """What operations use of induction variables and sizes, and what values are of them."""
        used = {*values, *(operand for op in operations for operand in op.operands)}
        return {key: each for key, each in self.statement.indices.items() if key in used}

    def _sum(self, value: SSAValue, other: Factor) -> _Sum:
        """The sums of a factor, for all others of the induction variables that it depends on."""
        body = list(needed(self.statement, [value]))
        reads = list(self._reads(body))
        used = [each for read in reads for each in read.map.results]
        used += self._indices(body).values()
        rows = tuple(k for k in self.kept if k in variables_of(used))
        inside = tuple(sorted((*rows, *self.terms)))
        self._check_rectangular(rows)
        store, source = self.product.store.array, reads[0].array.name
        name = free_name(f"sum_{source}", {array.name for array in self.old.arrays} | self.taken)
        array = Array(name, store.element_type, (None,) * len(rows), store.value, None)
        start, _ = self._copied(f"start_{source}", rows)
        kind = store.element_type
        assert isa(kind, IntegerType), "sums of integers are multiplied out"
        zero = arith.ConstantOp(IntegerAttr(0, kind))
        start = self._storing(start, [zero], array, self._place(rows, rows))
        total, (term,) = self._copied(f"add_{source}", inside, [value])
        element = self._place(rows, inside)
        load = make_load(array, element)
        read = make_access(self.old, AccessKind.READ, array, element, total.domain, load)
        total = replace(total, accesses=(*total.accesses, read))
        added = arith.AddiOp(load.results[0], term)
        total = self._storing(total, [load, added], array, element)
        self.taken.add(name)
        return _Sum(array, rows, other, (start, total))

    def _check_rectangular(self, rows: Sequence[int]) -> None:
        """What is added up for an element does not depend on more than the sum of a factor does."""
        domain = self.statement.domain
        rest = self._without(domain, self.terms)
        own = self._without(domain, [k for k in self.kept if k not in rows])
        if (
            not self._lifted(rest, self.kept)
            .intersect(self._lifted(own, sorted((*rows, *self.terms))))
            .is_subset(domain.reset_tuple_id())
        ):
            raise MalformedTransformation(
                f"which products {self.name} adds up must not depend on the element"
            )

    def _without(self, domain: isl.Set, gone: Sequence[int]) -> isl.Set:
        for position in sorted(gone, reverse=True):
            domain = domain.project_out(_SET, position, 1)
        return domain.reset_tuple_id()

    def _lifted(self, domain: isl.Set, positions: Sequence[int]) -> isl.Set:
        """All points with coordinates at some positions as in a set."""
        for position in range(len(self.around)):
            if position not in positions:
                domain = domain.insert_dims(_SET, position, 1)
        return domain

    def _correction(self, sums: Sequence[_Sum]) -> Statement:
        """`s += offset * sum`, or less it, for each sum of a factor."""
        store = self.product.store
        values = [each.offset.offset for each in sums if each.offset.offset is not None]
        result, offsets = self._copied(f"offsets_{self.name}", self.kept, values)
        element = self._moved(store.map, self.kept)
        places = [
            (store.array, element),
            *((each.array, self._place(each.subscripts, self.kept)) for each in sums),
        ]
        loads = [make_load(*place) for place in places]
        accesses = [
            make_access(self.old, AccessKind.READ, *place, result.domain, load)
            for place, load in zip(places, loads, strict=True)
        ]
        operations: list[Operation] = [*loads]
        total = loads[0]
        for each, offset, part in zip(sums, offsets, loads[1:], strict=True):
            scaled = arith.MuliOp(offset, part.results[0])
            kind = arith.AddiOp if each.offset.is_added else arith.SubiOp
            total = kind(total.results[0], scaled.results[0])
            operations += [scaled, total]
        result = replace(result, accesses=(*result.accesses, *accesses))
        return self._storing(result, operations, store.array, element)

    def _plain(self) -> Statement:
        """The statement without offsets."""
        first, second = (factor.value for factor in self.product.factors)
        loads = [self.product.load.op, *needed(self.statement, [first, second])]
        values: dict[SSAValue, SSAValue] = {}
        own = {op: op.clone(values) for op in self.statement.body if op in loads}
        product = arith.MuliOp(values[first], values[second])
        added = arith.AddiOp(own[self.product.load.op].results[0], product.result)
        store = self.product.store
        stored = make_store(added, store.array, store.map)
        kept = [a for a in self.statement.reads if a.op in own]
        accesses = tuple(replace(a, op=own[a.op]) for a in kept)
        body = (*own.values(), product, added, stored)
        return replace(self.statement, accesses=(*accesses, replace(store, op=stored)), body=body)

    def _copied(
        self, name: str, positions: Sequence[int], values: Sequence[SSAValue] = ()
    ) -> tuple[Statement, list[SSAValue]]:
        """A statement for some of the induction variables that computes values; its copies of them.

        It stores nothing yet.
        """
        name = free_name(name, self.taken)
        self.taken.add(name)
        loops = tuple(self.statement.loops[k] for k in positions)
        gone = [k for k in range(len(self.around)) if k not in positions]
        domain = named_domain(self._without(self.statement.domain, gone), name, loops)
        body = list(needed(self.statement, values))
        copies: dict[SSAValue, SSAValue] = {}
        own = {op: op.clone(copies) for op in body}
        accesses = tuple(
            make_access(self.old, a.kind, a.array, self._moved(a.map, positions), domain, own[a.op])
            for a in self._reads(body)
        )
        indices = {
            key: self._moved(
                AffineMap(len(self.around), len(self.old.parameters), (each,)), positions
            )
            for key, each in self._indices(body, values).items()
        }
        subscripts = {key: map_.results[0] for key, map_ in indices.items()}
        result = Statement(name, loops, domain, accesses, tuple(own.values()), subscripts)
        return result, [copies.get(value, value) for value in values]

    def _storing(
        self, statement: Statement, operations: Sequence[Operation], array: Array, place: AffineMap
    ) -> Statement:
        """A statement with more operations, and a store of the last one's result, at its end."""
        store = make_store(operations[-1], array, place)
        write = make_access(self.old, AccessKind.WRITE, array, place, statement.domain, store)
        return replace(
            statement,
            accesses=(*statement.accesses, write),
            body=(*statement.body, *operations, store),
        )

    def _moved(self, map_: AffineMap, positions: Sequence[int]) -> AffineMap:
        """A map of some of the induction variables, which the others do not matter to."""
        dims: list[AffineExpr] = [AffineExpr.constant(0)] * map_.num_dims
        for number, position in enumerate(positions):
            dims[position] = AffineExpr.dimension(number)
        own = [AffineExpr.symbol(k) for k in range(map_.num_symbols)]
        results = tuple(each.replace_dims_and_symbols(dims, own) for each in map_.results)
        return AffineMap(len(positions), map_.num_symbols, results)

    def _place(self, subscripts: Sequence[int], positions: Sequence[int]) -> AffineMap:
        """Some of the induction variables, as subscripts."""
        results = tuple(AffineExpr.dimension(list(positions).index(k)) for k in subscripts)
        return AffineMap(len(positions), len(self.old.parameters), results)
