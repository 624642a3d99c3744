"""Vector loops around others: lanes that walk along rows load neighbours together."""

import pytest
from support.reference_runs import check_run, function_of

from loopwright.passes.default.vectorise_and_parallelise import vectorise_and_parallelise
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule


@pytest.mark.parametrize("threads", [1, 2])
def test_loops_along_rows_inside_of_vector_loops_are_unrolled(threads: int) -> None:
    function = function_of("polybench/adi")
    sizes = infer_extents(function.scop, {"tsteps": 500, "n": 1000})
    original = Schedule.original(function.scop)
    context = SchedulingContext(sizes, threads)
    chosen = vectorise_and_parallelise(original, original.tree, context)
    assert chosen is not None
    steps = [str(step) for step in chosen.transformations]
    lanes = chosen.target.lanes(function.scop.arrays[0].element_type)
    for name in ("S3", "S6", "S10", "S13"):
        assert f"unroll{{loops={name}.j factor={lanes}}}" in steps
    for size in ("MINI", "SMALL"):
        check_run("polybench/adi", chosen, size)


def test_loops_with_loops_inside_are_not() -> None:
    """Only what is innermost brings neighbours together."""
    original = Schedule.original(function_of("polybench/correlation").scop)
    sizes = infer_extents(original.scop, {"m": 200, "n": 240})
    schedule = vectorise_and_parallelise(original, original.tree, SchedulingContext(sizes, 1))
    assert schedule is not None
    assert "vectorize" in str(schedule)
    assert "unroll" not in str(schedule)
