"""Stored limits of this machine, in the cache directory.

A rate is FLOP/s or bytes/s; times are seconds. Where a number depends on how many cores work, it
is there for one and for all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from math import inf
from pathlib import Path
from typing import Any

from ...passes.estimate.roofline import Ceilings
from ...passes.machine.cpuinfo import CpuInfo
from ...passes.machine.target import Target
from ...support.json_records import Record
from ...support.output_files import write_output
from ...support.stored_files import read_stored
from ..jit.cache import cache_directory
from ..measuring.timing import Timing

FORMAT = 3
FILE = "machine.json"
DRAM = "DRAM"

UNSTEADY = 0.2
"""Spread of peaks from which on something else was running."""

STOLEN = 0.02
"""Share of the CPU time that the host may take meanwhile."""

PRIVATE = ("L1", "L2")
"""The caches of which each core has its own."""


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
class MeasuredMachine:
    """The measured limits of a machine.

    `peaks[type][threads]` are operations/s, of fused multiply-adds or, for integers, of additions
    and bitwise operations; `bandwidths[level][pattern][threads]`
    bytes/s, levels being L1, L2 ... and DRAM, patterns read, copy and triad; `fork_join` the
    seconds of an empty parallel region, in a row (`hot`) and after a pause (`idle`); `stolen` the
    share of the CPU time that the host gave to others meanwhile.
    """

    cpu: str
    date: str
    cores: int
    vector_bits: int
    caches: Mapping[str, int]
    peaks: Mapping[str, Mapping[str, Measurement]]
    bandwidths: Mapping[str, Mapping[str, Mapping[str, Measurement]]]
    fork_join: Mapping[str, Measurement]
    stolen: float = 0.0

    def disturbance(self) -> str | None:
        """What shows that something else was running; None where nothing does."""
        if self.stolen > STOLEN:
            return f"the host took {self.stolen:.0%} of the CPU time"
        spreads = {
            (kind, threads): value.spread
            for kind, values in self.peaks.items()
            for threads, value in values.items()
        }
        kind, threads = max(spreads, key=lambda name: spreads[name])
        if spreads[kind, threads] <= UNSTEADY:
            return None
        return f"the peak of {kind} on {threads} thread(s) varies by {spreads[kind, threads]:.0%}"

    def peak(self, element_type: str, threads: int) -> float | None:
        """Operations/s at most; None for a type that was not measured (index, i1)."""
        found = self.peaks.get(element_type)
        return None if found is None else self._scaled(found, threads)

    def bandwidth(self, level: str, threads: int) -> float:
        """Bytes/s at most, of the fastest pattern."""
        return max(self._scaled(pattern, threads) for pattern in self.bandwidths[level].values())

    def level(self, data_bytes: int, threads: int) -> str:
        """The first level that holds the data; the caches of each core count once per thread."""
        for level, size in self.caches.items():
            if data_bytes <= size * (threads if level in PRIVATE else 1):
                return level
        return DRAM

    def ceilings(self, element_type: str, threads: int, *, fused: bool = True) -> Ceilings:
        """The roofline of so many threads, for elements of a type.

        Without products to fuse with additions, as in semirings of minima and sums, processors do
        half as many operations on floats: each takes an instruction of its own.
        """
        bandwidths = {level: self.bandwidth(level, threads) for level in self.bandwidths}
        peak = self.peak(element_type, threads)
        if peak is not None and element_type.startswith("f") and not fused:
            peak /= 2
        return Ceilings(peak, bandwidths)

    def _scaled(self, by_threads: Mapping[str, Measurement], threads: int) -> float:
        """The rate of some of the cores, interpolated linearly between one and all."""
        one = by_threads["1"].best
        if self.cores == 1:
            return one
        all_cores = max(one, by_threads[str(self.cores)].best)
        share = (min(threads, self.cores) - 1) / (self.cores - 1)
        return one + (all_cores - one) * share


def load(path: Path | None = None) -> MeasuredMachine | None:
    """The stored measurement of this machine; None when there is none, or of another machine.

    Warns where it cannot be read.
    """
    path = path or _stored()
    if path is None:
        return None
    machine = read_stored(path, _parse, "the machine's limits are measured again")
    target = Target.host()
    known = (CpuInfo.read().model_name, target.cores, target.vector_bits)
    same = machine is not None and (machine.cpu, machine.cores, machine.vector_bits) == known
    return machine if same else None


def save(machine: MeasuredMachine, path: Path | None = None) -> Path | None:
    """Stores a measurement; returns where, None when caching is off. Raises OSError.

    One with a `disturbance` is not stored.
    """
    path = path or _stored()
    if path is None or machine.disturbance() is not None:
        return None
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_output(path, json.dumps(to_json(machine), indent=1))
    return path


@dataclass(frozen=True)
class MachineRecord(MeasuredMachine, Record):
    """The measured limits of a machine, as they are stored; `format` counts versions."""

    format: int = FORMAT


def to_json(machine: MeasuredMachine) -> dict[str, Any]:
    """The machine as JSON's objects."""
    return MachineRecord(**vars(machine)).to_json()


def _parse(contents: bytes) -> MeasuredMachine | None:
    """The machine in a file; None for another format. Raises an error for anything else."""
    data = json.loads(contents)
    if data["format"] != FORMAT:
        return None
    machine = _from_json(data)
    _check(machine)
    return machine


def _from_json(data: Mapping[str, Any]) -> MeasuredMachine:
    def measurements(values: Mapping[str, Any]) -> dict[str, Measurement]:
        return {key: Measurement(**value) for key, value in values.items()}

    return MeasuredMachine(
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
        stolen=data["stolen"],
    )


def _check(machine: MeasuredMachine) -> None:
    """Raises an error where the file says anything else than the figures of a machine."""
    figures = [machine.cores, machine.vector_bits, machine.stolen, *machine.caches.values()]
    by_threads = [
        *machine.peaks.values(),
        *(pattern for level in machine.bandwidths.values() for pattern in level.values()),
        machine.fork_join,
    ]
    figures += [value for each in by_threads for one in each.values() for value in astuple(one)]
    if not all(type(figure) in (int, float) and 0 <= figure < inf for figure in figures):
        raise ValueError("a figure is no number")
    for threads in range(1, machine.cores + 1):
        for kind in machine.peaks:
            machine.ceilings(kind, threads)


def _stored() -> Path | None:
    directory = cache_directory()
    return None if directory is None else directory / FILE
