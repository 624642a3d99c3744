"""Where two loops wait for earlier iterations, threads take the tiles of a diagonal."""

import pytest
from support.reference_runs import check_run, function_of

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.wavefronts import wavefronts
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule


def choose(kernel: str, size: str, threads: int) -> Schedule | None:
    scop = function_of(f"polybench/{kernel}").scop
    sizes = infer_extents(scop, catalogue()[f"polybench/{kernel}"].parameter_values(size))
    original = Schedule.original(scop)
    return wavefronts(original, original.tree, SchedulingContext(sizes, threads))


@pytest.mark.usefixtures("zen3")
def test_rna_folding() -> None:
    chosen = choose("nussinov", "LARGE", 2)
    assert str(chosen) == (
        "tile{loops=i,j sizes=32,32},wavefront{loops=it,jt factors=1,1},parallel{loops=jt}"
    )
    scop = function_of("polybench/nussinov").scop
    # With products in the tiles, the default schedule has the same wavefronts of them.
    default = str(default_schedule(scop, infer_extents(scop, {"n": 2500}), threads=2))
    assert "split{loops=k at=96jt}" in default
    assert "wavefront{loops=it,jt factors=1,1},parallel{loops=jt}" in default
    for size in ("MINI", "SMALL"):
        check_run("polybench/nussinov", chosen, size)


@pytest.mark.parametrize(
    ("kernel", "size", "threads"),
    [
        ("nussinov", "LARGE", 1),  # nobody to share the work with
        ("nussinov", "MINI", 2),  # too little work on a diagonal
        ("gemm", "LARGE", 2),  # independent rows
        ("lu", "LARGE", 2),  # not directly nested
    ],
)
def test_others_stay(kernel: str, size: str, threads: int) -> None:
    assert choose(kernel, size, threads) is None
