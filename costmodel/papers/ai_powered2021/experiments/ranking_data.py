"""Measurements of two-level tiles of GEMM on one thread, for ranking.

In the ten sizes of Table 1 of "AI Powered Compiler Techniques for DL Code Optimization" (2021),
which models are judged by, or, with --random, in other sizes to learn from. Three steps; the first
two go on where they were stopped.

    python -m $PAPER.experiments.ranking_data compile WORK
    python -m $PAPER.experiments.ranking_data measure WORK --seconds 50      # again and again
    python -m $PAPER.experiments.ranking_data keep WORK datasets/gemm-tiles

    python -m $PAPER.experiments.ranking_data compile OTHER --random 60
    python -m $PAPER.experiments.ranking_data measure OTHER --random 60
    python -m $PAPER.experiments.ranking_data keep OTHER datasets/gemm-tiles-random --random 60

`PAPER` is loopwright.costmodel.papers.ai_powered2021.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from .....kernels.catalogue import catalogue
from .....passes.default.default_schedule import default_schedule
from .....passes.estimate.scheduling_context import SchedulingContext
from .....passes.polyhedral.extents import infer_extents
from .....passes.schedules.schedule import Schedule
from .....runtime.calling.signature import CValue
from .....runtime.labelling.messages import ObjectCode
from .....runtime.machine.machine_fingerprint import code_generator, machine_fingerprint
from .....runtime.program import Function, load
from .....runtime.tuning.runner import Runner
from .....runtime.tuning.schedule_compiler import Compiler
from .....runtime.tuning.trial_messages import Arguments, Program, Trial
from .....support import records
from .....support.output_files import write_output
from .....support.owned_files import read_owned
from ....dataset.rows import rows_of
from ....dataset.store import Writer
from ....labels import Label, LabelledProgram, ProgramInstance, Status
from ..two_level_tiles import two_level_tiles

KERNEL = "gemm/gemm"
COUNT = 120
"""Variants of a size."""

MOST_WORK = 5e12
"""Operations of all variants of a size: of large ones there are fewer."""

FEWEST = 40
RANDOM_COUNT = 60
"""Variants of a random size."""

RANDOM_EXTENTS, RANDOM_WORK = (1, 8192), (5e5, 2e9)
"""Random sizes: the loops' extents, and operations of a call."""

RANDOM_ELEMENTS = 1 << 24
"""Of each array of a random size, at most."""

SINGLE = 0.08
"""How often an extent of a random size is 1."""

BESIDES: tuple[tuple[int, int | None, bool], ...] = (
    (16, 1, False),
    (16, None, True),
    (16, 1, True),
)
"""More random sizes: how many, with how many columns, and whether all extents are powers of two."""

VISITS, RANDOM_VISITS = 6, 2
"""So often every variant is measured, one turn after the other; the shortest time counts."""

MEMORY = 16 << 30
BASELINE_WORK = 1e8
"""Operations for which the program as written is run; more rows take as much longer."""

BUDGET = 0.05
"""Seconds of runs of a variant in one turn."""

CUTOFF = 3.0
"""A variant so many times slower than the best one is run once."""

TOLERANCE = 1e-4
PATTERN = 1 << 18
"""Elements after which the contents of an array repeat: large arrays are made quickly."""

ORIGIN = "two-level tiles"


