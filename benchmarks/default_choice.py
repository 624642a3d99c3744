"""Default schedules by rules, with the learned model, and `auto`, on PolyBench and the field suite.

    python benchmarks/default_choice.py                       # all; goes on where it stopped
    python benchmarks/default_choice.py field polybench/atax  # a suite, some kernels
    python benchmarks/default_choice.py --record default-choice

The schedules of a kernel take turns and are checked as in `loopwright bench`, two threads and fast
math; equal ones run once. The times to decide are those of new functions, with the model in memory:
the first time, and when the decision is on disk. `auto` does not look into a tuning database. Every
kernel that is done becomes a line of a file; what has a line there from the same code on this
machine is not measured again. The exit code is 1 when a result is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from math import exp, log
from pathlib import Path
from statistics import fmean
from typing import Any

import record

from loopwright import load
from loopwright.costmodel.deciding_model import deciding_model
from loopwright.kernels.catalogue import KernelEntry
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.bench.case import Case
from loopwright.runtime.bench.harness import Outcome, measure
from loopwright.runtime.bench.peers import ours
from loopwright.runtime.bench.selection import SelectionError, select_kernels
from loopwright.runtime.choosing.schedule_names import AUTO, DEFAULT, RULES
from loopwright.runtime.program import Function
from loopwright.support.progress import ProgressLine

SIZE = "LARGE"
WAYS = (RULES, DEFAULT, AUTO)
COLUMNS = (
    *("kernel", "rules, ms", "default, ms", "auto, ms", "rules / default", "rules / auto"),
    *("rules decide, ms", "default decides, ms", "second time, ms", "spread"),
)
TITLE = "The default schedule with and without the learned model, and `auto`"
TEXT = (
    "Medians in ms of interleaved runs with results checked, two threads, fast math; a ratio above "
    "1 means faster than the analytical choice, and 1 is the same schedule where nothing else is "
    "said. Kernels for which all three are the same schedule are one row. Times to decide are with "
    "the model in memory; the second time, the decision is on disk."
)

Line = dict[str, Any]


def main() -> int:
    """Measures what is missing, and prints a line for each kernel."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="kernels or suites (both)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.5, help="per schedule at most (0.5)")
    parser.add_argument("--lines", type=Path, default=Path("build/default-choice.jsonl"))
    record.add_option(parser)
    options = parser.parse_args()
    try:
        entries = select_kernels(options.kernels or ["polybench", "field"])
    except SelectionError as error:
        parser.error(str(error))
    options.lines.parent.mkdir(parents=True, exist_ok=True)
    here = {"code": record.code(), "machine": record.machine(), "threads": options.threads}
    known = record.known_lines(options.lines, here)
    os.environ["LOOPWRIGHT_TUNING"] = "off"
    deciding = deciding_model()
    if deciding is not None:
        deciding.load()
    with ProgressLine(len(entries)) as progress:
        for number, entry in enumerate(entries, start=1):
            progress.update(entry.name, number)
            if entry.name not in known:
                line = {**here, **measured(entry, options.threads, options.seconds, progress)}
                record.add_line(options.lines, line)
                known[entry.name] = line
            progress.clear()
            print("  ".join(map(str, row(known[entry.name]))), flush=True)
    lines = [known[entry.name] for entry in entries]
    rows = list(table(lines))
    for each in rows[-2:]:
        print("  ".join(map(str, each)))
    record.write(options.record, COLUMNS, rows, title=TITLE, text=TEXT, page="tuning")
    wrong = [line["kernel"] for line in lines if line["wrong"]]
    if wrong:
        print(f"wrong: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


def measured(entry: KernelEntry, threads: int, seconds: float, progress: ProgressLine) -> Line:
    """Schedules, times to decide and medians in ms of one kernel."""
    case = Case(entry, SIZE)
    sizes = case.function.signature.sizes_of(case.arguments).of(case.function.scop)
    given = {size.name for size in case.function.scop.sizes}
    sizes = {name: value for name, value in sizes.items() if name in given}
    schedules: dict[str, str] = {}
    decided: dict[str, float] = {}
    before = os.environ.get("LOOPWRIGHT_CACHE")
    with tempfile.TemporaryDirectory() as cache:
        os.environ["LOOPWRIGHT_CACHE"] = cache
        for way in (*WAYS, DEFAULT):
            progress.update(f"{entry.name}: {way}")
            name = "again" if way in schedules else way
            schedule, decided[name] = _decide(entry, way, sizes, threads)
            schedules.setdefault(way, str(schedule))
    if before is None:
        del os.environ["LOOPWRIGHT_CACHE"]
    else:
        os.environ["LOOPWRIGHT_CACHE"] = before
    texts = list(dict.fromkeys(schedules.values()))
    as_written = next(iter(ours.variants([1], {})))
    versions = {str(number): text for number, text in enumerate(texts)}
    variants = [
        variant
        for variant in ours.variants([threads], versions, fast_math=True)
        if variant.name.removeprefix(f"{ours.PEER} ") in versions
    ]
    outcomes: list[Outcome] = []
    measure(
        case,
        as_written,
        variants,
        seconds,
        lambda text: progress.update(f"{entry.name}: {text}"),
        outcomes,
    )
    of_text = dict(zip(texts, outcomes, strict=True))
    times = {way: of_text[text].timing for way, text in schedules.items()}
    return {
        "kernel": entry.name,
        "schedules": schedules,
        "decided": decided,
        "median": {way: found and 1e3 * found.median for way, found in times.items()},
        "spread": max(found.spread for found in times.values() if found is not None),
        "wrong": [text for text, o in of_text.items() if o.obstacle is not None or not o.agrees],
    }


def _decide(
    entry: KernelEntry, way: str, sizes: dict[str, int], threads: int
) -> tuple[Schedule, float]:
    """The schedule for a function that nothing is known of, and the milliseconds to decide."""
    function: Function = load(entry.text)[entry.function]
    assert function.scop is not None
    begin = time.perf_counter()
    found = function.choose_schedule(way, sizes, threads=threads, fast_math=True)
    return found, 1e3 * (time.perf_counter() - begin)


def ratio(line: Line, way: str) -> float:
    """How many times as fast as the analytical choice."""
    if line["schedules"][way] == line["schedules"][RULES]:
        return 1.0
    return line["median"][RULES] / line["median"][way]


def row(line: Line) -> list[record.Cell]:
    """The cells of a kernel."""
    median, decided = line["median"], line["decided"]
    return [
        line["kernel"],
        *(_number(median[way]) for way in WAYS),
        *(_number(ratio(line, way)) for way in (DEFAULT, AUTO)),
        *(_number(decided[name]) for name in (RULES, DEFAULT, "again")),
        f"{line['spread']:.1%}",
    ]


def table(lines: Sequence[Line]) -> Iterator[list[record.Cell]]:
    """Kernels with different schedules, and the geometric means of all."""
    different = [line for line in lines if len(set(line["schedules"].values())) > 1]
    yield from map(row, different)
    same = len(lines) - len(different)
    yield [f"{same} others", "", "", "", 1.0, 1.0, "", "", "", ""]
    means = (exp(fmean(log(ratio(line, way)) for line in lines)) for way in (DEFAULT, AUTO))
    ordered = ([line["decided"][name] for line in lines] for name in (RULES, DEFAULT, "again"))
    yield [
        f"geometric mean of {len(lines)}; mean times to decide",
        *("", "", ""),
        *map(_number, means),
        *(_number(fmean(values)) for values in ordered),
        "",
    ]


def _number(value: float | None) -> record.Cell:
    return "-" if value is None else float(f"{value:.3g}")


if __name__ == "__main__":
    sys.exit(main())
