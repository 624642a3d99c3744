"""Measures two-level tiles of GEMM in the ten sizes of Table 1, on one thread, to rank them.

Table 1 is that of "AI Powered Compiler Techniques for DL Code Optimization" (2021). Three steps;
the first two go on where they were stopped.

    python benchmarks/ranking_data.py compile WORK
    python benchmarks/ranking_data.py measure WORK --seconds 50      # again and again
    python benchmarks/ranking_data.py keep WORK datasets/gemm-tiles
"""

from __future__ import annotations

import argparse
import json
import pickle
import sys
import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import numpy as np

from loopwright.costmodel.dataset.schema import rows_of
from loopwright.costmodel.dataset.store import Writer
from loopwright.costmodel.labels import Label, LabelledProgram, Status, Subject
from loopwright.kernels.catalogue import KernelEntry, catalogue
from loopwright.passes.default.default_schedule import default_schedule
from loopwright.passes.default.request import Request
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.schedule import Schedule
from loopwright.passes.search.space.two_level import two_level_tiles
from loopwright.runtime.labelling.fingerprint import code_generator, machine_fingerprint
from loopwright.runtime.labelling.messages import ObjectCode
from loopwright.runtime.program import Function, load
from loopwright.runtime.signature import CValue
from loopwright.runtime.tuning.compiler import Compiler
from loopwright.runtime.tuning.messages import Arguments, Program, Trial
from loopwright.runtime.tuning.runner import Runner

KERNEL = "gemm/gemm"
COUNT = 120
"""Variants of a size."""

MOST_WORK = 5e12
"""Operations of all variants of a size: of large ones there are fewer."""

FEWEST = 40
MEMORY = 16 << 30
BASELINE_WORK = 1e8
"""Operations for which the program as written is run; more rows take as much longer."""

BUDGET = 0.15
"""Seconds of runs of a variant."""

CUTOFF = 3.0
"""A variant so many times slower than the best one is run once."""

TOLERANCE = 1e-4
PATTERN = 1 << 18
"""Elements after which the contents of an array repeat: large arrays are made quickly."""

ORIGIN = "two-level tiles"


class Problem:
    """GEMM in one size: schedules by text, codes and measured seconds on disk."""

    def __init__(self, entry: KernelEntry, size: str, work: Path) -> None:
        self.entry, self.name = entry, size
        self.function: Function = load(entry.text)[entry.function]
        self.parameters = dict(entry.parameter_values(size))
        self.sizes = self.sizes_of(self.parameters)
        self.codes_file = work / f"{size}.codes"
        self.seconds_file = work / f"{size}.jsonl"
        self.flops = entry.flops(size)

    def sizes_of(self, parameters: dict[str, int]) -> dict[str, int]:
        """All sizes by name, those of the arrays as well."""
        return infer_extents(self.function.scop, parameters)

    @cached_property
    def variants(self) -> list[str]:
        """Schedules as pipelines."""
        count = min(COUNT, max(FEWEST, round(MOST_WORK / self.flops)))
        original = Schedule.original(self.function.scop)
        found = two_level_tiles(original, 0, Request(self.sizes, 1), count)
        return [str(schedule) for schedule in found]

    @cached_property
    def codes(self) -> dict[str, ObjectCode]:
        """What is compiled: of the variants, and of `default` for reference."""
        if not self.codes_file.exists():
            return {}
        return pickle.loads(self.codes_file.read_bytes())

    @cached_property
    def seconds(self) -> dict[str, dict[str, float]]:
        """What is measured, by schedule."""
        if not self.seconds_file.exists():
            return {}
        rows = map(json.loads, self.seconds_file.read_text().splitlines())
        return {row.pop("schedule"): row for row in rows}

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
            print(f"\r{self.name}: {number + 1}/{len(missing)} ", end="", flush=True)
            if number % 20 == 0 or text == missing[-1]:
                self._store()
        print()

    def _store(self) -> None:
        temporary = self.codes_file.with_suffix(".new")
        temporary.write_bytes(pickle.dumps(self.codes))
        temporary.replace(self.codes_file)

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
        missing = [text for text in self.codes if text not in self.seconds]
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
        self.seconds[schedule] = row
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
            Subject(self.entry.text, self.sizes, "gemm"),
            self.sizes,
            self._label("", "measured"),
            machine_fingerprint(),
            code_generator(),
            tuple(self._label(text, "measured") for text in self.seconds if text in variants),
        )

    def _label(self, schedule: str, status: Status) -> Label:
        row, baseline = self.seconds[schedule], self.seconds[""]["seconds"]
        seconds = row["seconds"]
        origin = ORIGIN if schedule else ""
        return Label(
            schedule, origin, status, seconds, 0.0, seconds, 1, 1, baseline, 0.0, 0.0, row["at"]
        )


def problems(work: Path) -> Iterator[Problem]:
    """The sizes of Table 1, small ones first."""
    entry = catalogue()[KERNEL]
    names = [size for size in entry.sizes if "x" in size]
    for size in sorted(names, key=entry.flops):
        yield Problem(entry, size, work)


def main() -> int:
    """See above."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("compile", "measure", "keep"))
    parser.add_argument("work", type=Path, help="a folder for codes and what is measured")
    parser.add_argument("dataset", type=Path, nargs="?", help="where to keep what is measured")
    parser.add_argument("--seconds", type=float, default=50.0)
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    if options.action == "keep":
        if options.dataset is None:
            parser.error("keep needs a directory for the labels")
        with Writer(options.dataset) as writer:
            for problem in problems(options.work):
                if "" in problem.seconds:
                    writer.append(rows_of(problem.labelled()))
        return 0
    begin = time.monotonic()
    for problem in problems(options.work):
        if options.action == "compile":
            problem.compile()
            continue
        done = problem.measure(begin + options.seconds)
        print(problem.name, len(problem.seconds), "measured", flush=True)
        if not done:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
