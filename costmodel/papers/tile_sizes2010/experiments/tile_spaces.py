"""Exhaustive measurement of tile-size spaces: `python -m $PAPER.experiments.tile_spaces`.

The seven benchmarks and 22^3 tile sizes of "Neural Network Assisted Tile Size Selection" (2010,
section 3.1), each benchmark compiled once with sizes given at run time and its innermost point loop
in vectors, on one thread. Results go to `datasets/tiles/NAME.parquet`: `Ti`, `Tj`, `Tk`, `seconds`,
and `is_bound` where a run was ended because it was `CUTOFF` times slower than the best one so far.

A configuration runs once; those close to the best run again, in rounds; the shortest run counts.
Every few runs, the same configuration runs: where it is slow, the machine is, and the runs since
the last time are made again. Sizes that cover a loop altogether are one configuration. The order is
random, so that whatever drifts is no pattern. It can be interrupted at any time and goes on where
it was. Times are those of the thread's own processor time. For numbers worth keeping, nothing else
may run on the processor:

    chrt -f 15 taskset -c 1 python -m $PAPER.experiments.tile_spaces

`PAPER` is loopwright.costmodel.papers.tile_sizes2010.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from multiprocessing.connection import Connection
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from .....kernels.catalogue import catalogue
from .....runtime.kernel import Kernel
from .....runtime.measuring.arena import Arena, array_bytes
from .....runtime.measuring.cpu_pace import Pace
from .....runtime.program import Function, load

pa: Any = importlib.import_module("pyarrow")
parquet: Any = importlib.import_module("pyarrow.parquet")

FOLDER = Path("datasets/tiles")

SIZES = (1, 2, 4, 6, 8, 10, 12, 16, 30, 32, 40, 48, 64, 100, 128, 150, 200, 256, 300, 400, 500, 600)
NAMES = ("Ti", "Tj", "Tk")

CUTOFF = 3.0
"""A run that takes so many times the best one's seconds is ended."""

CLOSE = ((6, 1.25), (18, 1.06), (60, 1.03))
"""Up to which round a configuration is repeated that takes so many times the best one's seconds."""

RUNS = CLOSE[-1][0]

REFERENCE = (64, 64, 64)
"""The configuration that tells whether the machine is as fast as before."""

CHUNK = 8
"""Runs between two of the reference."""

SLOW = 1.1
"""A reference that takes so many times its usual seconds says that the machine is slow."""

PATIENCE = 20
"""How often the same runs are made again before they count nevertheless."""

# The version of PolyBench that the paper used has a matrix of sums.
DOITGEN = """
func.func @doitgen(%nr: index, %nq: index, %np: index, %A: memref<?x?x?xf64>, %C4: memref<?x?xf64>,
                   %sum: memref<?x?x?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %r = 0 to %nr {
    affine.for %q = 0 to %nq {
      affine.for %p = 0 to %np {
        affine.store %zero, %sum[%r, %q, %p] : memref<?x?x?xf64>
        affine.for %s = 0 to %np {
          %0 = affine.load %sum[%r, %q, %p] : memref<?x?x?xf64>
          %1 = affine.load %A[%r, %q, %s] : memref<?x?x?xf64>
          %2 = affine.load %C4[%s, %p] : memref<?x?xf64>
          %3 = arith.mulf %1, %2 : f64
          %4 = arith.addf %0, %3 : f64
          affine.store %4, %sum[%r, %q, %p] : memref<?x?x?xf64>
        }
      }
      affine.for %p = 0 to %np {
        %5 = affine.load %sum[%r, %q, %p] : memref<?x?x?xf64>
        affine.store %5, %A[%r, %q, %p] : memref<?x?x?xf64>
      }
    }
  }
  return
}
"""

Sizes = tuple[int, int, int]


