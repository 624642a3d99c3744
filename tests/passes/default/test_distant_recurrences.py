"""Recurrences that reach back over more elements than a vector has: vectors in strips."""

from __future__ import annotations

import numpy as np
import pytest
from support.machine_code import NUMPY_TYPES
from support.targets import WIDE

from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.distant_recurrences import distant_recurrences
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import load

# A comb filter of each channel, in loops with the names of others.
COMB = """
func.func @f(%x: memref<CHANNELSx4099xTYPE>, %y: memref<CHANNELSx4099xTYPE>) {
  %gain = arith.constant 0.7 : TYPE
  affine.for %c = 0 to CHANNELS {
    affine.for %t = DELAY to 4099 {
      %0 = affine.load %x[%c, %t] : memref<CHANNELSx4099xTYPE>
      %1 = affine.load %y[%c, %t - DELAY] : memref<CHANNELSx4099xTYPE>
      %2 = arith.mulf %1, %gain : TYPE
      %3 = arith.addf %0, %2 : TYPE
      affine.store %3, %y[%c, %t] : memref<CHANNELSx4099xTYPE>
    }
  }
  return
}
"""


def text(kind: str, delay: int, channels: int = 1) -> str:
    filled = COMB.replace("TYPE", kind).replace("DELAY", str(delay))
    return filled.replace("CHANNELS", str(channels))


@pytest.mark.parametrize("channels", [1, 6])
@pytest.mark.parametrize(("kind", "delay"), [("f32", 113), ("f32", 16), ("f64", 12), ("f64", 8)])
def test_vectors_along_a_delay_line(kind: str, delay: int, channels: int) -> None:
    function = load(text(kind, delay, channels))["f"]
    chosen = default_schedule(function.scop, {}, WIDE, threads=1)
    width = {"f32": 16, "f64": 8}[kind]
    steps = f"strip-mine{{loops=t size={width}}},vectorize{{loops=t width={width}}}"
    assert str(chosen).startswith(steps)
    x, y = np.random.default_rng(0).normal(size=(2, channels, 4099)).astype(NUMPY_TYPES[kind])
    results = [y.copy() for _ in range(2)]
    for steps, result in zip((None, str(chosen)), results, strict=True):
        function.compile(steps, verify=True)(x, result)
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize(("kind", "delay"), [("f32", 15), ("f64", 7), ("f64", 1)])
def test_none_where_a_vector_reaches_further(kind: str, delay: int) -> None:
    original = Schedule.original(load(text(kind, delay))["f"].scop, WIDE)
    (nest,) = nests(original.tree)
    assert distant_recurrences(original, nest, SchedulingContext({}, 1)) is None


def test_none_where_iterations_are_independent() -> None:
    independent = text("f32", 113).replace("%y[%c, %t - 113]", "%x[%c, %t - 113]")
    original = Schedule.original(load(independent)["f"].scop, WIDE)
    (nest,) = nests(original.tree)
    assert distant_recurrences(original, nest, SchedulingContext({}, 1)) is None
