"""Borders of innermost loops: peeled off, so that the interior has vectors."""

from __future__ import annotations

import re

import numpy as np
import pytest

import loopwright
from loopwright.passes.default.border_peeling import peeled_borders
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

SIZES = {"n": 70, "m": 83}


def clamped(radius: int = 1, element: str = "f32") -> Function:
    """`B[i, j] = sum of A[i, clamp(j + k)] + A[clamp(i + k), j]`, written with conditions."""
    reads = list[str]()
    total = "%c"
    for k in (*range(-radius, 0), *range(1, radius + 1)):
        for axis, size in (("i", "n"), ("j", "m")):
            name = f"%{axis}{'b' if k < 0 else 'a'}{abs(k)}"
            place = {"i": f"%i + {k}, %j", "j": f"%i, %j + {k}"}[axis].replace("+ -", "- ")
            inside = f"d0 + {k} >= 0" if k < 0 else f"s0 - d0 - {k + 1} >= 0"
            reads += [
                f"{name} = affine.if affine_set<(d0)[s0] : ({inside})>(%{axis})[%{size}]"
                f" -> {element} {{",
                f"  {name}r = affine.load %A[{place}] : memref<?x?x{element}>",
                f"  affine.yield {name}r : {element}",
                f"}} else {{ affine.yield %c : {element} }}",
                f"{name}s = arith.addf {total}, {name} : {element}",
            ]
            total = f"{name}s"
    text = f"""
    func.func @f(%n: index, %m: index, %A: memref<?x?x{element}>, %B: memref<?x?x{element}>) {{
      affine.for %i = 0 to %n {{
        affine.for %j = 0 to %m {{
          %c = affine.load %A[%i, %j] : memref<?x?x{element}>
          {chr(10).join(reads)}
          affine.store {total}, %B[%i, %j] : memref<?x?x{element}>
        }}
      }}
      return
    }}"""
    return loopwright.load(text)["f"]


def scheduled(function: Function, sizes: dict[str, int]) -> str:
    target = Target.named("zen4")
    return str(
        default_schedule(function.scop, infer_extents(function.scop, sizes), target, threads=2)
    )


@pytest.mark.parametrize("radius", [1, 2])
@pytest.mark.parametrize(("element", "lanes"), [("f32", 16), ("f64", 8)])
def test_the_interior_has_vectors(radius: int, element: str, lanes: int) -> None:
    steps = scheduled(clamped(radius, element), {"n": 500, "m": 600})
    assert len(re.findall("split", steps)) == 2
    assert f"at={radius}}}" in steps and f"at=m-{radius}}}" in steps
    assert f"width={lanes}" in steps


@pytest.mark.parametrize("sizes", [SIZES, {"n": 1, "m": 40}, {"n": 5, "m": 3}, {"n": 3, "m": 1}])
@pytest.mark.parametrize("radius", [1, 2])
def test_results_are_those_of_the_program(sizes: dict[str, int], radius: int) -> None:
    function = clamped(radius)
    original = Schedule.original(function.scop, Target.named("zen4"))
    context = SchedulingContext(infer_extents(function.scop, sizes), 2)
    peeled = peeled_borders(original, context)
    source = np.random.default_rng(1).random((sizes["n"], sizes["m"]), np.float32)
    expected, actual = np.zeros_like(source), np.zeros_like(source)
    function.compile(None)(sizes["n"], sizes["m"], source, expected)
    steps = "default" if peeled is None else str(peeled)
    function.compile(steps, verify=True, threads=2)(sizes["n"], sizes["m"], source, actual)
    np.testing.assert_array_equal(actual, expected)
    assert peeled is not None or sizes["m"] == 1


def test_what_runs_everywhere_is_not_cut() -> None:
    function = loopwright.load("""
    func.func @f(%n: index, %A: memref<?xf32>, %B: memref<?xf32>) {
      affine.for %i = 0 to %n {
        %a = affine.load %A[%i] : memref<?xf32>
        affine.store %a, %B[%i] : memref<?xf32>
        affine.store %a, %A[%i] : memref<?xf32>
      }
      return
    }""")["f"]
    context = SchedulingContext(infer_extents(function.scop, {"n": 1000}), 1)
    assert peeled_borders(Schedule.original(function.scop), context) is None


@pytest.mark.parametrize(("step", "size"), [(1, 60), (2, 5), (2, 60)])
@pytest.mark.parametrize("has_interior", [True, False])
def test_an_interior_may_begin_between_iterations_or_have_none(
    step: int, size: int, has_interior: bool
) -> None:
    inside = "affine.store %a, %B[%j] : memref<?xf32>" if has_interior else ""
    function = loopwright.load(f"""
    func.func @f(%n: index, %A: memref<?xf32>, %B: memref<?xf32>) {{
      affine.for %j = 0 to %n step {step} {{
        %a = affine.load %A[%j] : memref<?xf32>
        affine.if affine_set<(d0) : (-d0 >= 0)>(%j) {{
          affine.store %a, %B[%j] : memref<?xf32>
        }} else {{
          {inside}
        }}
        affine.if affine_set<(d0)[s0] : (d0 - s0 + 2 >= 0)>(%j)[%n] {{
          affine.store %a, %A[%j] : memref<?xf32>
        }}
      }}
      return
    }}""")["f"]
    context = SchedulingContext(infer_extents(function.scop, {"n": size}), 1)
    peeled = peeled_borders(Schedule.original(function.scop), context)
    source = np.arange(size, dtype=np.float32)
    expected, actual = np.zeros_like(source), np.zeros_like(source)
    function.compile(None)(size, source.copy(), expected)
    function.compile(None if peeled is None else str(peeled))(size, source.copy(), actual)
    np.testing.assert_array_equal(actual, expected)
    if not has_interior:
        assert peeled is None