class Problem:
    """GEMM at one size: schedules by text, object code and measured seconds on disk."""

    def __init__(self, work: Path, parameters: Mapping[str, int]) -> None:
        self.entry = entry = catalogue()[KERNEL]
        self.parameters = dict(parameters)
        self.name = "x".join(str(extent) for extent in parameters.values())
        self.function: Function = load(entry.text)[entry.function]
        self.sizes = self.sizes_of(self.parameters)
        self.is_random = parameters not in entry.sizes.values()
        self.codes_file = work / f"{self.name}.codes"
        self.seconds_file = work / f"{self.name}.jsonl"
        self.flops = entry.flops(parameters)

    def sizes_of(self, parameters: dict[str, int]) -> dict[str, int]:
        """All sizes by name, those of the arrays as well."""
        return infer_extents(self.function.scop, parameters)

    @cached_property
    def variants(self) -> list[str]:
        """Schedules as pipelines."""
        most = RANDOM_COUNT if self.is_random else COUNT
        count = min(most, max(FEWEST, round(MOST_WORK / self.flops)))
        original = Schedule.original(self.function.scop)
        found = two_level_tiles(original, 0, SchedulingContext(self.sizes, 1), count)
        return [str(schedule) for schedule in found]

    @cached_property
    def codes(self) -> dict[str, ObjectCode]:
        """What is compiled: of the variants, and of `default` for reference."""
        if not self.codes_file.exists():
            return {}
        return records.from_bytes(read_owned(self.codes_file))

    @cached_property
    def seconds(self) -> dict[str, list[dict[str, float]]]:
        """What is measured, by schedule: one row for each turn."""
        found: dict[str, list[dict[str, float]]] = {}
        if self.seconds_file.exists():
            for row in map(json.loads, self.seconds_file.read_text().splitlines()):
                found.setdefault(row.pop("schedule"), []).append(row)
        return found

    def compiler(self, sizes: dict[str, int]) -> Compiler:
        """What compiles schedules for some sizes."""
        module = str(self.function.module)
        return Compiler(Program(module, self.function.name, sizes, 1, False, MEMORY))

    def compile(self) -> None:
        """Compiles what is missing."""
        reference = str(default_schedule(self.function.scop, self.sizes, threads=1))
        missing = [text for text in (reference, *self.variants) if text not in self.codes]
        if not missing:
            return
        compiler = self.compiler(self.sizes)
        for number, text in enumerate(missing):
            compiled = compiler.compile(text)
            if compiled.code is None:
                print(f"{self.name}: {text}: {compiled.message}", file=sys.stderr)
                continue
            self.codes[text] = compiled.code
            if number % 20 == 0 or text == missing[-1]:
                self._store()
        print(self.name, len(self.codes), "compiled", flush=True)

    def _store(self) -> None:
        write_output(self.codes_file, records.to_bytes(self.codes))

    def runner(self, parameters: dict[str, int]) -> Runner:
        """What runs codes on arrays of some size."""
        random = np.random.default_rng(0)
        pattern = random.integers(-8, 9, PATTERN).astype(np.float32) / 8
        shapes = [array.extents(parameters) for array in self.entry.arrays]
        arrays = [np.resize(pattern, shape) for shape in shapes]
        scalars = [*parameters.values()]
        first = len(scalars)
        values: dict[int, CValue] = dict(enumerate(scalars))
        return Runner(
            Arguments(
                self.function.signature,
                {first + number: array for number, array in enumerate(arrays)},
                values,
                dict.fromkeys(range(first, first + len(arrays)), TOLERANCE),
                1,
                MEMORY,
            )
        )

    def measure(self, end: float) -> bool:
        """Runs variants until the time is up; says whether all are measured."""
        if not self.codes:
            return False
        missing = [
            text
            for turn in range(RANDOM_VISITS if self.is_random else VISITS)
            for text in self.codes
            if len(self.seconds.get(text, ())) <= turn
        ]
        if not missing and "" in self.seconds:
            return True
        if "" not in self.seconds:
            self._record("", self._baseline())
        runner = self.runner(self.parameters)
        reference = next(iter(self.codes))
        best = runner.run(Trial(self.codes[reference], True, 0.0, BUDGET)).seconds
        for text in missing:
            if time.monotonic() > end:
                return False
            outcome = runner.run(Trial(self.codes[text], False, CUTOFF * best, BUDGET))
            if outcome.message:
                print(f"{self.name}: {text}: {outcome.message}", file=sys.stderr)
                continue
            best = min(best, outcome.seconds)
            self._record(text, outcome.seconds)
        return True

    def _record(self, schedule: str, seconds: float) -> None:
        row = {"seconds": seconds, "at": time.time()}
        self.seconds.setdefault(schedule, []).append(row)
        with self.seconds_file.open("a") as file:
            file.write(json.dumps({"schedule": schedule, **row}) + "\n")

    def _baseline(self) -> float:
        """Seconds of the program as written; of many rows only some are run."""
        all_rows = self.parameters["M"]
        rows = max(1, min(all_rows, round(BASELINE_WORK / self.flops * all_rows)))
        fewer = {**self.parameters, "M": rows}
        code = self.compiler(self.sizes_of(fewer)).compile("").code
        assert code is not None, "GEMM can be compiled"
        seconds = self.runner(fewer).run(Trial(code, True, 0.0, 0.0)).seconds
        return seconds * all_rows / rows

    def labelled(self) -> LabelledProgram:
        """What is measured, as labels; the schedule of reference is left out."""
        variants = set(self.variants)
        return LabelledProgram(
            0,
            ProgramInstance(self.entry.text, self.sizes, "gemm"),
            self.sizes,
            self._label("", "measured"),
            machine_fingerprint(),
            code_generator(),
            tuple(self._label(text, "measured") for text in self.seconds if text in variants),
        )

    def _label(self, schedule: str, status: Status) -> Label:
        rows, baseline = self.seconds[schedule], self.seconds[""][0]["seconds"]
        seconds = min(row["seconds"] for row in rows)
        origin = ORIGIN if schedule else ""
        at = rows[-1]["at"]
        return Label(schedule, origin, status, seconds, 0.0, seconds, 1, 1, baseline, 0.0, 0.0, at)