@dataclass(frozen=True)
class Benchmark:
    """A program, by name or as text, its tilable order, and its sizes.

    `extents` are the tile sizes from which on a tile is the whole loop, where that is so.
    """

    program: str
    order: str
    tiled: str
    vectors: str
    sizes: Mapping[str, int]
    extents: tuple[int | None, int | None, int | None] = (600, 600, 600)
    fast_math: bool = False

    @property
    def schedule(self) -> str:
        """The schedule with tile sizes Ti, Tj, Tk."""
        tile = f"tile{{loops={self.tiled} sizes={','.join(NAMES)}}}"
        return ",".join(part for part in (self.order, tile, self.vectors) if part)

    def function(self) -> Function:
        """The function to compile."""
        if "\n" in self.program:
            return next(iter(load(self.program).values()))
        entry = catalogue()[f"polybench/{self.program}"]
        return load(entry.text)[entry.function]

    def values(self, function: Function) -> list[object]:
        """Arguments of a call."""
        if "\n" not in self.program:
            entry = catalogue()[f"polybench/{self.program}"]
            return list(entry.arguments(self.sizes))
        r, q, p = self.sizes.values()
        generator = np.random.default_rng(0)
        arrays = (generator.random(shape) for shape in ((r, q, p), (p, p), (r, q, p)))
        return [r, q, p, *arrays]


BENCHMARKS = {
    "doitgen": Benchmark(
        DOITGEN,
        "distribute{loops=r,q},distribute{loops=S1.r,S1.q,S1.p},interchange{loops=s,S1.p}",
        "S1.q,s,S1.p",
        "vectorize{loops=S1.p}",
        {"nr": 1, "nq": 300, "np": 600},
        (300, 600, 600),
    ),
    "dgemm": Benchmark(
        "gemm",
        "interchange{loops=k,S1.j},distribute{loops=i}",
        "S1.i,k,S1.j",
        "vectorize{loops=S1.j}",
        {"ni": 600, "nj": 600, "nk": 600},
    ),
    "dtrmm": Benchmark(
        "trmm",
        "affine-schedule,interchange{loops=S0.i,k,S0.j}",
        "S0.i,k,S0.j",
        "vectorize{loops=S0.j}",
        {"m": 600, "n": 600},
    ),
    # The innermost loop is a sum, which LLVM makes vectors of where it may.
    "dsyr2k": Benchmark(
        "syr2k",
        "distribute{loops=i},interchange{loops=S1.j,k}",
        "S1.i,S1.j,k",
        "",
        {"n": 600, "m": 600},
        fast_math=True,
    ),
    "lu": Benchmark(
        "lu",
        "affine-schedule",
        "k,i,j",
        "reorder{statements=S1,S0,S2},distribute{loops=j after=S1},vectorize{loops=S0.j}",
        {"n": 600},
    ),
    "2d-jacobi": Benchmark(
        "jacobi-2d",
        "affine-schedule",
        "t,i,j",
        "vectorize{loops=j}",
        {"tsteps": 40, "n": 600},
        (40, None, None),
    ),
    "fdtd-2d": Benchmark(
        "fdtd-2d",
        "affine-schedule",
        "t,i,j",
        "vectorize{loops=j}",
        {"tmax": 40, "nx": 600, "ny": 600},
        (40, None, None),
    ),
}


def space() -> list[Sizes]:
    """All combinations of tile sizes."""
    return [(i, j, k) for i, j, k in product(SIZES, repeat=3)]


def canonical(benchmark: Benchmark, sizes: Sizes) -> Sizes:
    """The smallest sizes with the same tiles."""
    i, j, k = (
        size if extent is None or size < extent else min(s for s in SIZES if s >= extent)
        for size, extent in zip(sizes, benchmark.extents, strict=True)
    )
    return i, j, k


