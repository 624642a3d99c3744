"""Lanes that run different iterations, or none: the same bits as unscheduled, nothing outside."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.divergent_programs import COLUMNS, LANE, ROWS, divergent_program
from support.targets import runs_here

import loopwright
from loopwright.passes.machine.target import Target

SCHEDULES = (
    "vectorize{{loops={0} width={1}}}",
    "vectorize{{loops={0} width={1}}}",
    "parallel{{loops={0}}},vectorize{{loops={0} width={1}}}",
    "vectorize{{loops={0} width={1}}},unroll{{loops=k factor=2}}",
    "strip-mine{{loops={0} size=8}},vectorize{{loops={0} width={1}}}",
    "default",
    "default",
)
TARGETS = [*filter(runs_here, map(Target.named, ("host", "zen3", "zen4")))]


def check(seed: int) -> None:
    """One program: as written, proved, and with its bounds checked."""
    program = divergent_program(seed)
    if program.first is None:
        return
    source = random.Random(seed)
    schedule = source.choice(SCHEDULES).format(LANE, program.width)
    target = source.choice(TARGETS)
    function = loopwright.load(program.text)["f"]
    kernels = [
        function.compile(threads=1),
        function.compile(schedule, threads=2, target=target, verify=True),
        function.compile(schedule, threads=2, target=target, check_bounds=True),
    ]
    kind = np.dtype({"f": "float", "i": "int"}[program.kind[0]] + program.kind[1:])
    values = np.random.default_rng(seed)
    shapes = ((ROWS, COLUMNS), COLUMNS - program.first, COLUMNS)
    arrays = [(3 * values.standard_normal(shape)).astype(kind) for shape in shapes]
    results = [[array.copy() for array in arrays] for _ in kernels]
    for kernel, own in zip(kernels, results, strict=True):
        kernel(*own)
    for expected, *found in zip(*results, strict=True):
        for each in found:
            np.testing.assert_array_equal(expected, each, f"{program.text}{schedule}")


@pytest.mark.parametrize("block", range(8))
def test_divergent_programs(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        check(seed)
