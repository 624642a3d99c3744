"""Homes that cannot be written, are not there or are full, clocks that jump, and memory."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

import loopwright

from .crowds import TEXT, doubles
from .kills import TUNE
from .processes import Home, run

COMMANDS = (
    ["run", "polybench/gemm", "--size", "MINI", "-p", "auto", "--seconds", "0.01"],
    TUNE,
    ["tune", "polybench/gemm", "--size", "MINI", "--threads", "1", "--tiles", "--budget", "2s"],
    ["bench", "polybench/gemm", "--size", "MINI", "--seconds", "0.01", "--peers", "none"],
)

FULL = 1000
"""Bytes that a file may have where the disk is full."""

PER_COMPILE, IN_ALL = 2048, 1 << 20
"""Bytes that a compile may leave, and calls altogether."""

_CLOCK = """
import random, time
_time = time.time
time.time = lambda: _time() + random.uniform(-3e8, 3e8)
"""


def works_in(variables: Mapping[str, str]) -> Callable[[Home, Random, int], Iterator[str]]:
    """Every command ends well in a home that cannot be used; `{home}` is one that can."""

    def check(home: Home, random: Random, times: int) -> Iterator[str]:
        given = {name: value.format(home=home.folder) for name, value in variables.items()}
        there = replace(home, variables=given)
        for turn in range(times):
            command = COMMANDS[turn % len(COMMANDS)]
            yield from run(there, command).problems([0])

    return check


def full_disk(home: Home, random: Random, times: int) -> Iterator[str]:
    """Outputs that do not fit are told in one line, and leave the older ones as they were."""
    for turn in range(times):
        command = (
            ["build", "polybench/gemm", "-o", "gemm.o"],
            ["build", "polybench/gemm", "-o", "libgemm.so"],
            [*COMMANDS[0]],
        )[turn % 3]
        old = home.folder / command[-1]
        if command[-2] == "-o":
            old.write_text("old")
        end = run(home, command, most_bytes=FULL)
        if command[-2] != "-o":
            yield from end.problems([0])
            continue
        yield from end.problems([1])
        if old.read_text() != "old" or old.stem not in end.err:
            yield f"{old.name} was destroyed, or not named"
        if len(end.err.strip().splitlines()) > 2:
            yield f"{len(end.err.strip().splitlines())} lines of messages"


def jumping_clock(home: Home, random: Random, times: int) -> Iterator[str]:
    """Each look at the clock is ten years before or behind the last one."""
    folder = home.folder / "clock"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(_CLOCK)
    path = f"{folder}:{home.environment()['PYTHONPATH']}"
    yield from works_in({"PYTHONPATH": path})(home, random, times)


def memory_of_calls(home: Home, random: Random, times: int) -> Iterator[str]:
    """Many calls of a kernel, most of them with sizes that it knows."""
    kernel = loopwright.load(TEXT)["f"].compile("vectorize{loops=i}", threads=1)
    values = np.zeros(64)

    def call(number: int) -> None:
        size = number % 4 + 60
        kernel(size, values[:size])

    for number in range(1000):
        call(number)
    before = private_bytes()
    for number in range(times):
        call(number)
    grown = private_bytes() - before
    if grown > IN_ALL:
        yield f"{grown} bytes more after {times} calls"


def memory_of_compiles(home: Home, random: Random, times: int) -> Iterator[str]:
    """Many kernels of one program, each dropped after a call."""
    function = loopwright.load(TEXT)["f"]

    def compile_one(number: int) -> None:
        kernel = function.compile("parallel{loops=i}", threads=2)
        assert doubles(kernel, 20 + number % 40)

    for number in range(100):
        compile_one(number)
    before = private_bytes()
    for number in range(times):
        compile_one(number)
    grown = (private_bytes() - before) / times
    if grown > PER_COMPILE:
        yield f"{grown:.0f} bytes more for each of {times} compiles"


def private_bytes() -> int:
    """The memory of this process that nothing else has."""
    gc.collect()
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) << 10 for line in lines if "Private_Dirty" in line)
