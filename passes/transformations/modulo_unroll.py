"""Modulo unrolling: a loop whose iterations differ by a remainder, as a loop over periods."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import lcm
from typing import ClassVar

import islpy as isl
from xdsl.ir.affine import AffineExpr

from ..polyhedral.rounded_subscripts import block_and_period
from ..polyhedral.schedule_tree import Loop, Tree, replace_node, without_marks
from ..polyhedral.scop import Access, Array, Scop
from ..schedules.errors import MalformedTransformation
from ..schedules.phases import Phases
from ..schedules.program_edits import as_base, program_order
from ..schedules.schedule import Schedule, Transformation, option

LARGEST = 8
"""The longest period: there are as many copies of the statements."""


@dataclass(frozen=True)
class ModuloUnroll(Transformation):
    """Unrolls a loop into statements of their own for each remainder of its iterations.

    Conditions and subscripts with that remainder disappear (Barua, Lee, Amarasinghe and Agarwal,
    "Compiler support for scalable and efficient memory systems", 2001: modulo unrolling). Each
    copy of a statement has its own iterations, which are counted in periods. The order of execution
    stays. `modulo-unroll{loops=t factor=2}`:

        for t in [0, n):                  for t in [0, ceil(n / 2)):
          if t mod 2 == 0:                  S0: B[i] = f(A)
            S0: B[i] = f(A)         ->      if 2 t + 1 < n: S1: A[i] = f(B)
          else:
            S1: A[i] = f(B)
    """

    name: ClassVar[str] = "modulo-unroll"
    symbol: ClassVar[str] = "MU"
    works_in_run_time_tiles: ClassVar[bool] = False

    factor: int = option(
        "iterations of a period, by default that of conditions and subscripts",
        default=0,
        keyword="by",
    )

    def resolve(self, schedule: Schedule) -> ModuloUnroll:
        step = super().resolve(schedule)
        if len(step.loops) != 1:
            raise MalformedTransformation("name the one loop to unroll")
        loop = schedule.loop(step.loops[0])
        factor = step.factor or period(schedule.scop, loop)
        if not 2 <= factor <= LARGEST:
            least = "there is no period" if not step.factor and factor == 1 else f"not {factor}"
            raise MalformedTransformation(
                f"the factor of {loop.name} must be from 2 to {LARGEST}: {least}"
            )
        return replace(step, factor=factor)

    def rewrite(self, schedule: Schedule) -> Tree:
        return self.rewrite_program(schedule)[1]

    def rewrite_program(self, schedule: Schedule) -> tuple[Scop, Tree]:
        loop = schedule.loop(self.loops[0])
        phases = Phases(schedule, loop, self.factor, loop.schedule)
        copies = [phases.copies(phase, _in_place) for phase in range(self.factor)]
        parts = [phases.part(phase, members) for phase, members in enumerate(copies)]
        new = phases.around([part for part in parts if part is not None])
        tree = without_marks(replace_node(schedule.tree, loop, new))
        ordered = program_order(schedule.scop, tree, [c for members in copies for c in members])
        return as_base(replace(schedule.scop, statements=ordered, tree=tree)), tree


def period(scop: Scop, loop: Loop) -> int:
    """After how many iterations of an outermost loop conditions and subscripts repeat."""
    return lcm(*(size for name in loop.schedule for size in _periods(scop, name)))


def _periods(scop: Scop, name: str) -> Iterator[int]:
    statement = scop.statement(name)
    if not statement.loops:
        return
    maps = [access.map for access in statement.accesses if not access.is_opaque]
    yield block_and_period(maps, 0)[1]
    values = statement.domain.project_out(isl.dim_type.set, 1, len(statement.loops) - 1)
    yield values.get_stride(0).to_python()


def _in_place(
    _name: str, access: Access, results: list[AffineExpr]
) -> tuple[Array, list[AffineExpr]]:
    return access.array, results
