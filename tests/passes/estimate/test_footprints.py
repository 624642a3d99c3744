"""Footprints count the cache lines that are touched, whatever the shape of arrays."""

from __future__ import annotations

import pytest
from support.targets import WIDE

from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

# A channel of pixels is copied; the image is an array of pixels, or of rows of channels.
PIXELS = """
func.func @f(%n: index, %A: memref<SHAPExi8>, %B: memref<?x?xi8>) {
  affine.for %i = 0 to %n {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%i, PLACE] : memref<SHAPExi8>
      affine.store %0, %B[%i, %j] : memref<?x?xi8>
    }
  }
  return
}
"""


def seconds(shape: str, place: str) -> float:
    scop = load(PIXELS.replace("SHAPE", shape).replace("PLACE", place))["f"].scop
    extents = infer_extents(scop, {"n": 2000})
    return estimate(Schedule.original(scop, WIDE), SchedulingContext(extents, 1))


@pytest.mark.parametrize(("channels", "channel"), [(2, 0), (3, 1), (4, 3)])
def test_channels_of_pixels_share_lines(channels: int, channel: int) -> None:
    pixels = seconds(f"?x?x{channels}", f"%j, {channel}")
    rows = seconds("?x?", f"{channels} * %j + {channel}")
    assert pixels == pytest.approx(rows, rel=0.01)
