"""The default schedules for large sizes give the references' results at small ones."""

import pytest
from support.reference_runs import check_run, function_of

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import candidates, default_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule

KERNELS = [name for name in catalogue() if not name.startswith("field/")]


def sizes_of(name: str, position: int) -> dict[str, int]:
    """All sizes of one of the entry's named sizes, by position from the smallest."""
    entry = catalogue()[name]
    size = list(entry.sizes)[position]
    return infer_extents(function_of(name).scop, entry.parameter_values(size))


@pytest.mark.parametrize("fast_math", [False, True], ids=["exact", "fast-math"])
@pytest.mark.parametrize("name", KERNELS)
def test_is_right_at_another_size(name: str, fast_math: bool) -> None:
    function = function_of(name)
    chosen = default_schedule(function.scop, sizes_of(name, -1), threads=2, reassociate=fast_math)
    check_run(name, chosen, next(iter(catalogue()[name].sizes)), fast_math=fast_math)


@pytest.mark.campaign
@pytest.mark.parametrize("name", KERNELS)
def test_all_candidates_are_right_at_another_size(name: str) -> None:
    original = Schedule.original(function_of(name).scop, reassociate=True)
    for candidate in candidates(original, SchedulingContext(sizes_of(name, -1), 2)):
        check_run(name, candidate, next(iter(catalogue()[name].sizes)), fast_math=True)
