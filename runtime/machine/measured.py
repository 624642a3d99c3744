"""What this machine can do at most: measured once, kept in the cache directory, asked by `bench`.

A rate is FLOP/s or bytes/s; times are seconds. Where a number depends on how many cores work, it
is there for one and for all.
"""

from __future__ import annotations

import datetime
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...passes.machine.target import Target
from ..jit.cache import cache_directory
from ..jit.threads import run_in_team
from ..measuring.time_call import time_call
from ..measuring.timing import Timing
from .probes import PATTERNS, Probes, probes

FORMAT = 1
FILE = "machine.json"
DRAM = "DRAM"

CALL_SECONDS = 3e-3
"""How long one measured call takes, about."""

BUDGET = 0.08
"""Seconds for each number."""

WARM_UP_SECONDS = 0.2
"""How long a core works before the first measurement: frequencies follow slowly."""

MINIMUM_DRAM_BYTES = 256 << 20


@dataclass(frozen=True)
class Measurement:
    """Median and best of several measurements; `spread` is the interquartile range / median."""

    median: float
    best: float
    spread: float

    @classmethod
    def rate(cls, work: float, timing: Timing) -> Measurement:
        """Work per second."""
        return cls(work / timing.median, work / timing.min, timing.spread)

    @classmethod
    def seconds(cls, calls: int, timing: Timing) -> Measurement:
        """Seconds of one of `calls`."""
        return cls(timing.median / calls, timing.min / calls, timing.spread)


@dataclass(frozen=True)
class Machine:
    """A measured machine.

    `peaks[type][threads]` are FLOP/s of fused multiply-adds; `bandwidths[level][pattern][threads]`
    bytes/s, levels being L1, L2 ... and DRAM, patterns read, copy and triad; `fork_join` the
    seconds of an empty parallel region, in a row (`hot`) and after a pause (`idle`).
    """

    cpu: str
    date: str
    cores: int
    vector_bits: int
    caches: Mapping[str, int]
    peaks: Mapping[str, Mapping[str, Measurement]]
    bandwidths: Mapping[str, Mapping[str, Mapping[str, Measurement]]]
    fork_join: Mapping[str, Measurement]

    def peak(self, element_type: str, threads: int) -> float | None:
        """FLOP/s at most; None for a type that was not measured (integers)."""
        found = self.peaks.get(element_type)
        return None if found is None else self._scaled(found, threads)

    def bandwidth(self, level: str, threads: int) -> float:
        """Bytes/s at most, of the fastest pattern."""
        return max(self._scaled(pattern, threads) for pattern in self.bandwidths[level].values())

    def level(self, data_bytes: int, threads: int) -> str:
        """The first level that holds the data; the caches of each core count once per thread."""
        for level, size in self.caches.items():
            if data_bytes <= size * (threads if level in _PRIVATE else 1):
                return level
        return DRAM

    def least_seconds(
        self, flops: int, traffic: int, data_bytes: int, element_type: str, threads: int
    ) -> float:
        """The roofline: no program can do this work faster.

        `traffic` are bytes that must be moved from and to the level that holds `data_bytes`.
        """
        bandwidth = self.bandwidth(self.level(data_bytes, threads), threads)
        peak = self.peak(element_type, threads)
        return max(traffic / bandwidth, flops / peak if peak is not None else 0.0)

    def _scaled(self, by_threads: Mapping[str, Measurement], threads: int) -> float:
        """The rate of some of the cores, interpolated linearly between one and all."""
        one = by_threads["1"].best
        if self.cores == 1:
            return one
        all_cores = max(one, by_threads[str(self.cores)].best)
        share = (min(threads, self.cores) - 1) / (self.cores - 1)
        return one + (all_cores - one) * share


_PRIVATE = ("L1", "L2")


