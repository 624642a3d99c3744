"""Reduction privatisation (rfactor): partial results for the iterations of a loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, TypeVar

import islpy as isl
from xdsl.dialects import arith
from xdsl.ir.affine import AffineExpr, AffineMap

from ..polyhedral.aff_expression import aff_expression
from ..polyhedral.reduction_kinds import ReductionKind, accumulation_kind
from ..polyhedral.reductions import Accumulation
from ..polyhedral.schedule_tree import Loop, Tree, sequence, statements, without_marks
from ..polyhedral.scop import Access, AccessKind, Array, Scop, Statement
from ..schedules.errors import MalformedTransformation
from ..schedules.program_edits import (
    free_name,
    loops_over,
    make_access,
    make_load,
    make_store,
    named_domain,
    outer_values,
    put_inside,
    symbols,
)
from ..schedules.schedule import Schedule, Steps, Transformation

_T = TypeVar("_T")

_OUT = isl.dim_type.out


@dataclass(frozen=True)
class Rfactor(Transformation):
    """Privatises a reduction: each iteration of a loop accumulates into its own partial result.

    The partial results start at the neutral element and are combined after the outermost loop of
    the reduction, so that the loop can then be parallel or vectorised. For a point loop there is
    one per point of a tile: the lanes of a vector, next to each other in memory. Those of any other
    loop are arrays of their own, one after the other: for threads. All reductions along the loop
    get partial results, whatever their operations are; one whose elements depend on data, as in a
    histogram, has a copy of the whole array. Reassociates: floating-point sums and
    products, `maxnumf`, `minnumf` and extrema by comparison need `fast_math`, or
    `fastmath<reassoc>` on the operation.
    (The name is Halide's: Suriana, Adams, Kamil, "Parallel associative reductions in Halide", CGO
    2017.)
    `rfactor{loops=k}`:

        for i:                          for i:
          for kt:                         for k in [0, 8): P[k] = 0
            for k in tile kt:     ->      for kt:
              s[i] += A[i, k]               for k in tile kt: P[k mod 8] += A[i, k]
                                          for k in [0, 8): s[i] += P[k]
    """

    name: ClassVar[str] = "rfactor"
    symbol: ClassVar[str] = "RF"
    works_in_run_time_tiles: ClassVar[bool] = False

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        if len(self.loops) != 1:
            raise MalformedTransformation("name the one loop whose iterations get partial results")
        loop = schedule.loop(self.loops[0])
        found = _accumulations(schedule, loop)
        if not found:
            raise MalformedTransformation(
                f"a statement must accumulate along {loop.name}, as in s[i] = s[i] + ...; none does"
            )
        current = schedule
        for statement, accumulation in found:
            if not accumulation.reassociable and not schedule.reassociate:
                raise MalformedTransformation(
                    f"{statement.name} accumulates floating-point numbers, whose order matters: "
                    "allow reassociation with fast_math=True (--fast-math), or fastmath<reassoc> "
                    "in the program"
                )
            scop, tree = _Factoring(current, loop, (statement, accumulation)).program()
            current = replace(current, scop=scop, tree=tree)
        return current.scop, current.tree


def privatised(schedule: Schedule, illegal: Transformation) -> Iterator[Steps]:
    """The step after the reductions along its one loop have been given partial results."""
    if len(illegal.loops) != 1:
        return
    (name,) = illegal.loops
    loop = schedule.loop(name)
    found = _accumulations(schedule, loop)
    if found:
        inside = f"{found[0][0].name}.{loop.name}"
        yield (Rfactor((name,)), replace(illegal, loops=(inside,)))


def _accumulations(schedule: Schedule, loop: Loop) -> list[tuple[Statement, Accumulation]]:
    """The statements inside that accumulate along the loop."""
    return [
        (schedule.scop.statement(name), accumulation)
        for name in statements(loop.body)
        if (accumulation := schedule.dependences.accumulations.get(name)) is not None
        and _carries(loop, schedule.outer(loop), accumulation)
    ]


def _carries(loop: Loop, outer: tuple[Loop, ...], accumulation: Accumulation) -> bool:
    """Whether steps in different iterations of the loop, but of no loop outside, meet."""
    pairs = isl.UnionMap.from_map(accumulation.pairs)
    name = accumulation.store.relation.get_tuple_name(isl.dim_type.in_)
    assert name is not None
    for around in outer:
        pairs = pairs.eq_at_multi_union_pw_aff(_value(around, name))
    return not pairs.lex_lt_at_multi_union_pw_aff(_value(loop, name)).is_empty()


def _value(loop: Loop, name: str) -> isl.MultiUnionPwAff:
    piece = isl.UnionPwAff.from_pw_aff(isl.PwAff.from_aff(loop.schedule[name]))
    return isl.MultiUnionPwAff.from_union_pw_aff(piece)


class _Factoring:
    """The program with partial results for the iterations of `loop`."""

    def __init__(
        self, schedule: Schedule, loop: Loop, found: tuple[Statement, Accumulation]
    ) -> None:
        self.schedule = schedule
        self.loop = loop
        self.statement, self.accumulation = found
        self.old = schedule.scop
        self.array = self.accumulation.store.array
        path = (*schedule.outer(loop), loop)
        depth = next(
            k for k, member in enumerate(path) if _carries(member, path[:k], self.accumulation)
        )
        self.outer, self.top = path[:depth], path[depth]
        self.buffer = Array(
            free_name(f"{self.array.name}_partial", {a.name for a in self.old.arrays}),
            self.array.element_type,
            (None,) * (depth + len(self.array.shape) + 1),
            self.array.value,
            None,
            scope_depth=depth,
        )

    def program(self) -> tuple[Scop, Tree]:
        self._check_alone()
        self._check_scattered()
        first = self._initialisation(self._over_partial_results("init"))
        last = self._combination(self._over_partial_results("combine"))
        inside = self._redirected()
        depth = len(self.outer)
        body = sequence([loops_over(first, depth), self.top, loops_over(last, depth)])
        tree = put_inside(self.schedule.tree, self.outer, self.top, body, (first, last))
        changed = tuple(inside if s is self.statement else s for s in self.old.statements)
        scop = replace(
            self.old,
            arrays=(*self.old.arrays, self.buffer),
            statements=(*changed, first, last),
            tree=without_marks(tree),
        )
        return scop, tree

    def _check_alone(self) -> None:
        """While the reduction runs, the array must not show that its result is in parts."""
        own_values = outer_values(self.outer, self.statement).reverse()
        elements = own_values.apply_range(self.accumulation.store.relation)
        for name in statements(self.top):
            other = self.old.statement(name)
            own = (self.accumulation.load, self.accumulation.store)
            for access in other.accesses:
                if access.array != self.array or any(access is mine for mine in own):
                    continue
                values = outer_values(self.outer, other).reverse()
                if not values.apply_range(access.relation).intersect(elements).is_empty():
                    raise MalformedTransformation(
                        f"{name} uses {self.array.name} inside {self.top.name}, while its values "
                        "are still partial: distribute it first"
                    )

    def _check_scattered(self) -> None:
        """A reduction in elements that depend on data has partial results as large as its array."""
        store = self.accumulation.store
        if not store.is_opaque:
            return
        where = f"{self.statement.name} accumulates in elements of {self.array.name} that depend"
        if len(store.unknown) != len(store.map.results):
            raise MalformedTransformation(
                f"{where} on data in some dimensions only: partial results are for all of it"
            )
        if self.loop.within is not None:
            raise MalformedTransformation(
                f"{where} on data: each partial result is a copy of {self.array.name}, for a "
                "thread and not for a lane; name the loop over tiles"
            )

    @property
    def _lane(self) -> AffineExpr:
        """Which partial result an instance of the statement accumulates into."""
        value = aff_expression(self.loop.schedule[self.statement.name], symbols(self.old))
        return value if self.loop.within is None else value % self.loop.within.size

    def _redirected(self) -> Statement:
        """The statement with the buffer in place of the array."""
        positions = symbols(self.old)
        name = self.statement.name
        outer = [aff_expression(loop.schedule[name], positions) for loop in self.outer]
        own = (self.accumulation.load, self.accumulation.store)
        accesses = tuple(
            self._in_buffer(access, outer) if any(access is mine for mine in own) else access
            for access in self.statement.accesses
        )
        return replace(self.statement, accesses=accesses)

    def _in_buffer(self, access: Access, outer: list[AffineExpr]) -> Access:
        results = [*outer, *self._cell(self._lane, access.map.results)]
        place = self._map(access.map.num_dims, results)
        domain = self.statement.domain
        made = make_access(self.old, access.kind, self.buffer, place, domain, access.op)
        if not access.is_opaque:
            return made
        first = len(results) - len(access.map.results)
        rows = made.relation.project_out(_OUT, first, len(access.map.results))
        relation = rows.flat_range_product(access.relation)
        return replace(
            made,
            relation=relation.set_tuple_name(_OUT, self.buffer.name),
            unknown=tuple(first + position for position in access.unknown),
            is_opaque=True,
        )

    def _cell(self, lane: _T, subscripts: Sequence[_T]) -> list[_T]:
        """Subscripts of a partial result behind those of the outer loops."""
        return [lane, *subscripts] if self.loop.within is None else [*subscripts, lane]

    def _over_partial_results(self, prefix: str) -> Statement:
        """A statement that runs once per partial result, still without accesses."""
        taken = {statement.name for statement in self.old.statements}
        name = free_name(f"{prefix}_{self.array.name}", taken)
        iterators = (
            *(loop.name for loop in self.outer),
            *self._cell(
                self.loop.name, [f"{self.array.name}{k}" for k in range(len(self.array.shape))]
            ),
        )
        partial_results = self._redirected().writes[0].relation.range()
        return Statement(name, iterators, named_domain(partial_results, name, iterators), (), ())

    def _map(self, dims: int, results: list[AffineExpr]) -> AffineMap:
        return AffineMap(dims, len(self.old.parameters), tuple(results))

    def _dims(self, statement: Statement) -> list[AffineExpr]:
        return [AffineExpr.dimension(k) for k in range(len(statement.loops))]

    def _initialisation(self, statement: Statement) -> Statement:
        """`P[...] = neutral`."""
        kind = self._kind
        neutral = arith.ConstantOp(kind.neutral)
        place = self._map(len(statement.loops), self._dims(statement))
        store = make_store(neutral, self.buffer, place)
        access = make_access(
            self.old, AccessKind.WRITE, self.buffer, place, statement.domain, store
        )
        return replace(statement, accesses=(access,), body=(neutral, store))

    def _combination(self, statement: Statement) -> Statement:
        """`A[...] = A[...] op P[...]`."""
        dims = self._dims(statement)
        place = self._map(len(dims), dims)
        first = len(self.outer) + (1 if self.loop.within is None else 0)
        element = self._map(len(dims), dims[first : first + len(self.array.shape)])
        whole, part = (make_load(self.array, element), make_load(self.buffer, place))
        combined = self._kind.combine(whole.results[0], part.results[0])
        store = make_store(combined[-1], self.array, element)
        domain = statement.domain
        accesses = (
            make_access(self.old, AccessKind.READ, self.array, element, domain, whole),
            make_access(self.old, AccessKind.READ, self.buffer, place, domain, part),
            make_access(self.old, AccessKind.WRITE, self.array, element, domain, store),
        )
        return replace(statement, accesses=accesses, body=(whole, part, *combined, store))

    @property
    def _kind(self) -> ReductionKind:
        operation = self.accumulation.operation
        return accumulation_kind(self.accumulation.store.op, operation, self.array.element_type)