def compile_problem(work: Path, size: Mapping[str, int]) -> None:
    """Compiles what is missing of a size."""
    Problem(work, size).compile()


def table_sizes() -> list[dict[str, int]]:
    """The sizes of Table 1, small ones first."""
    entry = catalogue()[KERNEL]
    names = [size for size in entry.sizes if "x" in size]
    return [dict(entry.parameter_values(size)) for size in sorted(names, key=entry.flops)]


def random_sizes(count: int) -> Iterator[dict[str, int]]:
    """Sizes with extents log-uniform at random, then those of `BESIDES`; none is of Table 1."""
    random = np.random.default_rng(2021)
    low, high = map(math.log, RANDOM_EXTENTS)
    known = [tuple(size.values()) for size in table_sizes()]
    for wanted, columns, powers in ((count, None, False), *BESIDES):
        left = wanted
        while left:
            free = random.random(3) >= SINGLE
            drawn = random.uniform(low, high, 3)
            drawn = np.exp2(np.round(drawn / math.log(2))) if powers else np.exp(drawn)
            m, n, k = np.where(free, drawn, 1).astype(int).tolist()
            n = columns or n
            is_measurable = RANDOM_WORK[0] <= 2 * m * n * k <= RANDOM_WORK[1]
            is_measurable &= max(m * n, n * k, k * m) <= RANDOM_ELEMENTS
            if is_measurable and (m, n, k) not in known:
                known.append((m, n, k))
                yield {"M": m, "N": n, "K": k}
                left -= 1


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("compile", "measure", "keep"))
    parser.add_argument("work", type=Path, help="a folder for codes and what is measured")
    parser.add_argument("dataset", type=Path, nargs="?", help="where to keep what is measured")
    parser.add_argument("--seconds", type=float, default=math.inf, help="of measuring")
    parser.add_argument("--random", type=int, metavar="N", help="other sizes than those of Table 1")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.random is not None and options.random < 1:
        parser.error(f"--random must be positive, got {options.random}")
    sizes = table_sizes() if options.random is None else list(random_sizes(options.random))
    if options.action == "keep":
        if options.dataset is None:
            parser.error("keep needs a directory for the labels")
        with Writer(options.dataset) as writer:
            for each in map(partial(Problem, options.work), sizes):
                if "" in each.seconds:
                    writer.append(rows_of(each.labelled()))
        return 0
    if options.action == "compile":
        with ProcessPoolExecutor() as pool:
            list(pool.map(partial(compile_problem, options.work), sizes))
        return 0
    begin = time.monotonic()
    for each in map(partial(Problem, options.work), sizes):
        done = each.measure(begin + options.seconds)
        print(each.name, len(each.seconds), "measured", flush=True)
        if not done:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