def processor_name() -> str:
    """The model of the CPU, as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "unknown"
    found = re.search(r"^model name\s*:\s*(.*)$", text, re.MULTILINE)
    return found[1] if found else "unknown"


def measure(progress: Callable[[str], None] = lambda text: None) -> Machine:
    """Measures this machine, in a few seconds; `progress` is told what comes next."""
    target, code = Target.host(), probes()
    caches = {f"L{level}": size for level, size in sorted(target.caches.items())}
    counts = sorted({1, target.cores})
    progress("warming up")
    _warm_up(code)
    peaks: dict[str, dict[str, Measurement]] = {}
    for kind in code.multiply_add:
        progress(f"peak {kind}")
        peaks[kind] = {str(n): _peak(code, kind, n) for n in counts}
    bandwidths: dict[str, dict[str, dict[str, Measurement]]] = {}
    for level in (*caches, DRAM):
        progress(f"bandwidth {level}")
        bandwidths[level] = _bandwidths(code, caches, level, counts)
    progress("fork and join")
    return Machine(
        processor_name(),
        datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        target.cores,
        target.vector_bits,
        caches,
        peaks,
        bandwidths,
        {"hot": _fork_hot(code, target.cores), "idle": _fork_idle(code, target.cores)},
    )


def _warm_up(code: Probes) -> None:
    end = time.perf_counter() + WARM_UP_SECONDS
    while time.perf_counter() < end:
        code.multiply_add["f64"](100_000)


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
    function = code.multiply_add[kind]
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
        size = _working_set(caches, level, threads)
        buffers = [_Buffer(size) for _ in range(threads)]
        for pattern in PATTERNS:
            result[pattern.name][str(threads)] = _bandwidth(
                code, pattern.name, pattern.arrays, buffers
            )
    return result


def _working_set(caches: Mapping[str, int], level: str, threads: int) -> int:
    """Bytes of each thread: half of the cache, or far more than all caches."""
    if level in _PRIVATE:
        return caches[level] // 2
    if level != DRAM:
        return caches[level] // 2 // threads
    return max(MINIMUM_DRAM_BYTES, 4 * max(caches.values(), default=0)) // threads


class _Buffer:
    """Memory aligned to pages and touched by the thread that made it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._memory = np.zeros(size + 4096, np.uint8)
        self._memory.fill(0)
        self.address = -(-self._memory.ctypes.data // 4096) * 4096


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


def load(path: Path | None = None) -> Machine | None:
    """The stored measurement of this machine; None when there is none, or of another machine."""
    path = path or _stored()
    if path is None:
        return None
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        machine = _from_json(data) if data["format"] == FORMAT else None
    except (OSError, ValueError, KeyError, TypeError):
        return None
    target = Target.host()
    known = (processor_name(), target.cores, target.vector_bits)
    same = machine is not None and (machine.cpu, machine.cores, machine.vector_bits) == known
    return machine if same else None


def save(machine: Machine, path: Path | None = None) -> Path | None:
    """Stores a measurement; returns where, None when caching is off. Raises OSError."""
    path = path or _stored()
    if path is None:
        return None
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(to_json(machine), file, indent=1)
    Path(temporary).replace(path)
    return path


def to_json(machine: Machine) -> dict[str, Any]:
    """The machine as JSON's objects."""
    return {"format": FORMAT, **asdict(machine)}


def _from_json(data: Mapping[str, Any]) -> Machine:
    def measurements(values: Mapping[str, Any]) -> dict[str, Measurement]:
        return {key: Measurement(**value) for key, value in values.items()}

    return Machine(
        cpu=data["cpu"],
        date=data["date"],
        cores=data["cores"],
        vector_bits=data["vector_bits"],
        caches=data["caches"],
        peaks={kind: measurements(values) for kind, values in data["peaks"].items()},
        bandwidths={
            level: {pattern: measurements(values) for pattern, values in patterns.items()}
            for level, patterns in data["bandwidths"].items()
        },
        fork_join=measurements(data["fork_join"]),
    )


def _stored() -> Path | None:
    directory = cache_directory()
    return None if directory is None else directory / FILE
