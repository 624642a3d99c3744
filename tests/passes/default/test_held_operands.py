"""Vector loops move outside of loops along which operands in each lane stay the same."""

from __future__ import annotations

import numpy as np
import pytest

import loopwright
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.schedule_tree import Loop, loops
from loopwright.runtime.program import Function

TYPES = {"f32": np.float32, "f64": np.float64}

WINDOWS = """
func.func @f(%x: memref<READxREADxCHANNELSxTYPE>, %w: memref<TAPSxTAPSxCHANNELSxTYPE>,
    %y: memref<ROWSxROWSxCHANNELSxTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %ROW = 0 to ROWS {
    affine.for %COLUMN = 0 to ROWS {
      affine.for %channel = 0 to CHANNELS {
        %t = affine.for %u = 0 to TAPS iter_args(%a = %zero) -> (TYPE) {
          %s = affine.for %v = 0 to TAPS iter_args(%b = %a) -> (TYPE) {
            %0 = affine.load %x[STEP * %ROW + %u, STEP * %COLUMN + %v, %channel]
              : memref<READxREADxCHANNELSxTYPE>
            %1 = affine.load %w[%u, %v, %channel] : memref<TAPSxTAPSxCHANNELSxTYPE>
            %2 = arith.mulf %0, %1 : TYPE
            %3 = arith.addf %b, %2 : TYPE
            affine.yield %3 : TYPE
          }
          affine.yield %s : TYPE
        }
        affine.store %t, %y[%ROW, %COLUMN, %channel] : memref<ROWSxROWSxCHANNELSxTYPE>
      }
    }
  }
  return
}
"""

FILTER = """
func.func @f(%x: memref<READxCHANNELSxTYPE>, %w: memref<TAPSxCHANNELSxTYPE>,
    %y: memref<ROWSxCHANNELSxTYPE>) {
  %zero = arith.constant 0.0 : TYPE
  affine.for %ROW = 0 to ROWS {
    affine.for %channel = 0 to CHANNELS {
      %s = affine.for %v = 0 to TAPS iter_args(%b = %zero) -> (TYPE) {
        %0 = affine.load %x[%ROW + %v, %channel] : memref<READxCHANNELSxTYPE>
        %1 = affine.load %w[%v, %channel] : memref<TAPSxCHANNELSxTYPE>
        %2 = arith.mulf %0, %1 : TYPE
        %3 = arith.addf %b, %2 : TYPE
        affine.yield %3 : TYPE
      }
      affine.store %s, %y[%ROW, %channel] : memref<ROWSxCHANNELSxTYPE>
    }
  }
  return
}
"""


def function(text: str, rows: int, channels: int, taps: int, kind: str, step: int = 1) -> Function:
    names = {"ROWS": rows, "CHANNELS": channels, "TAPS": taps, "TYPE": kind, "STEP": step}
    names |= {"READ": step * (rows - 1) + taps, "ROW": "i", "COLUMN": "j"}
    for name, value in names.items():
        text = text.replace(name, str(value))
    (only,) = loopwright.load(text).values()
    return only


CASES = [
    (WINDOWS, 56, 96, 5, "f32", 1),
    (WINDOWS, 28, 100, 5, "f64", 2),
    (WINDOWS, 28, 192, 7, "f32", 1),
    (FILTER, 2000, 60, 16, "f64", 1),
    (FILTER, 1501, 100, 16, "f64", 1),
]


@pytest.mark.parametrize(("text", "rows", "channels", "taps", "kind", "step"), CASES)
def test_weights_of_each_channel_stay_in_registers(
    text: str, rows: int, channels: int, taps: int, kind: str, step: int
) -> None:
    scop = function(text, rows, channels, taps, kind, step).scop
    schedule = default_schedule(scop, {}, Target.named("zen4"), threads=1)
    (vector,) = [loop for loop in loops(schedule.tree) if loop.vector is not None]
    assert vector.name == "channel"
    assert isinstance(vector.body, Loop)
    assert vector.body.name.startswith("j" if text is WINDOWS else "i")


def test_weights_of_all_channels_leave_the_loops_alone() -> None:
    """What is one number for all lanes is loaded once anyway."""
    text = FILTER.replace("%w[%v, %channel]", "%w[%v, 0]")
    scop = function(text, 2000, 60, 16, "f64").scop
    schedule = default_schedule(scop, {}, Target.named("zen4"), threads=1)
    assert "interchange" not in str(schedule)


def test_weights_apart_are_not_held() -> None:
    """Gathers stay in the loop."""
    text = WINDOWS.replace("%w[%u, %v, %channel]", "%w[%channel, %u, %v]")
    text = text.replace("TAPSxTAPSxCHANNELS", "CHANNELSxTAPSxTAPS")
    scop = function(text, 28, 128, 3, "f32", 2).scop
    schedule = default_schedule(scop, {}, Target.named("zen4"), threads=1)
    assert "interchange{loops=channel,j}" not in str(schedule)


@pytest.mark.parametrize("text", [WINDOWS, FILTER])
@pytest.mark.parametrize(("rows", "channels", "taps"), [(9, 37, 3), (12, 16, 5), (3, 5, 7)])
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("step", [1, 2])
def test_results_are_those_of_the_program(
    text: str, rows: int, channels: int, taps: int, kind: str, step: int
) -> None:
    is_image = text is WINDOWS
    only = function(text, rows, channels, taps, kind, step if is_image else 1)
    rng = np.random.default_rng(0)
    read = (step if is_image else 1) * (rows - 1) + taps
    repeats = 2 if is_image else 1
    extents = [(*(each,) * repeats, channels) for each in (read, taps, rows)]
    values = [rng.standard_normal(extent).astype(TYPES[kind]) for extent in extents]
    inside = "j" if is_image else "i"
    steps = f"vectorize{{loops=channel width=8}},interchange{{loops=channel,{inside}}}"
    expected, found = values[-1].copy(), values[-1].copy()
    only.compile(None, threads=1)(*values[:-1], expected)
    only.compile(steps, threads=1, verify=True)(*values[:-1], found)
    np.testing.assert_array_equal(found, expected)
