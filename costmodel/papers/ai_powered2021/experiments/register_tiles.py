"""Register tiles by reinforcement learning, compared with other searches.

The experiment of "AI Powered Compiler Techniques for DL Code Optimization" (2021), section 5.1:
products of small matrices, whose operands stay in the nearest caches, on one core. Three steps;
the first two go on where they were stopped:

    python -m $PAPER.experiments.register_tiles compile WORK
    python -m $PAPER.experiments.register_tiles measure WORK --seconds 50     # again and again
    python -m $PAPER.experiments.register_tiles judge WORK

`compile` makes the code of every state, `measure` runs all of it: calls follow each other in a loop
of compiled code, the shortest row of them counts, and what a core can do at most is measured right
before and after. `judge` lets agents, and random search, choose among what was measured,
as often as `--seeds` says.

`PAPER` is loopwright.costmodel.papers.ai_powered2021.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from random import Random
from statistics import mean

import numpy as np

from .....kernels.catalogue import catalogue
from .....passes.estimate.scheduling_context import SchedulingContext
from .....passes.schedules.schedule import Schedule
from .....runtime.labelling.messages import ObjectCode
from .....runtime.machine.probes import probes
from .....runtime.program import load
from .....runtime.tuning.evaluator import arguments_of
from .....runtime.tuning.runner import Runner
from .....runtime.tuning.schedule_compiler import Compiler
from .....runtime.tuning.trial_messages import Program, Trial
from .....support import records
from .....support.output_files import write_output
from .....support.owned_files import read_owned
from .....support.progress import ProgressLine
from ..register_agent import SHARE, Agent, measurements
from ..register_bands import RegisterSpace, State

ROWS = (
    *(f"gemm/gemm:{size}" for size in (16, 32, 48, 64, 96, 128)),
    "polybench/doitgen:MEDIUM",
)
MEMORY = 16 << 30
BUDGET = 0.02
"""Seconds of runs of a state, besides those that warm up."""

PROBE = 100_000
"""Steps of the probe: half a millisecond."""

CUTOFF = 4.0


class Problem:
    """A kernel at one size: its first band, object code and seconds of every state on disk."""

    def __init__(self, row: str, work: Path) -> None:
        kernel, size = row.split(":")
        self.row = row
        self.entry = catalogue()[kernel]
        self.size = dict.fromkeys(self.entry.parameters, int(size)) if size.isdigit() else size
        self.function = load(self.entry.text)[self.entry.function]
        self.values = list(self.entry.arguments(self.size))
        self.sizes = self.function.signature.sizes_of(self.values).of(self.function.scop)
        stem = row.replace("/", "-").replace(":", "-")
        self.codes_file = work / f"{stem}.codes"
        self.seconds_file = work / f"{stem}.jsonl"

    @cached_property
    def space(self) -> RegisterSpace:
        """Its bands, on one thread."""
        return RegisterSpace(
            Schedule.original(self.function.scop), SchedulingContext(self.sizes, 1)
        )

    @cached_property
    def codes(self) -> dict[State, ObjectCode]:
        """What is compiled; () is the program as written, (0,) what `default` makes of it."""
        return records.from_bytes(read_owned(self.codes_file)) if self.codes_file.exists() else {}

    @cached_property
    def seconds(self) -> dict[State, float]:
        """What was measured."""
        if not self.seconds_file.exists():
            return {}
        rows = map(json.loads, self.seconds_file.read_text().splitlines())
        return {tuple(row["state"]): row["seconds"] for row in rows}

    @property
    def peak(self) -> float:
        """FLOP/s of the core, the best that was seen next to the measurements."""
        rows = map(json.loads, self.seconds_file.read_text().splitlines())
        return max(row["peak"] for row in rows)

    def compile(self) -> None:
        """Compiles what is missing."""
        band = self.space.bands[0]
        module, name = str(self.function.module), self.function.name
        compiler = Compiler(Program(module, name, self.sizes, 1, False, MEMORY))
        default = self.function.default_schedule(self.sizes, threads=1)
        wanted: dict[State, Schedule | None] = {(): None, (0,): default}
        missing = [state for state in (*wanted, *band.states) if state not in self.codes]
        line = ProgressLine(len(missing))
        for number, state in enumerate(missing):
            schedule = wanted[state] if state in wanted else self.space.schedule({band: state})
            if schedule is None and state:
                continue
            compiled = compiler.compile("" if schedule is None else str(schedule))
            if compiled.code is None:
                print(f"{self.row} {state}: {compiled.message}", file=sys.stderr)
                continue
            self.codes[state] = compiled.code
            line.update(f"states of {self.row}", number + 1)
            if number % 20 == 0 or number == len(missing) - 1:
                self._store()
        line.clear()

    def _store(self) -> None:
        write_output(self.codes_file, records.to_bytes(self.codes))

    def measure(self, end: float) -> bool:
        """Runs states until the time is up; says whether all are measured."""
        missing = [state for state in self.codes if state not in self.seconds]
        if not missing:
            return True
        runner = Runner(arguments_of(self.function, self.values, 1))
        best = runner.run(Trial(self.codes[()], True, 0.0, BUDGET)).seconds
        with self.seconds_file.open("a") as file:
            for state in missing:
                if time.monotonic() > end:
                    return False
                peak = self._peak()
                outcome = runner.run(Trial(self.codes[state], False, CUTOFF * best, BUDGET))
                if outcome.message:
                    print(f"{self.row} {state}: {outcome.message}", file=sys.stderr)
                    continue
                peak = max(peak, self._peak())
                best = min(best, outcome.seconds)
                self.seconds[state] = outcome.seconds
                row = {"state": state, "seconds": outcome.seconds, "peak": peak}
                print(json.dumps(row), file=file, flush=True)
        return True

    def _peak(self) -> float:
        kind = self.entry.element_type
        begin = time.perf_counter()
        probes().arithmetic[kind](PROBE)
        return PROBE * probes().operations[kind] / (time.perf_counter() - begin)


def judge(problem: Problem, seeds: int) -> dict[str, float]:
    """Shares of the best state's speed, and of the core's peak."""
    band = problem.space.bands[0]
    speeds = {s: 1 / problem.seconds[s] if s in problem.seconds else 0.0 for s in band.states}
    best = max(speeds.values())
    count = measurements(band)
    learned: list[float] = []
    drawn: list[float] = []
    for seed in range(seeds):
        walk = Agent(band, seed).learn(lambda state: speeds[state], count)
        learned.append(walk.speeds[walk.best] / best)
        drawn.append(max(speeds[s] for s in Random(seed).sample(band.states, count)) / best)
    peak = problem.entry.flops(problem.size) * best / problem.peak
    return {
        "states": len(band.states),
        "measured": count,
        "peak": peak,
        "as written": 1 / problem.seconds[()] / best,
        "default": 1 / problem.seconds[(0,)] / best,
        "heuristic": speeds[band.start] / best,
        "random": mean(drawn),
        "random, worst": min(drawn),
        "learned": mean(learned),
        "learned, worst": min(learned),
        "good states": float(np.mean([speed >= 0.97 * best for speed in speeds.values()])),
    }


def print_table(found: Mapping[str, Mapping[str, float]]) -> None:
    """A line for each problem."""
    columns = list(next(iter(found.values())))
    print(f"{'':<26}" + "".join(f"{name:>15}" for name in columns))
    for row, values in found.items():
        cells = (f"{v:d}" if isinstance(v, int) else f"{v:.1%}" for v in values.values())
        print(f"{row:<26}" + "".join(f"{cell:>15}" for cell in cells))


def problems(rows: str, work: Path) -> Iterator[Problem]:
    """Those that were asked for."""
    for row in rows.split(","):
        yield Problem(row, work)


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("compile", "measure", "judge"))
    parser.add_argument("work", type=Path, help="a folder for codes and what is measured")
    parser.add_argument("--rows", default=",".join(ROWS), help="kernels and sizes")
    parser.add_argument("--seconds", type=float, default=50.0, help="for measuring, this time")
    parser.add_argument("--seeds", type=int, default=30)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.seconds
    found: dict[str, dict[str, float]] = {}
    for problem in problems(options.rows, options.work):
        if options.action == "compile":
            problem.compile()
        elif options.action == "measure":
            done = problem.measure(end)
            print(problem.row, len(problem.seconds), "measured", flush=True)
            if not done:
                return 0
        else:
            found[problem.row] = judge(problem, options.seeds)
    if found:
        print(f"with {SHARE:.0%} of the states measured, {options.seeds} times")
        print_table(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
