"""Subspaces of programs and schedules, for comparisons of models."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping

import islpy as isl
import numpy as np

from ...dialects.errors import SourceError
from ...passes.polyhedral.schedule_tree import Leaf, Loop, Sequence, Tree
from ...passes.polyhedral.scop import Scop
from ..original import original_schedule
from .pairs import ProgramPairs

TIRAMISU = frozenset({"fuse", "interchange", "tile", "unroll"})
"""The steps of Tiramisu 2021 (section 4.1)."""

Space = Callable[[ProgramPairs], ProgramPairs | None]
"""The pairs of a program that are in a part of the space; None when the program is not."""


def restrict(programs: Iterable[ProgramPairs], space: str) -> list[ProgramPairs]:
    """The pairs in a part of the space; `space` is a key of `SPACES`."""
    found = (SPACES[space](program) for program in programs)
    return [program for program in found if program is not None and program.schedules]


def chosen(program: ProgramPairs, is_kept: Iterable[bool]) -> ProgramPairs:
    """The program with some of its pairs."""
    kept = [position for position, keep in enumerate(is_kept) if keep]
    index = np.array(kept, np.intp)
    return dataclasses.replace(
        program,
        schedules=tuple(program.schedules[position] for position in kept),
        speedups=program.speedups[index],
        censored=program.censored[index],
        threads=tuple(program.threads[position] for position in kept),
    )


def kinds_of(schedule: str) -> set[str]:
    """The names of the steps of a pipeline."""
    outside = re.sub(r"\{[^}]*\}", "", schedule)
    return {name for name in outside.split(",") if name}


def _published(program: ProgramPairs) -> ProgramPairs | None:
    """Tiramisu 2021: single rectangular nests; fusion, interchange, tiling, unrolling."""
    result = chosen(program, (kinds_of(text) <= TIRAMISU for text in program.schedules))
    if not result.schedules:
        return None
    try:
        scop = original_schedule(program.text).scop
    except SourceError:
        return None
    return result if is_single_nest(scop.tree) and is_rectangular(scop) else None


def is_single_nest(tree: Tree) -> bool:
    """Whether one loop is around everything."""
    match tree:
        case Loop():
            return True
        case Sequence() | Leaf():
            return False


def is_rectangular(scop: Scop) -> bool:
    """Whether no bound of a loop depends on another loop."""
    for statement in scop.statements:
        constraints: list[isl.Constraint] = []
        statement.domain.foreach_basic_set(
            lambda part, found=constraints: part.foreach_constraint(found.append)
        )
        depth = len(statement.loops)
        for constraint in constraints:
            involved = sum(
                constraint.involves_dims(isl.dim_type.set, position, 1) for position in range(depth)
            )
            if involved > 1:
                return False
    return True


SPACES: Mapping[str, Space] = {"full": lambda program: program, "tiramisu": _published}
"""Parts of the space by name."""
