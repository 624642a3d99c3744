"""All PolyBench kernels are proved as written, for all sizes; some with their default schedule."""

from __future__ import annotations

import pytest
from support.scops import KERNELS, polybench
from support.targets import WIDE
from support.validation import verdict

from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule

NAMES = sorted(path.stem for path in (KERNELS / "polybench").glob("*.mlir"))

# Packed, scaled and tiled; a buffer that is written; time tiles; split statements.
DEFAULT = ("gemm", "doitgen", "jacobi-2d", "trmm")


@pytest.mark.parametrize("name", NAMES)
def test_as_written_for_all_sizes(name: str) -> None:
    assert verdict(Schedule.original(polybench(name)), {}).is_proved


def check_default(name: str, size: str) -> None:
    scop = polybench(name)
    sizes = infer_extents(scop, catalogue()[f"polybench/{name}"].parameter_values(size))
    schedule = default_schedule(scop, sizes, WIDE, threads=2, reassociate=False)
    assert verdict(schedule, sizes).is_proved


@pytest.mark.parametrize("name", DEFAULT)
def test_default(name: str) -> None:
    check_default(name, "LARGE")


@pytest.mark.campaign
@pytest.mark.parametrize("name", NAMES)
def test_every_default(name: str) -> None:
    check_default(name, "LARGE")
