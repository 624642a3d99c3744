"""The analytical estimate against measured times: rank correlation, and the regret of its choice.

    python benchmarks/estimate.py                        # the suite field, and PolyBench
    python benchmarks/estimate.py field --threads 2      # one suite
    python benchmarks/estimate.py --record estimate-1    # as benchmarks/results/estimate-1.json

Of each kernel, all candidates of the default schedule and the program as written take turns. The
speed-up over the program as written is compared with the estimated one. The regret is the time that
the choice of the default schedule takes more than the fastest candidate.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

import record
from scipy.stats import spearmanr

from loopwright.kernels.catalogue import KernelEntry, catalogue
from loopwright.passes.default.default_schedule import candidates, choose
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.extents import infer_extents
from loopwright.passes.polyhedral.isl_context import ISL_LOCK
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.bench.case import Case
from loopwright.runtime.bench.harness import Outcome, measure
from loopwright.runtime.bench.peers import ours
from loopwright.support.progress import ProgressLine

SIZE = "LARGE"
SUITES = ("field", "polybench")
AS_WRITTEN = "as written"
COLUMNS = ("suite", "kernels", "schedules", "Spearman", "of a kernel", "mean regret", "worst")
TITLE = "The analytical estimate: ranks and regret"
TEXT = (
    "Spearman's rank correlation of estimated and measured speed-ups over the program as written, "
    "over all schedules of all kernels, and the median over kernels of that within one; the time "
    "that the choice takes more than the fastest candidate, in the mean and at worst."
)

Line = dict[str, Any]


def main() -> int:
    """Measures kernel by kernel; goes on where it stopped."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="suites or kernels (all)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.1, help="per schedule at most (0.1)")
    parser.add_argument("--lines", type=Path, default=Path("build/estimate.jsonl"))
    record.add_option(parser)
    options = parser.parse_args()
    entries = [
        entry
        for entry in catalogue().values()
        if (suite := entry.name.partition("/")[0]) in SUITES
        and (not options.names or {entry.name, suite} & {*options.names})
    ]
    if not entries:
        parser.error(f"no kernel or suite is called {' or '.join(options.names)}")
    options.lines.parent.mkdir(parents=True, exist_ok=True)
    here = {"code": record.code(), "machine": record.machine(), "threads": options.threads}
    known = record.known_lines(options.lines, here)
    progress = ProgressLine(len(entries))
    try:
        for number, entry in enumerate(entries, start=1):
            progress.update(entry.name, number)
            if entry.name not in known:
                line = {**here, **measured(entry, options.threads, options.seconds, progress)}
                record.add_line(options.lines, line)
                known[entry.name] = line
    finally:
        progress.clear()
    lines = [known[entry.name] for entry in entries]
    rows = [row(suite, found) for suite in SUITES if (found := _of_suite(lines, suite))]
    for line in sorted(lines, key=regret, reverse=True)[:10]:
        print(f"{line['kernel']}: regret {regret(line):.2f}, chosen {line['chosen'][:100]}")
    for each in rows:
        print("  ".join(map(str, each)))
    record.write(options.record, COLUMNS, rows, title=TITLE, text=TEXT)
    return 0


def _of_suite(lines: Sequence[Line], suite: str) -> list[Line]:
    return [line for line in lines if line["kernel"].startswith(f"{suite}/")]


def measured(entry: KernelEntry, threads: int, seconds: float, progress: ProgressLine) -> Line:
    """Estimated and measured seconds of all candidates, by their texts, and which one is chosen."""
    case = Case(entry, SIZE)
    scop = case.function.scop
    original = Schedule.original(scop)
    context = SchedulingContext(infer_extents(scop, entry.parameter_values(SIZE)), threads)
    with ISL_LOCK:
        found = list(candidates(original, context))
        chosen = choose(original, context, found)
        estimates = {AS_WRITTEN: estimate(original, SchedulingContext(context.sizes, 1))}
        estimates |= {str(each): estimate(each, context) for each in found if str(each)}
    as_written, *_ = ours.variants([1], {})
    texts = [text for text in estimates if text != AS_WRITTEN]
    scheduled = [
        variant
        for variant in ours.variants([threads], {text: text for text in texts})
        if variant.name.removeprefix(f"{ours.PEER} ") in estimates
    ]
    outcomes: list[Outcome] = []
    measure(
        case,
        as_written,
        [as_written, *scheduled],
        seconds,
        lambda text: progress.update(f"{entry.name}: {text[:40]}"),
        outcomes,
    )
    times = {
        name: outcome.timing.median
        for name, outcome in zip([AS_WRITTEN, *texts], outcomes, strict=True)
        if outcome.timing is not None
    }
    pairs = {name: [estimates[name], time] for name, time in times.items()}
    return {"kernel": entry.name, "chosen": str(chosen) or AS_WRITTEN, "seconds": pairs}


def regret(line: Line) -> float:
    """The part of the fastest candidate's time that the choice takes more."""
    times = {name: time for name, (_, time) in line["seconds"].items()}
    return times.get(line["chosen"], times[AS_WRITTEN]) / min(times.values()) - 1


def row(suite: str, lines: Sequence[Line]) -> list[record.Cell]:
    """What the lines of a suite say together."""
    within: list[float] = []
    everywhere: list[tuple[float, float]] = []
    for line in lines:
        guess, time = line["seconds"][AS_WRITTEN]
        pairs = [(guess / g, time / t) for n, (g, t) in line["seconds"].items() if n != AS_WRITTEN]
        everywhere += pairs
        if len(pairs) > 1:
            within.append(_rank_correlation([*pairs, (1.0, 1.0)]))
    regrets = list(map(regret, lines))
    return [
        suite,
        len(lines),
        len(everywhere),
        round(_rank_correlation(everywhere), 3),
        round(median(within), 3) if within else "-",
        f"{fmean(regrets):.1%}",
        f"{max(regrets):.0%}",
    ]


def _rank_correlation(pairs: Sequence[tuple[float, float]]) -> float:
    """Spearman's; 0 where all are the same for one side."""
    sides = [one for one, _ in pairs], [other for _, other in pairs]
    if any(len({*side}) < 2 for side in sides):
        return 0.0
    return float(spearmanr(*sides).statistic)


if __name__ == "__main__":
    sys.exit(main())
