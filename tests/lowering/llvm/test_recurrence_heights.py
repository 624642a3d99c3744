"""Sums with what the last iteration has computed: that comes last, where sums have no order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects import arith

import loopwright
from loopwright.dialects.parse import parse_module
from loopwright.lowering.llvm.recurrence_heights import carried_sum

FORMS = {
    "terms behind": ("%x, %0 : f64", "%p, %1 : f64", None, 2),
    "a product of the carried value": ("%m, %0 : f64", "%p, %1 : f64", None, 2),
    "last already": ("%0, %1 : f64", "%p, %x : f64", None, None),
    "two terms wait": ("%x, %0 : f64", "%p, %m : f64", None, None),
    "subtracted": ("%0, %x : f64", "%p, %1 : f64", "subf", None),
}
LOOP = """
func.func @f(%A: memref<99xf64>, %B: memref<99xf64>, %s: f64) {{
  %c = arith.constant 0.5 : f64
  %last = affine.for %i = 1 to 99 iter_args(%x = %s) -> (f64) {{
    %0 = affine.load %B[%i] : memref<99xf64>
    %1 = affine.load %B[%i - 1] : memref<99xf64>
    %m = arith.mulf %x, %c : f64
    %p = arith.{first} {terms}
    %y = arith.addf {sum}
    affine.store %y, %A[%i] : memref<99xf64>
    %z = arith.mulf %y, %c : f64
    affine.yield %z : f64
  }}
  return
}}
"""
SCANS = (
    "a[i] = a[i - 1] + s + b[i] + c[i]",
    "a[i] = 0.25 * (a[i - 1] + b[i] + c[i] + s)",
    "a[i] = a[i] + a[i - 1] * b[i] + a[i - 2] * c[i]",
    "a[i] = a[i - 2] - b[i] + s - c[i]",
    "a[i] = s - a[i - 1] + b[i] + c[i]",
    "a[i] = a[i - 1] - b[i] - c[i]",
)


@pytest.mark.parametrize("form", FORMS)
def test_terms(form: str) -> None:
    terms, total, first, others = FORMS[form]
    module = parse_module(LOOP.format(terms=terms, sum=total, first=first or "addf"))
    (_, top) = (op for op in module.walk() if isinstance(op, arith.AddfOp | arith.SubfOp))
    found = carried_sum(top)
    assert (None if found is None else len(found.others)) == others


def test_sums_alone_are_left_to_lanes() -> None:
    text = LOOP.format(terms="%x, %0 : f64", sum="%p, %1 : f64", first="addf")
    text = text.replace("    affine.store %y, %A[%i] : memref<99xf64>\n", "")
    text = text.replace("    %z = arith.mulf %y, %c : f64\n", "").replace("yield %z", "yield %y")
    *_, top = (op for op in parse_module(text).walk() if isinstance(op, arith.AddfOp))
    assert carried_sum(top) is None


@pytest.mark.parametrize("schedule", [None, "rules"])
@pytest.mark.parametrize("body", SCANS)
def test_results(body: str, schedule: str | None, tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        "void f(int n, double s, double *a, const double *b, const double *c) {\n"
        f"  for (int i = 2; i < n; i++) {body};\n}}\n"
    )
    function = loopwright.load(path)["f"]
    n = 3000
    a, b, c = (np.random.default_rng(seed).random(n) - 0.5 for seed in range(3))
    expected, found = a.copy(), a.copy()
    function.compile()(n, 0.01, expected, b, c)
    function.compile(schedule, fast_math=True, threads=1)(n, 0.01, found, b, c)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
