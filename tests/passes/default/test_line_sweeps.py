"""Sweeps over independent lines: in lockstep, with their coefficients in buffers of a strip."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from support.targets import NARROW, WIDE

import loopwright
from loopwright import f32, f64
from loopwright.passes.default.line_sweeps import line_sweeps
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.machine.target import Target
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.schedule_tree import nests
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.program import Function

Arrays = dict[str, np.ndarray[Any, Any]]


@loopwright.kernel
def diffusion(
    steps: int, n: int, u: f64["n", "n"], v: f64["n", "n"], c: f64["n", "n"], d: f64["n", "n"]
):
    """Implicit in one direction, then in the other one; nobody reads c and d afterwards."""
    for _ in range(steps):
        for i in range(1, n - 1):
            c[i, 0] = 0.0
            d[i, 0] = 1.0
            for j in range(1, n - 1):
                c[i, j] = 0.3 / (1.75 - 0.3 * c[i, j - 1])
                d[i, j] = (0.25 * u[j, i - 1] + 0.5 * u[j, i] + 0.3 * d[i, j - 1]) * c[i, j]
            for j in range(1, n - 1):
                v[n - 1 - j, i] = c[i, n - 1 - j] * v[n - j, i] + d[i, n - 1 - j]
        for i in range(1, n - 1):
            c[i, 0] = 0.0
            d[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                c[i, j] = 0.2 / (1.5 - 0.2 * c[i, j - 1])
                d[i, j] = (v[i - 1, j] + 0.5 * v[i, j] + v[i + 1, j] + 0.2 * d[i, j - 1]) * c[i, j]
            for j in range(1, n - 1):
                u[i, n - 1 - j] = c[i, n - 1 - j] * u[i, n - j] + d[i, n - 1 - j]


@loopwright.kernel
def systems_in_rows(m: int, n: int, a: f32["m", "n"], b: f32["m", "n"], x: f32["m", "n"]):
    """Thomas algorithm with coefficients that only the function sees."""
    c = np.empty((m, n), np.float32)
    for s in range(m):
        c[s, 0] = a[s, 0] / b[s, 0]
        x[s, 0] = x[s, 0] / b[s, 0]
        for i in range(1, n):
            c[s, i] = a[s, i] / (b[s, i] - a[s, i] * c[s, i - 1])
            x[s, i] = (x[s, i] - a[s, i] * x[s, i - 1]) / (b[s, i] - a[s, i] * c[s, i - 1])
        for i in range(1, n):
            x[s, n - 1 - i] = x[s, n - 1 - i] - c[s, n - 1 - i] * x[s, n - i]


@loopwright.kernel
def systems_in_columns(n: int, m: int, a: f64["n", "m"], b: f64["n", "m"], x: f64["n", "m"]):
    """The same with one system in each column."""
    c = np.empty((n, m))
    for s in range(m):
        c[0, s] = a[0, s] / b[0, s]
        for i in range(1, n):
            c[i, s] = a[i, s] / (b[i, s] - a[i, s] * c[i - 1, s])
            x[i, s] = (x[i, s] - a[i, s] * x[i - 1, s]) / (b[i, s] - a[i, s] * c[i - 1, s])
        for i in range(1, n):
            x[n - 1 - i, s] = x[n - 1 - i, s] - c[n - 1 - i, s] * x[n - i, s]


@loopwright.kernel
def filters(m: int, n: int, x: f64["m", "n"], y: f64["m", "n"]):
    """A bank of recursive filters, one for each row, there and back."""
    w = np.empty((m, n))
    for s in range(m):
        w[s, 0] = x[s, 0]
        w[s, 1] = x[s, 1]
        for i in range(2, n):
            w[s, i] = 0.5 * x[s, i] + 0.75 * w[s, i - 1] - 0.25 * w[s, i - 2]
        for i in range(1, n):
            y[s, n - 1 - i] = 0.5 * w[s, n - 1 - i] + 0.5 * y[s, n - i]


def arguments(function: Function, sizes: tuple[int, ...]) -> list[Any]:
    rng = np.random.default_rng(3)
    values = dict(zip((p.name for p in function.scop.parameters), sizes, strict=True))
    extents = infer_extents(function.scop, values)
    types = {"f64": np.float64, "f32": np.float32}
    arrays = [
        (1 + rng.random([extents.get(str(e), e) for e in array.shape])).astype(
            types[str(array.element_type)]
        )
        for array in function.scop.arrays
        if not array.is_local
    ]
    return [*sizes, *arrays]


def choose(
    function: Function, sizes: tuple[int, ...], target: Target, threads: int = 1
) -> Schedule | None:
    original = Schedule.original(function.scop, target)
    values = dict(zip((p.name for p in function.scop.parameters), sizes, strict=True))
    context = SchedulingContext(infer_extents(function.scop, values), threads)
    result = original
    for nest in nests(original.tree):
        result = line_sweeps(result, nest, context) or result
    return None if result is original else result


PROGRAMS: dict[str, tuple[Any, tuple[int, ...], set[str]]] = {
    "diffusion": (diffusion, (100, 600), {"c", "d"}),
    "systems in rows": (systems_in_rows, (3000, 300), {"c"}),
    "systems in columns": (systems_in_columns, (300, 3000), {"c"}),
    "filters": (filters, (900, 500), {"w"}),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("target", [WIDE, NARROW], ids=["wide", "narrow"])
def test_coefficients_stay_in_buffers(name: str, target: Target) -> None:
    kernel, sizes, temporaries = PROGRAMS[name]
    chosen = choose(kernel.function, sizes, target, 2)
    assert chosen is not None
    steps = [str(step) for step in chosen.transformations]
    packed = {step.split("array=")[1].split()[0].rstrip("}") for step in steps if "pack" in step}
    assert packed == temporaries
    sweeps = 2 if name == "diffusion" else 1
    assert sum(step.startswith("parallel") for step in steps) == sweeps
    assert any(step.startswith("unroll") for step in steps) == (name != "systems in columns")
    # Only what is left at the end goes to memory.
    added = [s.name for s in chosen.scop.statements if s.name.startswith(("pack", "unpack"))]
    assert added == (["unpack_c", "unpack_d"] if name == "diffusion" else [])


SMALL: dict[str, Callable[[int], tuple[int, ...]]] = {
    "diffusion": lambda n: (3, n),
    "systems in rows": lambda n: (n, 19),
    "systems in columns": lambda n: (17, n),
    "filters": lambda n: (n, 21),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("extent", [2, 3, 9, 16, 35, 70])
@pytest.mark.parametrize("threads", [1, 2])
def test_results_are_bit_equal_and_proved(name: str, extent: int, threads: int) -> None:
    kernel, large, _ = PROGRAMS[name]
    chosen = choose(kernel.function, large, Target.host(), threads)
    assert chosen is not None
    expected = arguments(kernel.function, SMALL[name](extent))
    actual = [x.copy() if isinstance(x, np.ndarray) else x for x in expected]
    kernel.function.compile(None)(*expected)
    compiled = kernel.function.compile(str(chosen), threads=threads, verify=True)
    compiled(*actual)
    # Where a strip is wider than all lines together, rows of a buffer seem to overlap.
    assert (compiled.verdict is not None and compiled.verdict.is_proved) or extent < 18
    for wanted, found in zip(expected, actual, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_nothing_to_do_for_few_lines_and_sums() -> None:
    assert choose(filters.function, (4, 500), WIDE) is None
    assert choose(filters.function, (900, 4), WIDE) is None

    @loopwright.kernel
    def sums(m: int, n: int, x: f64["m", "n"], y: f64["m"]):
        for s in range(m):
            for i in range(n):
                y[s] += x[s, i]

    assert choose(sums.function, (900, 900), WIDE) is None