@dataclass
class Runner:
    """Runs a kernel in a child process with a time-out per run."""

    kernel: Kernel
    values: Sequence[object]
    process: ForkProcess | None = None
    connection: Connection | None = None

    def run(self, sizes: Sizes, cutoff: float) -> tuple[float, bool]:
        """Seconds of processor time of one run; at least `cutoff` (and True) where it was ended."""
        if self.process is None:
            self._start()
        assert self.connection is not None and self.process is not None
        begun = _processor_time(self.process)
        self.connection.send(sizes)
        limit = cutoff + RESTORING
        while not self.connection.poll(limit):
            left = cutoff + RESTORING - (_processor_time(self.process) - begun)
            if left <= 0:
                self.stop()
                return cutoff, True
            limit = max(left, 0.001)
        return self.connection.recv(), False

    def stop(self) -> None:
        """Ends the process."""
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None

    def _start(self) -> None:
        fork = multiprocessing.get_context("fork")
        self.connection, other = fork.Pipe()
        self.process = fork.Process(target=_serve, args=(self.kernel, self.values, other))
        self.process.start()
        other.close()
        self.connection.recv()


@dataclass
class ReferencedRuns:
    """Runs that are accepted only if the reference is as fast as usual before and after them."""

    runner: Runner
    reference: Sizes
    pace: Pace
    repeated: int = 0

    def run(self, chunk: Sequence[Sizes], best: float) -> list[tuple[float, bool]]:
        """A run of each; `best` is the shortest of all runs before."""
        limit = CUTOFF * best if best < float("inf") else 60.0
        left = PATIENCE
        while True:
            steady = self._is_steady()
            found = [self.runner.run(sizes, limit) for sizes in chunk]
            if (steady and self._is_steady()) or left == 0:
                return found
            self.repeated += 1
            left -= 1

    def _is_steady(self) -> bool:
        seconds, _ = self.runner.run(self.reference, 60.0)
        return self.pace.is_usual(seconds)


RESTORING = 0.01
"""Seconds that copying the arrays may take."""


def _processor_time(process: ForkProcess) -> float:
    text = Path(f"/proc/{process.pid}/schedstat").read_text(encoding="utf-8")
    return int(text.split()[0]) * 1e-9


def _serve(kernel: Kernel, values: Sequence[Any], connection: Connection) -> None:
    if os.sched_getscheduler(0) == os.SCHED_FIFO:
        # Whoever waits for the end of the time must be able to run.
        lower = os.sched_getparam(0).sched_priority - 1
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(lower))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    arrays: list[Any] = [value for value in values if hasattr(value, "dtype")]
    arena = Arena(sum(array_bytes(array.shape, array.dtype) for array in arrays))
    own: list[Any] = []
    copies: list[tuple[Any, Any]] = []
    for value in values:
        if hasattr(value, "dtype"):
            copies.append((arena.array(value.shape, value.dtype), value))
            own.append(copies[-1][0])
        else:
            own.append(value)

    def restore() -> None:
        for copy, value in copies:
            copy[...] = value

    restore()
    kernel(*own, **dict(zip(NAMES, (64, 64, 64), strict=True)))
    connection.send(None)
    with contextlib.suppress(EOFError):
        while True:
            sizes = connection.recv()
            restore()
            start = time.thread_time()
            kernel(*own, **dict(zip(NAMES, sizes, strict=True)))
            connection.send(time.thread_time() - start)


def check(benchmark: Benchmark, function: Function, kernel: Kernel) -> None:
    """Compares some results with those of the program as written."""
    values = benchmark.values(function)

    def results(kernel: Kernel, sizes: Mapping[str, int]) -> list[Any]:
        copies: list[Any] = [v.copy() if isinstance(v, np.ndarray) else v for v in values]
        kernel(*copies, **sizes)
        return [copy for copy in copies if isinstance(copy, np.ndarray)]

    expected = results(function.compile(None, threads=1), {})
    for sizes in ((32, 40, 48), (600, 12, 100), (10, 600, 600)):
        found = results(kernel, dict(zip(NAMES, sizes, strict=True)))
        for one, other in zip(found, expected, strict=True):
            scale = max(float(np.max(np.abs(other))), 1e-300)
            if float(np.max(np.abs(one - other))) > 1e-9 * scale:
                sys.exit(f"the results with tiles of {sizes} are wrong")


