"""Programs, dependences and loops as records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import islpy as isl

from ..passes.polyhedral.dependences import Dependence
from ..passes.polyhedral.descriptions import describe_access
from ..passes.polyhedral.distance import distances
from ..passes.polyhedral.gathers import describe_gathers
from ..passes.polyhedral.isl_context import ISL_LOCK
from ..passes.polyhedral.schedule_tree import loops
from ..passes.polyhedral.scop import Array, Scop, Statement
from ..passes.schedules.schedule import Schedule, dependences_of
from ..passes.search.result import Result
from .records import (
    Applied,
    ArrayFacts,
    DependenceFacts,
    Description,
    PathStepFacts,
    Size,
    StatementFacts,
    TuningResult,
)


def describe_program(original: Schedule, sizes: tuple[Size, ...] = ()) -> Description:
    """The model of a program as written; `sizes` as far as they are known."""
    scop = original.scop
    with ISL_LOCK:
        return Description(
            scop.name,
            tuple(parameter.name for parameter in scop.parameters),
            sizes or tuple(Size(size.name, None) for size in scop.sizes),
            tuple(_array(array) for array in scop.arrays),
            loop_names(original),
            tuple(_statement(scop, statement) for statement in scop.statements),
        )


def describe_dependences(
    scop: Scop, dependences: Iterable[Dependence]
) -> tuple[DependenceFacts, ...]:
    """Dependences, with distances and relations."""
    with ISL_LOCK:
        return tuple(_dependence(scop, dependence) for dependence in dependences)


def describe_schedule(schedule: Schedule) -> Applied:
    """A schedule, and what its next step can name."""
    return Applied(str(schedule), len(schedule.transformations), loop_names(schedule))


def loop_names(schedule: Schedule) -> tuple[str, ...]:
    """The unambiguous names of all loops, outermost first."""
    return tuple(schedule.short_name(loop) for loop in loops(schedule.tree))


def tuning_result(result: Result) -> TuningResult:
    """What a search has found."""
    return TuningResult(
        str(result.best),
        result.speedup,
        result.predicted,
        result.measured,
        result.default,
        result.candidates,
        result.measurements,
        result.seconds,
        result.ended,
        result.remarks,
        tuple(PathStepFacts(step.step, step.predicted, step.measured) for step in result.path),
    )


def _array(array: Array) -> ArrayFacts:
    return ArrayFacts(
        array.name,
        str(array.element_type),
        tuple("?" if extent is None else str(extent) for extent in array.shape),
        array.is_local,
    )


def _statement(scop: Scop, statement: Statement) -> StatementFacts:
    return StatementFacts(
        statement.name,
        statement.loops,
        without_parameters(statement.domain.gist_params(scop.context)),
        tuple(_elements(scop, statement, is_write=True)),
        tuple(_elements(scop, statement, is_write=False)),
        statement.name in dependences_of(scop).accumulations,
    )


def _elements(scop: Scop, statement: Statement, *, is_write: bool) -> Iterator[str]:
    accesses = statement.writes if is_write else statement.reads
    yield from dict.fromkeys(describe_access(scop, statement, access) for access in accesses)
    if not is_write:
        yield from describe_gathers(scop, statement)


def _dependence(scop: Scop, dependence: Dependence) -> DependenceFacts:
    source, target = scop.statement(dependence.source), scop.statement(dependence.target)
    pairs = isl.Map.from_domain_and_range(source.domain, target.domain)
    relation = dependence.relation.gist(pairs.intersect_params(scop.context))
    steps = distances(scop, source.name, target.name, dependence.relation)
    return DependenceFacts(
        dependence.kind.value,
        source.name,
        target.name,
        dependence.array,
        tuple(map(str, steps)),
        dependence.reduction,
        dependence.memory_based,
        without_parameters(relation),
    )


def without_parameters(text: object) -> str:
    """An isl set or map as text, without the list of parameters in front."""
    return str(text)[str(text).index("{") :]
