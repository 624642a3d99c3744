"""Translation validation of one generated nest: is it the program, for all sizes that it is for?

Independent of how the nest came about: neither the legality of transformations nor the schedule
tree is asked. What the nest runs is read back from it as isl relations, and compared with the
instances and dependences of the program as it was written.
"""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from ...passes.polyhedral.context import TooComplexError, bounded
from ...passes.polyhedral.dependences import Dependence, DependenceKind, Dependences
from ...passes.schedules.schedule import Schedule, dependences_of
from ...support.stage_times import stage
from .correspondence import correspond
from .coverage import check_coverage
from .dataflow import ArrayFlow, check_buffer
from .generated import Generated
from .local_storage import LocalStorage
from .order import Event, backward
from .parallelism import ParallelLoops
from .places import Places, events_of
from .reading import CallSite, read_nest
from .verdict import (
    NotKnownError,
    Property,
    ValidationError,
    Verdict,
    ViolatedError,
    Witness,
)

# What isl may spend on one nest: some ten seconds, and a hundred times what those of the shipped
# kernels need.
OPERATIONS = 50_000_000


class Validator:
    """Validates what is generated for a schedule, when `generate` shows it.

    `verdict` is None before. Raises ValidationError for a violation.
    """

    def __init__(self, schedule: Schedule) -> None:
        self.schedule = schedule
        self.verdict: Verdict | None = None

    def __call__(self, generated: Generated) -> None:
        """Validates the nest, which must be the program for all sizes that it is for."""
        with stage("validate"):
            self.verdict = validate(dependences_of(self.schedule.program), generated)
        if self.verdict.violation is not None:
            raise ValidationError.at(
                self.schedule.program.func,
                f"the code generated for '{self.schedule}' is not the program: "
                f"{self.verdict.violation}",
                hint="this is a fault of loopwright; use another schedule, and report it",
            )


def validate(dependences: Dependences, generated: Generated) -> Verdict:
    """Whether what was generated does what the program does whose dependences these are."""
    try:
        with bounded(OPERATIONS):
            _Validation(dependences, generated).check()
    except ViolatedError as error:
        return Verdict(violation=error.violation)
    except NotKnownError as error:
        return Verdict(reason=str(error))
    except (TooComplexError, isl.Error) as error:
        reason = error if isinstance(error, TooComplexError) else "isl fails"
        return Verdict(reason=f"too complex: {reason}")
    return Verdict()


class _Validation:
    def __init__(self, dependences: Dependences, generated: Generated) -> None:
        self.dependences = dependences
        self.program = dependences.scop
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
        scop = self.generated.scop
        self.correspondence = correspond(self.program, scop)
        self._check_coverage()
        places = Places(self.program, scop, self.correspondence, self.sites, self.context)
        moved = {use.element_array for use in places.uses if use.is_moved}
        self._check_order(moved)
        ParallelLoops(scop, self.all_sites, self.context).check()
        for buffer in places.buffers.values():
            check_buffer(buffer, places)
        for array in self.program.arrays:
            if array.name in moved:
                items = [item for item in self.dependences if item.array == array.name]
                ArrayFlow(self.program, array, items, places).check()
        LocalStorage(
            scop,
            self.all_sites,
            self.generated.placements,
            self.generated.parameters,
            self.names,
        ).check()

    def _check_coverage(self) -> None:
        """Statements of the program run all of their instances once, and so do copies."""
        self.events: dict[str, list[Event]] = {s.name: [] for s in self.program.statements}
        for name, origin in self.correspondence.origins.items():
            self.events[origin.name] += events_of(self.sites[name], origin.name)
        for statement in self.program.statements:
            domain = statement.domain.intersect_params(self.context)
            check_coverage(statement.name, domain, self.events[statement.name])
        for name, copy in self.correspondence.copies.items():
            domain = copy.statement.domain.intersect_params(self.context)
            check_coverage(name, domain, events_of(self.sites[name], name))

    def _check_order(self, moved: Iterable[str]) -> None:
        """Dependences through arrays that are where the program has them keep their order."""
        items: dict[tuple[str, str], list[Dependence]] = {}
        for item in self.dependences:
            if item.array not in moved and item.kind is not DependenceKind.INPUT:
                items.setdefault((item.source, item.target), []).append(item)
        for (source, target), group in items.items():
            relation = group[0].relation
            for item in group[1:]:
                relation = relation.union(item.relation)
            if self._backward(source, target, relation.coalesce()) is None:
                continue
            for item in group:
                wrong = self._backward(source, target, item.relation)
                if wrong is not None:
                    message = (
                        f"the {item.kind.value} dependence from {source} to {target} on "
                        f"{item.array} runs backwards"
                    )
                    raise ViolatedError(Property.ORDER, message, Witness.between(wrong))

    def _backward(self, source: str, target: str, relation: isl.Map) -> isl.Map | None:
        relation = relation.intersect_params(self.context)
        return backward(relation, self.events[source], self.events[target])


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
