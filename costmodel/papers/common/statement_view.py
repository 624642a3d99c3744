"""Model inputs of a statement: domain, access matrices, expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl
from xdsl.ir import Operation, SSAValue

from ....passes.estimate.program_statistics import ProgramStatistics, StatementStatistics, bytes_of
from ....passes.polyhedral.counting import fix_parameters
from ....passes.polyhedral.scop import Access

MOST_CONSTRAINTS = 16
MOST_RANK = 5
MOST_ACCESSES = 21
"""Terms of an assignment (Tiramisu 2021, section 4.2: m = 21)."""

MOST_OPERATIONS = 64

OPERATIONS: Mapping[str, tuple[str, ...]] = {
    "add": ("arith.addf", "arith.addi"),
    "subtract": ("arith.subf", "arith.subi"),
    "multiply": ("arith.mulf", "arith.muli"),
    "divide": ("arith.divf", "arith.divsi", "arith.divui", "arith.remsi", "arith.remf"),
    "minimum": ("arith.minimumf", "arith.minnumf", "arith.minsi", "arith.minui"),
    "maximum": ("arith.maximumf", "arith.maxnumf", "arith.maxsi", "arith.maxui"),
    "root": ("math.sqrt", "math.rsqrt"),
    "exponential": ("math.exp", "math.exp2", "math.log", "math.powf", "math.tanh"),
    "sign": ("math.absf", "math.absi", "arith.negf"),
    "choice": ("arith.select", "arith.cmpf", "arith.cmpi"),
}
"""Kinds of operations, with those of the dialects; all others are of the kind `other`."""

OPERATION_KINDS = (*OPERATIONS, "other")
_KIND_OF = {name: kind for kind, names in OPERATIONS.items() for name in names}
_SILENT = frozenset(
    {"affine.load", "affine.store", "affine.apply", "arith.constant", "arith.index_cast"}
)

ELEMENT_TYPES = ("f32", "f64", "i32", "i64")


@dataclass(frozen=True, eq=False)
class StatementView:
    """A statement with its iterators in the order of the loops around it.

    `order` has the iterator of each loop, None where there is none; columns of matrices are loops.
    """

    statistics: ProgramStatistics
    statement: StatementStatistics
    order: Sequence[int | None]

    @cached_property
    def _domain(self) -> isl.Set:
        points = fix_parameters(self.statement.statement.domain, self.statistics.sizes)
        return points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))

    def column(self, row: Sequence[int]) -> list[float]:
        """Coefficients of the iterators as coefficients of the loops."""
        return [0.0 if iterator is None else float(row[iterator]) for iterator in self.order]

    @cached_property
    def bounds(self) -> list[tuple[int, int]]:
        """The smallest and the largest value of each loop's iterator, the latter exclusive."""
        result: list[tuple[int, int]] = []
        empty = bool(self._domain.is_empty())
        for iterator in self.order:
            if iterator is None or empty:
                result.append((0, 1))
                continue
            low, high = self._domain.dim_min_val(iterator), self._domain.dim_max_val(iterator)
            result.append((_integer(low, 0), _integer(high, 0) + 1))
        return result

    @cached_property
    def constraints(self) -> list[list[float]]:
        """The iteration domain matrix: rows `(coefficients of the loops, constant)`, each >= 0.

        At most `MOST_CONSTRAINTS`, those of outer loops first. An equation is two rows.
        """
        hull = self._domain.remove_divs().simple_hull().remove_redundancies()
        rows: list[tuple[list[float], float]] = []

        def add(constraint: isl.Constraint) -> None:
            depth = len(self.statement.statement.loops)
            own = [
                int(constraint.get_coefficient_val(isl.dim_type.set, d).to_python())
                for d in range(depth)
            ]
            constant = float(constraint.get_constant_val().to_python())
            rows.append((self.column(own), constant))
            if constraint.is_equality():
                rows.append(([-value for value in self.column(own)], -constant))

        hull.foreach_constraint(add)
        rows.sort(key=lambda row: (_innermost(row[0]), [-value for value in row[0]], row[1]))
        return [[*row, constant] for row, constant in rows[:MOST_CONSTRAINTS]]

    @cached_property
    def accesses(self) -> list[Access]:
        """Writes first; a cell that is accessed twice in the same way counts once."""
        statement = self.statement.statement
        found: dict[tuple[str, object], Access] = {}
        for access in (*statement.writes, *statement.reads):
            found.setdefault((access.kind.value + access.array.name, access.map), access)
        return list(found.values())

    def access_matrix(self, access: Access) -> list[list[float]]:
        """A row per subscript: `(coefficients of the loops, constant)`; the last `MOST_RANK`."""
        origin = access.map.eval(
            [0] * access.map.num_dims,
            [self.statistics.sizes.get(p.name, 0) for p in self.statistics.scop.parameters],
        )
        rows = [
            [*self.column(row), float(constant)]
            for row, constant in zip(access.coefficients, origin, strict=True)
        ]
        return rows[-MOST_RANK:]

    @cached_property
    def reduction_levels(self) -> list[bool]:
        """Of each loop, whether the same cell is read and written again in all its iterations."""
        statement = self.statement.statement
        result = [False] * len(self.order)
        for write in statement.writes:
            if not any(r.array is write.array and r.map == write.map for r in statement.reads):
                continue
            rows = write.coefficients
            for level, iterator in enumerate(self.order):
                if iterator is not None and not any(row[iterator] for row in rows):
                    result[level] = True
        return result

    @cached_property
    def expression(self) -> list[tuple[str, str]]:
        """The operations in post-order, each with the type of its result."""
        body = self.statement.statement.body
        seen: set[Operation] = set()
        result: list[tuple[str, str]] = []

        def visit(value: SSAValue) -> None:
            operation = value.owner
            if not isinstance(operation, Operation) or operation in seen or operation not in own:
                return
            seen.add(operation)
            for operand in operation.operands:
                visit(operand)
            if operation.name not in _SILENT:
                kind = _KIND_OF.get(operation.name, "other")
                result.append((kind, str(value.type)))

        own = set(body)
        for operation in body:
            if operation.name == "affine.store":
                visit(operation.operands[0])
        return result

    @cached_property
    def element_type(self) -> str:
        """Of what is written, else of what is read."""
        accesses = self.accesses
        return str(accesses[0].array.element_type) if accesses else "f64"

    def shape(self, access: Access) -> list[float]:
        """The extents of the accessed array; the last `MOST_RANK`."""
        return [float(extent) for extent in self.statistics.extents(access.array)][-MOST_RANK:]

    def element_bytes(self, access: Access) -> int:
        """Of the accessed array."""
        return bytes_of(access.array.element_type)


def count_operations(expression: Sequence[tuple[str, str]], kinds: Sequence[str]) -> list[float]:
    """How many operations of each kind."""
    return [float(sum(kind == each for each, _ in expression)) for kind in kinds]


def _innermost(row: Sequence[float]) -> int:
    return max((level for level, value in enumerate(row) if value), default=-1)


def _integer(value: isl.Val, default: int) -> int:
    return int(value.to_python()) if value.is_int() else default
