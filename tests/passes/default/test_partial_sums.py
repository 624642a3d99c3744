"""Partial results for threads: reductions of whole arrays."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from support.scops import schedule_of

import loopwright
from loopwright.certificate import Check
from loopwright.lowering.certificate import certificate
from loopwright.lowering.generate import generate
from loopwright.passes.default.partial_sums import partial_sums
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule

ROWS, COLUMNS = 401, 307

TEXT = f"""
func.func @f(%A: memref<{ROWS}x{COLUMNS}xTYPE>, %r: memref<1xTYPE>) {{
  affine.for %i = 0 to {ROWS} {{
    affine.for %j = 0 to {COLUMNS} {{
      %m = affine.load %r[0] : memref<1xTYPE>
      %a = affine.load %A[%i, %j] : memref<{ROWS}x{COLUMNS}xTYPE>
      STEP
      affine.store %s, %r[0] : memref<1xTYPE>
    }}
  }}
  return
}}
"""

GREATER = "%c = arith.cmpf ogt, %a, %m : TYPE %s = arith.select %c, %a, %m : TYPE"
STEPS: dict[str, tuple[str, str, bool, Callable[..., object]]] = {
    "integers": ("i32", "%s = arith.addi %m, %a : TYPE", True, np.sum),
    "bits": ("i64", "%s = arith.xori %m, %a : TYPE", True, np.bitwise_xor.reduce),
    "maximum": ("f64", "%s = arith.maximumf %m, %a : TYPE", True, np.max),
    "floats": ("f32", "%s = arith.addf %m, %a : TYPE", False, np.sum),
    "comparison": ("f32", GREATER, False, np.max),
    "least": ("f64", GREATER.replace("ogt", "olt"), False, np.min),
}


def answer(text: str, *, reassociate: bool, threads: int = 2) -> Schedule | None:
    original = Schedule.original(schedule_of(text).scop, reassociate=reassociate)
    (nest,) = nests(original.tree)
    return partial_sums(
        original, nest, SchedulingContext(infer_extents(original.scop, {}), threads)
    )


@pytest.mark.parametrize("name", STEPS)
def test_whole_arrays(name: str) -> None:
    kind, step, is_exact, reduce = STEPS[name]
    text = TEXT.replace("STEP", step).replace("TYPE", kind)
    assert (answer(text, reassociate=False) is not None) == is_exact
    assert answer(text, reassociate=True, threads=1) is None
    found = answer(text, reassociate=True)
    assert found is not None
    dtype = np.dtype({"i32": "i4", "i64": "i8", "f32": "f4", "f64": "f8"}[kind])
    values = np.random.default_rng(3).standard_normal((ROWS, COLUMNS)) * 9 + 1
    array, result = values.astype(dtype), np.zeros(1, dtype)
    function = loopwright.load(text)["f"]
    function.compile(str(found), threads=2, fast_math=not is_exact, verify=True)(array, result)
    expected = reduce(np.append(array, 0).astype(dtype), axis=0)
    np.testing.assert_allclose(result[0], expected, rtol=2e-4 if name == "floats" else 0)


def test_sums_of_threads_stay_in_registers() -> None:
    """The loops inside store no partial result: the one of a tile is that of the loop around."""
    text = TEXT.replace("STEP", STEPS["integers"][1]).replace("TYPE", "i32")
    found = answer(text, reassociate=False)
    assert found is not None
    loop_ir = str(generate(found, {}))
    inner = re.findall(r"affine\.for %j.*?affine\.yield", loop_ir, re.DOTALL)
    assert inner and not any("affine.store" in loop for loop in inner)


def test_short_and_independent_loops_are_left_alone() -> None:
    text = TEXT.replace("STEP", STEPS["integers"][1]).replace("TYPE", "i32")
    assert answer(text.replace(str(COLUMNS), "7"), reassociate=False) is None
    rows = text.replace("%r[0]", "%r[%i]").replace("memref<1x", f"memref<{ROWS}x")
    assert answer(rows, reassociate=False) is None


@pytest.mark.parametrize("name", ["comparison", "least"])
def test_certificates_of_extrema(name: str) -> None:
    kind, step, *_ = STEPS[name]
    found = answer(TEXT.replace("STEP", step).replace("TYPE", kind), reassociate=True)
    assert found is not None
    assert Check(json.loads(json.dumps(certificate(found)))).run() == {"S0"}
