"""Program profiles: schedule-independent properties at given sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from ...passes.estimate.program_statistics import ProgramStatistics
from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.polyhedral.scop import Scop, Statement
from ...passes.schedules.schedule import Schedule, dependences_of
from ..learning.examples import Unsupported
from .domains import Domains
from .local_arrays import Kept, local_arrays
from .nests import Nests
from .statements import StatementProfile, in_changed_program, profile_statement, with_kept

_MEMORY = 4096
"""Statements after which remembered ones are dropped."""


@dataclass(frozen=True, eq=False)
class ProgramProfile:
    """A Scop at given sizes: the bytes of its arrays, and its nests under any schedule."""

    total_bytes: float
    nests: Nests


def profile_program(schedule: Schedule, context: SchedulingContext) -> ProgramProfile:
    """What is known of a schedule's statements without their loops, found out once."""
    if schedule.program.opaque_statements:
        names = ", ".join(schedule.program.opaque_statements)
        raise Unsupported(f"what {names} does is not affine")
    memory = schedule.scop.memory
    profiles = cast(
        "dict[tuple[object, ...], ProgramProfile]", memory.setdefault("cost profiles", {})
    )
    sizes = tuple(sorted(context.sizes.items()))
    key = (sizes, schedule.target.vector_bits, schedule.reassociate)
    found = profiles.get(key)
    if found is None:
        profiles.clear()  # sizes seldom change, and never back and forth
        statements = _statements(schedule.program, key, context)
        found = profiles[key] = _profile_scop(schedule, context, statements)
    return found


class _Statements:
    """Cache of statement profiles, shared between transformed programs."""

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._domains = Domains(sizes)
        self._known: dict[tuple[object, ...], tuple[Statement, StatementProfile]] = {}

    def of(
        self,
        statement: Statement,
        schedule: Schedule,
        statistics: ProgramStatistics,
        arrays: Mapping[str, int],
    ) -> StatementProfile:
        """Everything about a statement that no step changes; `arrays` are numbers by name."""
        scop = schedule.scop
        dependences = dependences_of(scop)
        key = id(statement), *[arrays[access.array.name] for access in statement.accesses]
        if key in self._known:
            _, profile = self._known[key]
            return in_changed_program(
                profile, statement, statistics, dependences, len(arrays), schedule
            )
        profile = profile_statement(
            statement, scop, statistics, dependences, arrays, schedule, self._domains
        )
        if len(self._known) > _MEMORY:
            self._known.clear()
        # The statement is kept as well, so that its id stays its own.
        self._known[key] = statement, profile
        return profile


def _statements(program: Scop, key: object, context: SchedulingContext) -> _Statements:
    """What is known of statements at these sizes, in the program and in all it is turned into."""
    known = cast("dict[object, _Statements]", program.memory.setdefault("cost statements", {}))
    if key not in known:
        known.clear()
        known[key] = _Statements(context.sizes)
    return known[key]


def _profile_scop(
    schedule: Schedule, context: SchedulingContext, known: _Statements
) -> ProgramProfile:
    scop = schedule.scop
    statistics = context.statistics(scop)
    arrays = {array.name: number for number, array in enumerate(scop.arrays)}
    statements = {
        statement.name: known.of(statement, schedule, statistics, arrays)
        for statement in scop.statements
    }
    total = float(sum(statistics.bytes(array) for array in scop.arrays if not array.is_local))

    def kept_in(name: str, kept: Kept) -> StatementProfile:
        return with_kept(statements[name], scop.statement(name), scop, statistics, arrays, kept)

    locals_ = local_arrays(scop, statements)
    return ProgramProfile(total, Nests(statements, context.sizes, locals_, kept_in))
