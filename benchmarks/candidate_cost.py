"""Cost of a candidate of a search with runs: compilation by stage, and runs.

    python benchmarks/candidate_cost.py              # 50 random programs, 6 candidates each
    python benchmarks/candidate_cost.py --record candidate-cost

The candidates are what `hybrid` begins with: schedules that the strategies propose, and neighbours
of the default schedule. All of a program are compiled once more in this process, by stage; then
`RunningEvaluator` compiles and runs them as a search does, in batches, on one thread. What an
evaluator takes to start is not counted. Every program that is done becomes a line of a file.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections import Counter
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

import record

from loopwright import load
from loopwright.costmodel.generator import CONTRACTION, GENERAL, random_program
from loopwright.passes.default.default_schedule import candidates, choose
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.space.neighbours import neighbours
from loopwright.runtime.calling.inputs import Settings, make_arguments
from loopwright.runtime.tuning.evaluator import RunningEvaluator
from loopwright.runtime.tuning.schedule_compiler import Compiler
from loopwright.runtime.tuning.trial_messages import Program
from loopwright.support.progress import ProgressLine
from loopwright.support.stage_times import StageTimes, record_stages

CANDIDATES = 6
PROPOSALS = 2
"""Of the candidates are the scheduler's proposals, at most."""

STRIDE = 5
"""Every so manieth neighbour is a candidate."""

BATCH = 6
CONTRACTIONS = 5
"""Every so manieth program is a contraction."""

MEMORY = 16 << 30
STAGES = ("apply", "AST", "loop IR", "LLVM IR", "optimise", "codegen")
COLUMNS = ("figure", "value")
TITLE = "Cost of a candidate"
TEXT = (
    "Candidates of searches for random programs, one thread: proposals of the scheduler and "
    "neighbours of the default schedule. Stages are CPU time of one compiling process; below is "
    "the time that passes for a candidate in a search, where two processes compile."
)

Line = dict[str, Any]


def main() -> None:
    """Measures what is missing, and prints the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=50)
    parser.add_argument("--lines", type=Path, default=Path("build/candidate-cost.jsonl"))
    record.add_option(parser)
    options = parser.parse_args()
    options.lines.parent.mkdir(parents=True, exist_ok=True)
    here = {"code": record.code(), "machine": record.machine()}
    known = record.known_lines(options.lines, here)
    with ProgressLine(options.programs) as progress:
        for number in range(options.programs):
            progress.update("programs", number)
            if str(number) not in known:
                line = {**here, "kernel": str(number), **measured(number)}
                record.add_line(options.lines, line)
                known[str(number)] = line
    rows = table([known[str(number)] for number in range(options.programs)])
    for name, value in rows:
        print(f"{name:<48}{value:>8}")
    record.write(options.record, COLUMNS, rows, title=TITLE, text=TEXT, page="tuning")


def measured(number: int) -> Line:
    """Seconds of all candidates of a program by stage and in a search, and their speed-ups."""
    digest = hashlib.sha256(f"cost of a candidate {number}".encode()).digest()
    mix = GENERAL if number % CONTRACTIONS else CONTRACTION
    program = random_program(int.from_bytes(digest[:6], "big"), mix)
    (function,) = load(program.text).values()
    texts = {name: str(size) for name, size in program.sizes.items()}
    arguments = make_arguments(function.scop, function.signature, Settings(texts, {}, 1))
    context = SchedulingContext(function.checked_sizes(arguments), 1)
    original = Schedule.original(function.scop)
    schedules = chosen(original, context)
    times = StageTimes(time.process_time)
    compiler = Compiler(Program(program.text, function.name, context.sizes, 1, False, MEMORY))
    compiler.compile("")
    with record_stages(times):
        for schedule in schedules:
            compiler.compile(str(schedule))
    with RunningEvaluator(function, arguments, threads=1, compilers=2) as evaluator:
        # The program as written, with which everything starts.
        evaluator.measure(context, [original])
        speedups: list[float] = []
        with record_stages() as passed:
            for start in range(0, len(schedules), BATCH):
                speedups += evaluator.measure(context, schedules[start : start + BATCH])
    stages = {**times.seconds, "compiling": times.total}
    return {
        "stages": stages,
        "passed": {**passed.seconds, "total": passed.total},
        "speedups": speedups,
        "schedules": [str(schedule) for schedule in schedules],
    }


def chosen(original: Schedule, context: SchedulingContext) -> list[Schedule]:
    """The candidates."""
    proposed = list(candidates(original, context))
    default = choose(original, context, proposed)
    near = islice(neighbours(original, default, context), 0, None, STRIDE)
    distinct = {str(each): each for each in chain([default], proposed[:PROPOSALS], near)}
    distinct.pop("", None)
    return list(islice(distinct.values(), CANDIDATES))


def table(lines: Sequence[Line]) -> list[list[record.Cell]]:
    """Milliseconds for a candidate, by what they go to."""
    count = sum(len(line["schedules"]) for line in lines)
    stages, passed = Counter[str](), Counter[str]()
    for line in lines:
        stages.update(line["stages"])
        passed.update(line["passed"])
    whole = stages.pop("compiling")
    rows: list[list[record.Cell]] = [["candidates", count]]
    rows += [[f"{name}, ms of CPU", _ms(stages[name], count)] for name in STAGES]
    rest = whole - sum(stages[name] for name in STAGES)
    rows.append(["other compilation, ms of CPU", _ms(rest, count)])
    rows.append(["compilation, ms of CPU", _ms(whole, count)])
    rows.append(["compilation in a search, ms", _ms(passed["compile candidates"], count)])
    rows.append(["runs in a search, ms", _ms(passed["run candidates"], count)])
    rows.append(["a candidate in a search, ms", _ms(passed["total"], count)])
    failed = sum(not speedup for line in lines for speedup in line["speedups"])
    rows.append(["candidates that failed", failed])
    return rows


def _ms(seconds: float, count: int) -> float:
    return round(seconds / count * 1e3, 1)


if __name__ == "__main__":
    main()
