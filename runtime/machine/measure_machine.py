"""Measurement of machine limits: peaks, bandwidths, fork-join."""

from __future__ import annotations

import datetime
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from ...passes.machine.cpuinfo import CpuInfo
from ...passes.machine.target import Target
from ..jit.threads import run_in_team
from ..measuring.time_call import time_call
from ..measuring.timing import Timing
from .measured import DRAM, PRIVATE, MeasuredMachine, Measurement
from .probes import PATTERNS, Probes, probes

CALL_SECONDS = 3e-3
"""How long one measured call takes, about."""

BUDGET = 0.08
"""Seconds for each number."""

WARM_UP_SECONDS = 0.2
"""How long a core works before the first measurement: frequencies follow slowly."""

STOLEN = 8
"""The column of the line `cpu` of /proc/stat (proc(5))."""

MINIMUM_DRAM_BYTES = 256 << 20

BEYOND_L2 = 16
"""Sizes of the second-level caches that are hardly in them, and that a virtual machine's share of a
shared cache holds, which Linux does not tell."""


def measure_machine(progress: Callable[[str], None] = lambda text: None) -> MeasuredMachine:
    """Measures this machine, in a few seconds; `progress` is told what comes next."""
    target, code = Target.host(), probes()
    before = _stolen_seconds()
    start = time.monotonic()
    caches = {f"L{level}": size for level, size in sorted(target.caches.items())}
    counts = sorted({1, target.cores})
    progress("warming up")
    _warm_up(code)
    peaks: dict[str, dict[str, Measurement]] = {}
    for kind in code.arithmetic:
        progress(f"peak {kind}")
        peaks[kind] = {str(n): _peak(code, kind, n) for n in counts}
    bandwidths: dict[str, dict[str, dict[str, Measurement]]] = {}
    for level in (*caches, DRAM):
        progress(f"bandwidth {level}")
        bandwidths[level] = _bandwidths(code, caches, level, counts)
    progress("fork and join")
    forks = {"hot": _fork_hot(code, target.cores), "idle": _fork_idle(code, target.cores)}
    seconds = (time.monotonic() - start) * target.cores
    return MeasuredMachine(
        CpuInfo.read().model_name,
        datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        target.cores,
        target.vector_bits,
        caches,
        peaks,
        bandwidths,
        forks,
        max(0.0, _stolen_seconds() - before) / seconds,
    )


def _stolen_seconds() -> float:
    """CPU time that the host gave to other virtual machines since the start; 0 if unknown."""
    try:
        first, *_ = Path("/proc/stat").read_text(encoding="ascii").splitlines()
        return int(first.split()[STOLEN]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return 0.0


def _warm_up(code: Probes) -> None:
    end = time.perf_counter() + WARM_UP_SECONDS
    while time.perf_counter() < end:
        code.arithmetic["f64"](100_000)


def _repetitions(call: Callable[[int], object]) -> int:
    """How often to repeat inside of one measured call."""
    count = 1
    while True:
        start = time.perf_counter()
        call(count)
        seconds = time.perf_counter() - start
        if seconds > CALL_SECONDS / 2:
            return count
        count *= 2 if seconds > CALL_SECONDS / 100 else 16


def _peak(code: Probes, kind: str, threads: int) -> Measurement:
    function = code.arithmetic[kind]
    count = _repetitions(function)
    timing = time_call(
        lambda: run_in_team(threads, lambda: function(count)), threads=threads, budget=BUDGET
    )
    return Measurement.rate(float(count) * code.operations[kind] * threads, timing)


def _bandwidths(
    code: Probes, caches: Mapping[str, int], level: str, counts: list[int]
) -> dict[str, dict[str, Measurement]]:
    result: dict[str, dict[str, Measurement]] = {pattern.name: {} for pattern in PATTERNS}
    for threads in counts:
        size = working_set(caches, level, threads)
        buffers = [_Buffer(size) for _ in range(threads)]
        for pattern in PATTERNS:
            result[pattern.name][str(threads)] = _bandwidth(
                code, pattern.name, pattern.arrays, buffers
            )
    return result


def working_set(caches: Mapping[str, int], level: str, threads: int) -> int:
    """Bytes of each thread: half of the cache at most, or far more than all caches."""
    if level in PRIVATE:
        return caches[level] // 2
    if level != DRAM:
        nearby = caches.get("L2", caches[level])
        return min(caches[level] // 2 // threads, BEYOND_L2 * nearby)
    return max(MINIMUM_DRAM_BYTES, 4 * max(caches.values(), default=0)) // threads


class _Buffer:
    """Page-aligned memory, first touched by its thread (NUMA)."""

    def __init__(self, size: int) -> None:
        page = Target.host().page
        self.size = size
        self._memory = np.zeros(size + page, np.uint8)
        self._memory.fill(0)
        self.address = -(-self._memory.ctypes.data // page) * page


def _bandwidth(code: Probes, name: str, arrays: int, buffers: list[_Buffer]) -> Measurement:
    function, size = code.memory[name], buffers[0].size
    steps = max(1, size // arrays // code.step_bytes)
    part = steps * code.step_bytes

    def go(buffer: _Buffer, repeats: int) -> None:
        a, b, c = (buffer.address + part * (number % arrays) for number in range(3))
        function(a, b, c, steps, repeats)

    repeats = _repetitions(lambda count: go(buffers[0], count))

    def all_threads() -> None:
        waiting = list(buffers)
        run_in_team(len(buffers), lambda: go(waiting.pop(), repeats))

    timing = time_call(all_threads, threads=len(buffers), budget=BUDGET)
    return Measurement.rate(float(repeats) * part * arrays * len(buffers), timing)


def _fork_hot(code: Probes, threads: int) -> Measurement:
    count = _repetitions(lambda n: code.fork(n, threads))
    timing = time_call(lambda: code.fork(count, threads), threads=threads, budget=BUDGET)
    return Measurement.seconds(count, timing)


def _fork_idle(code: Probes, threads: int) -> Measurement:
    seconds: list[float] = []
    for _ in range(15):
        time.sleep(0.01)
        start = time.perf_counter()
        code.fork(1, threads)
        seconds.append(time.perf_counter() - start)
    return Measurement.seconds(1, Timing(tuple(seconds), threads, False, False, False))
