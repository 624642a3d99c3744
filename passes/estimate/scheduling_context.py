"""The scheduling context: sizes, threads, and cached program statistics."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import islpy as isl
from xdsl.dialects.memref import LoadOp
from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineExpr

from ..machine.machine import Machine
from ..polyhedral.bounded_subscripts import bounded_gathers
from ..polyhedral.gathers import argument_arrays
from ..polyhedral.inspections import inspections
from ..polyhedral.schedule_tree import Tree
from ..polyhedral.scop import Scop, Statement
from .program_statistics import ProgramStatistics, StatementStatistics
from .register_tile import RegisterTile, register_tile

NestKey = tuple[
    int, bool, bool, tuple[int, ...], tuple[tuple[str, tuple[int, ...], int | None], ...]
]
"""A nest, whether the innermost loops have explicit vectors, whether sums may be reassociated, and
the statements.
"""


FunctionsKey = tuple[int, ...]
"""A statement and its functions of the loops around it, by their ids."""


@dataclass(frozen=True)
class Block:
    """A reduction into `rows` x `vectors` vectors over `depth` terms, and its register tile."""

    rows: int
    vectors: int
    depth: int
    tile: RegisterTile


@dataclass(frozen=True)
class SchedulingContext:
    """Values of all sizes by name, and the number of threads (at least 1).

    `tiles` are register tiles by statement, in place of those that strategies would choose.
    """

    sizes: Mapping[str, int]
    threads: int
    tiles: Mapping[str, RegisterTile] = field(default_factory=dict[str, RegisterTile])
    blocks: dict[str, Block] = field(default_factory=dict[str, Block], compare=False, repr=False)
    """What strategies have asked `register_tile` last, by statement."""
    _programs: dict[int, ProgramStatistics] = field(
        default_factory=dict[int, ProgramStatistics], compare=False, repr=False
    )
    _statements: dict[tuple[int, frozenset[LoadOp]], StatementStatistics] = field(
        default_factory=dict[tuple[int, frozenset[LoadOp]], StatementStatistics],
        compare=False,
        repr=False,
    )
    """By statement, and by the gathers whose subscripts its loops do not compare with extents."""
    nests: dict[NestKey, tuple[Tree, float]] = field(
        default_factory=dict[NestKey, tuple[Tree, float]], compare=False, repr=False
    )
    """Estimated seconds of nests, which are kept, so that their ids stay their own."""
    expanded: dict[Hashable, tuple[int, ...]] = field(
        default_factory=dict[Hashable, tuple[int, ...]], compare=False, repr=False
    )
    """Extents of expanded scalars (`local_extents`)."""
    iterations: dict[FunctionsKey, tuple[tuple[object, ...], isl.Set]] = field(
        default_factory=dict[FunctionsKey, tuple[tuple[object, ...], isl.Set]],
        compare=False,
        repr=False,
    )
    """Values that loops take together (`vector_loops`); statements and functions are kept."""
    constant_lengths: dict[tuple[FunctionsKey, bool], bool] = field(
        default_factory=dict[tuple[FunctionsKey, bool], bool], compare=False, repr=False
    )
    """Whether the last of loops always has as many iterations, but for borders, if these count
    (`vector_loops`)."""

    def register_tile(
        self,
        statement: str,
        rows: int,
        vectors: int,
        depth: int,
        machine: Machine,
        tallest: int | None = None,
        streams: int = 1,
    ) -> RegisterTile:
        """The block of a statement's result that is given, else the one with the fewest cycles."""
        tile = self.tiles.get(statement) or register_tile(
            rows, vectors, depth, machine, tallest, streams
        )
        self.blocks[statement] = Block(rows, vectors, depth, tile)
        return tile

    def statistics(self, scop: Scop) -> ProgramStatistics:
        """What is known of the statements of a program at these sizes, found out once."""
        found = self._programs.get(id(scop))
        if found is None:
            unchecked = self._unchecked(scop)
            statements = {
                statement.name: self._statement(statement, unchecked[statement.name])
                for statement in scop.statements
            }
            found = self._programs[id(scop)] = ProgramStatistics(scop, self.sizes, statements)
        return found

    def _unchecked(self, scop: Scop) -> dict[str, frozenset[LoadOp]]:
        """The gathers whose subscripts the loops do not compare with extents, by statement."""
        arrays = argument_arrays(scop)

        def shape(array: SSAValue) -> list[int | None]:
            extents = arrays[array].shape if array in arrays else ()
            return [
                self.sizes.get(each) if isinstance(each, str) else each
                for each in extents
                if not isinstance(each, AffineExpr)
            ]

        inspected = inspections(scop).gathers
        return {
            each.name: inspected.get(each.name, frozenset()) | bounded_gathers(each, shape)
            for each in scop.statements
        }

    def _statement(self, statement: Statement, inspected: frozenset[LoadOp]) -> StatementStatistics:
        """Steps that change a program leave most of its statements as they are."""
        key = id(statement), inspected
        if key not in self._statements:
            self._statements[key] = StatementStatistics(statement, self.sizes, inspected)
        return self._statements[key]
