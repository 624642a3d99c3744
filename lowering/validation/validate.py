"""Translation validation of one generated nest, for all sizes that it is generated for.

Independent of how the nest came about: neither the legality of transformations nor the schedule
tree is asked. What the nest runs is read back from it as isl relations, and compared with the
instances and dependences of the program as it was written; or of one with other instances that a
step has made of it (`Scop.base`), which is compared with the program by its dataflow.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import islpy as isl

from ...passes.polyhedral.equivalence.equivalence import compare
from ...passes.polyhedral.isl_context import TooComplexError, bounded
from ...passes.schedules.schedule import Schedule, dependences_of
from ...support.stage_times import stage
from .correspondence import Correspondence, correspond
from .coverage import check_coverage
from .dataflow import ArrayFlow, check_buffer
from .generated import Generated
from .kept_dependences import KeptDependences
from .local_storage import LocalStorage
from .order import Event
from .parallelism import ParallelLoops
from .partial_uses import PartialUses
from .places import Places
from .reading import CallSite, read_nest
from .registers.rewriting import Rewriting
from .registers.simulation import check_rewriting
from .uses import events_of, uses_of
from .verdict import (
    NotKnownError,
    ValidationError,
    Verdict,
    ViolatedError,
)

# What isl may spend on one nest: a few seconds, and twenty times what any shipped kernel needs.
OPERATIONS = 20_000_000

# What rewrites loop IR in a form that is not simulated: tests compare it before and after.
TRUSTED = ("shuffles of carried vectors", "narrower arithmetic", "rows in the order of memory")


class Validator:
    """Validates the nest of a schedule, when `generate` shows it.

    `verdict` is None before. Raises ValidationError for a violation.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.verdict: Verdict | None = None

    def __call__(self, generated: Generated) -> None:
        """Validates the nest, which must be the program for all sizes that it is for."""
        with stage("validate"):
            base = self.schedule.scop.base or self.schedule.program
            kept = KeptDependences(dependences_of(base), reassociate=self.schedule.reassociate)
            self.verdict = validate(kept, generated)
            if self.verdict.is_proved and base is not self.schedule.program:
                found = compare(self.schedule.program, base, replaces=True)
                self.verdict = replace(self.verdict, reason=found.reason)
        if self.verdict.violation is not None:
            raise ValidationError.at(
                self.schedule.program.func,
                f"the code generated for '{self.schedule}' is not the program: "
                f"{self.verdict.violation}",
                hint="this is a fault of loopwright; use another schedule, and report it",
            )


def validate(kept: KeptDependences, generated: Generated) -> Verdict:
    """Whether what was generated does what the program does whose dependences these are."""
    try:
        with bounded(OPERATIONS):
            _Validation(kept, generated).check()
            trusted = _check_rewritings(generated.rewritings)
    except ViolatedError as error:
        return Verdict(violation=error.violation)
    except NotKnownError as error:
        return Verdict(reason=str(error))
    except (TooComplexError, isl.Error) as error:
        reason = error if isinstance(error, TooComplexError) else "isl fails"
        return Verdict(reason=f"too complex: {reason}")
    return Verdict(trusted=trusted)


def _check_rewritings(rewritings: Iterable[Rewriting]) -> tuple[str, ...]:
    """The steps that are trusted; raises NotKnownError for the others."""
    trusted: dict[str, None] = {}
    for rewriting in rewritings:
        if rewriting.name not in TRUSTED:
            check_rewriting(rewriting)
        elif not rewriting.is_identity:
            trusted[rewriting.name] = None
    return tuple(trusted)


class _Validation:
    def __init__(self, kept: KeptDependences, generated: Generated) -> None:
        self.kept = kept
        self.program = kept.dependences.scop
        self.generated = generated
        self.context = _with_tile_sizes(generated)
        scop = generated.scop
        self.names = {
            variable: name
            for name, value in generated.parameters.items()
            for variable in value.variables()
        }
        depths = {statement.name: len(statement.loops) for statement in scop.statements}
        self.sites: dict[str, list[CallSite]] = {
            statement.name: [] for statement in scop.statements
        }
        self.all_sites = read_nest(generated.nest, self.context, self.names, depths)
        for site in self.all_sites:
            self.sites[site.statement].append(site)

    def check(self) -> None:
        """Raises ViolatedError, NotKnownError."""
        scop, context = self.generated.scop, self.context
        found = correspond(self.program, scop)
        self._check_coverage(found)
        uses = uses_of(scop, found, self.sites, context)
        partial = PartialUses(self.program, uses, found, self.sites, context)
        places = Places(self.program, partial.uses, found, self.sites, context)
        moved = {use.element_array for use in partial.uses if use.is_moved}
        moved |= {use.element_array for use in uses if use.array in partial.names}
        names = {array.name for array in self.program.arrays}
        self.kept.check(names - moved, self.events, context)
        loops = ParallelLoops(self.generated, self.all_sites, found.origins, self.kept, context)
        loops.check()
        for results in partial.buffers:
            results.check()
        for buffer in places.buffers.values():
            check_buffer(buffer, places)
        for array in self.program.arrays:
            if array.name in moved:
                ArrayFlow(self.program, array, self.kept, places, partial.reduced).check()
        LocalStorage(
            scop,
            self.all_sites,
            self.generated.placements,
            self.generated.parameters,
            self.names,
        ).check()

    def _check_coverage(self, found: Correspondence) -> None:
        """Statements of the program run all of their instances once, and so do those added."""
        self.events: dict[str, list[Event]] = {s.name: [] for s in self.program.statements}
        for name, origin in found.origins.items():
            self.events[origin.name] += events_of(self.sites[name], origin.name)
        for statement in self.program.statements:
            domain = statement.domain.intersect_params(self.context)
            check_coverage(statement.name, domain, self.events[statement.name])
        for statement in self.generated.scop.statements:
            if statement.name not in found.origins:
                domain = statement.domain.intersect_params(self.context)
                events = events_of(self.sites[statement.name], statement.name)
                check_coverage(statement.name, domain, events)


def _with_tile_sizes(generated: Generated) -> isl.Set:
    """The context with the tile sizes that calls give as parameters: at least 1."""
    context = generated.context
    for name in generated.parameters:
        if context.find_dim_by_name(isl.dim_type.param, name) < 0:
            last = context.dim(isl.dim_type.param)
            context = context.add_dims(isl.dim_type.param, 1)
            context = context.set_dim_name(isl.dim_type.param, last, name)
            context = context.lower_bound_val(isl.dim_type.param, last, isl.Val(1))
    return context
