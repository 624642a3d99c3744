"""A machine with round numbers."""

from __future__ import annotations

from loopwright.passes.machine.cpuinfo import CpuInfo
from loopwright.passes.machine.target import Target
from loopwright.runtime.machine.measured import MeasuredMachine, Measurement


def rate(value: float) -> Measurement:
    return Measurement(0.9 * value, value, 0.01)


def make_machine() -> MeasuredMachine:
    """2 cores; 100 GFLOP/s in f64 each; 400, 200, 100, 50 GB/s from L1, L2, L3, DRAM."""
    speeds = {"L1": 400e9, "L2": 200e9, "L3": 100e9, "DRAM": 50e9}
    target = Target.host()
    return MeasuredMachine(
        cpu=CpuInfo.read().model_name,
        date="2026-01-01T00:00:00+00:00",
        cores=target.cores,
        vector_bits=target.vector_bits,
        caches={"L1": 1 << 15, "L2": 1 << 20, "L3": 1 << 25},
        peaks={
            "f32": {"1": rate(200e9), str(target.cores): rate(200e9 * target.cores)},
            "f64": {"1": rate(100e9), str(target.cores): rate(100e9 * target.cores)},
        },
        bandwidths={
            level: {"read": {"1": rate(speed), str(target.cores): rate(speed * target.cores)}}
            for level, speed in speeds.items()
        },
        fork_join={"hot": Measurement(1e-6, 1e-6, 0.0), "idle": Measurement(1e-5, 1e-5, 0.0)},
    )