def measure(name: str, folder: Path) -> None:
    """Measures what is not measured yet of a benchmark."""
    benchmark, path = BENCHMARKS[name], folder / f"{name}.parquet"
    if path.exists():
        return
    function = benchmark.function()
    values = benchmark.values(function)
    kernel = function.compile(benchmark.schedule, threads=1, fast_math=benchmark.fast_math)
    kernel.specialise(*values)
    check(benchmark, function, kernel)
    progress = folder / f"{name}.jsonl"
    runs = _read(progress)
    order = sorted({canonical(benchmark, sizes) for sizes in space()})
    random.Random(0).shuffle(order)
    runner = Runner(kernel, values)
    referenced = ReferencedRuns(runner, canonical(benchmark, REFERENCE), Pace(SLOW))
    try:
        with progress.open("a", encoding="utf-8") as file:
            for count in range(1, RUNS + 1):
                close = next(close for last, close in CLOSE if count <= last)
                _measure_round(
                    f"{name}, round {count}", order, (count, close), runs, referenced, file
                )
    finally:
        runner.stop()
    _write(benchmark, runs, path)
    progress.unlink()


Runs = dict[Sizes, list[tuple[float, bool]]]
"""Seconds of each run of a configuration, and whether it was ended then."""


def _measure_round(
    title: str,
    order: Sequence[Sizes],
    which: tuple[int, float],
    runs: Runs,
    referenced: ReferencedRuns,
    file: TextIO,
) -> None:
    """Runs each configuration for the n-th time that is close to the best: `which` is both."""
    count, close = which
    begun = time.perf_counter()
    best = min((min(each)[0] for each in runs.values()), default=float("inf"))
    wanted = [
        sizes
        for sizes in order
        if len(done := runs.get(sizes, [])) < count and (not done or min(done)[0] <= close * best)
    ]
    for start in range(0, len(wanted), CHUNK):
        chunk = wanted[start : start + CHUNK]
        for sizes, run in zip(chunk, referenced.run(chunk, best), strict=True):
            runs[sizes] = [*runs.get(sizes, []), run]
            best = min(best, run[0])
            file.write(f"{json.dumps([*sizes, *run])}\n")
        if start % (20 * CHUNK) == 0:
            file.flush()
            seconds = time.perf_counter() - begun
            print(
                f"{title}: {start} of {len(wanted)}, best {best * 1e3:.2f} ms, "
                f"{referenced.repeated} repeated, {seconds:.0f} s",
                flush=True,
            )


def _read(path: Path) -> Runs:
    runs: Runs = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(ValueError):  # the last line may be cut off
                i, j, k, seconds, is_bound = json.loads(line)
                runs.setdefault((i, j, k), []).append((seconds, is_bound))
    return runs


def _write(benchmark: Benchmark, runs: Runs, path: Path) -> None:
    all_sizes = space()
    found = [min(runs[canonical(benchmark, sizes)]) for sizes in all_sizes]
    columns: dict[str, Any] = {
        name: pa.array([sizes[k] for sizes in all_sizes], pa.int16())
        for k, name in enumerate(NAMES)
    }
    columns["seconds"] = pa.array([seconds for seconds, _ in found], pa.float32())
    columns["is_bound"] = pa.array([is_bound for _, is_bound in found], pa.bool_())
    table = pa.table(columns)
    processor = _processor()
    notes = {
        "schedule": benchmark.schedule,
        "sizes": json.dumps(dict(benchmark.sizes)),
        "processor": processor,
    }
    parquet.write_table(table.replace_schema_metadata(notes), path, compression="zstd")


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmarks", nargs="*", choices=[*BENCHMARKS, []], metavar="NAME")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.benchmarks or BENCHMARKS:
        measure(name, options.folder)


if __name__ == "__main__":
    main()
