"""What is read back from a nest is what runs, instance by instance."""

from __future__ import annotations

import random

import islpy as isl
import pytest
from support.choice import SeededChooser
from support.differential import function_of
from support.random_programs import seeded_program, seeded_sizes
from support.random_schedules import random_schedule
from support.scop_execution import points
from support.validation import generated, kept_dependences
from support.value_origins import NestExecution

from loopwright.lowering.validation.generated import Generated
from loopwright.lowering.validation.order import meeting
from loopwright.lowering.validation.reading import CallSite, read_nest

Execution = tuple[str, tuple[int, ...], CallSite, tuple[int, ...]]


def executions(nest: Generated) -> list[Execution]:
    """All that the call sites run: statement, instance, call site, values of the loops."""
    depths = {statement.name: len(statement.loops) for statement in nest.scop.statements}
    found: list[Execution] = []
    for site in read_nest(nest.nest, nest.context, {}, depths):
        loops = len(site.loops)
        flat = site.instances.wrap().flatten()
        flat = flat.project_out(isl.dim_type.param, 0, flat.dim(isl.dim_type.param))
        for point in points(flat):
            found.append((site.statement, point[loops:], site, point[:loops]))
    return found


def runs_before(one: Execution, other: Execution) -> bool:
    """Whether the relations say so: by common loops, then by the block that tells them apart."""
    _, _, site, values = one
    _, _, other_site, other_values = other
    common, is_forward = meeting(site, other_site)
    outer, other_outer = values[:common], other_values[:common]
    return outer < other_outer or (outer == other_outer and is_forward)


@pytest.mark.parametrize("seed", range(20))
def test_instances_and_their_order(seed: int) -> None:
    program = seeded_program(seed, calls=True)
    function = function_of(program)
    source = random.Random(seed)
    schedule = random_schedule(SeededChooser(source), function.schedule(), 8)
    sizes = function.checked_sizes(program.make_arguments(seeded_sizes(program, source)))
    nest = generated(schedule, sizes)
    run = [
        (step.call.statement, step.arguments)
        for step in NestExecution(kept_dependences(schedule), nest).sequence()
    ]
    found = {
        (name, instance): (name, instance, *rest) for name, instance, *rest in executions(nest)
    }
    assert sorted(run) == sorted(found)
    some = sorted(source.sample(range(len(run)), min(len(run), 60)))
    for position, first in enumerate(some):
        for second in some[position + 1 :]:
            assert runs_before(found[run[first]], found[run[second]])
            assert not runs_before(found[run[second]], found[run[first]])
