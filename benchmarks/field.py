"""The suite `field` at LARGE: as written, default schedules, and the best of all peers.

    python benchmarks/field.py                       # every kernel; goes on where it stopped
    python benchmarks/field.py images field/fir      # some domains and kernels
    python benchmarks/field.py --record field        # ... as benchmarks/results/field.json

The versions of a kernel take turns and are checked as in `loopwright bench`. Every kernel that is
done becomes a line of a file; what has a line there from the same code on this machine is not
measured again. The exit code is 1 when a result of ours is wrong.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import record

from loopwright.kernels.catalogue import KernelEntry, catalogue
from loopwright.runtime.bench.case import Case
from loopwright.runtime.bench.harness import Outcome, measure
from loopwright.runtime.bench.peers import compilers, ours, python
from loopwright.runtime.bench.peers.names import COMPILERS, PEERS
from loopwright.runtime.bench.variant import Variant
from loopwright.support.progress import ProgressLine

SIZE = "LARGE"
COLUMNS = (
    *("kernel", "domain", "as written, ms", "default, ms", "fast math, ms", "best peer, ms"),
    *("best peer", "default / peer", "fast math / peer", "spread"),
)
TITLE = "Kernels that people run, against the best peer of each"
TEXT = (
    "Medians in ms of interleaved runs with results checked. As written: unscheduled, one thread. "
    "Default schedules on two threads, with and without fast math. The best peer of each kernel on "
    "one or two threads: clang and gcc with `-O3 -march=native`, with and without `-ffast-math`, "
    "with OpenMP pragmas put by hand; NumPy, SciPy, torch, Numba. A ratio below 1 means faster "
    "than the best peer; spread is the interquartile range over the median, of fast math."
)

Line = dict[str, Any]


def main() -> int:
    """Measures what is missing, and prints a line for each kernel."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="domains or kernels (all)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.3, help="per version at most (0.3)")
    parser.add_argument("--peers", default=",".join(PEERS), metavar="P,...", help="(all)")
    parser.add_argument("--lines", type=Path, default=Path("build/field.jsonl"))
    record.add_option(parser)
    options = parser.parse_args()
    entries = [entry for entry in catalogue().values() if _chosen(entry, options.names)]
    if not entries:
        parser.error(f"no kernel or domain of the suite is called {' or '.join(options.names)}")
    options.lines.parent.mkdir(parents=True, exist_ok=True)
    here = {"code": record.code(), "machine": record.machine()}
    known = record.known_lines(options.lines, here)
    workers = python.Workers()
    progress = ProgressLine(len(entries))
    peers: list[Variant] = []
    try:
        if any(entry.name not in known for entry in entries):
            progress.update("looking for peers")
            peers += peer_variants(options.peers.split(","), options.threads, workers)
        for number, entry in enumerate(entries, start=1):
            progress.update(entry.name, number)
            if entry.name not in known:
                line = {
                    **here,
                    **measured(entry, options.threads, peers, options.seconds, progress),
                }
                record.add_line(options.lines, line)
                known[entry.name] = line
            progress.clear()
            print("  ".join(map(str, row(known[entry.name]))), flush=True)
    finally:
        progress.clear()
        workers.close()
    lines = [known[entry.name] for entry in entries]
    rows = [*map(row, lines), *means(lines)]
    for each in rows[len(lines) :]:
        print("  ".join(map(str, each)))
    record.write(options.record, COLUMNS, rows, title=TITLE, text=TEXT)
    wrong = [line["kernel"] for line in lines if line["wrong"]]
    if wrong:
        print(f"wrong: {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0


def _chosen(entry: KernelEntry, names: Sequence[str]) -> bool:
    suite, _, kernel = entry.name.partition("/")
    return suite == "field" and (not names or bool({entry.name, kernel, entry.table} & {*names}))


def peer_variants(names: Sequence[str], threads: int, workers: python.Workers) -> Iterator[Variant]:
    """All variants of the peers that are installed, on one thread and on all."""
    for name in names:
        if name in COMPILERS:
            yield from compilers.variants(name, sorted({1, threads}))
        else:
            yield from python.variants(name, sorted({1, threads}), workers)


def measured(
    entry: KernelEntry,
    threads: int,
    peers: Sequence[Variant],
    seconds: float,
    progress: ProgressLine,
) -> Line:
    """Medians in ms of our versions and of the best peer that is right."""
    case = Case(entry, SIZE)
    as_written = next(iter(ours.variants([1], {})))
    default, fast = (
        next(v for v in ours.variants([threads], {"default": "default"}, fast_math=fast_math)
             if v.name == f"{ours.PEER} default")
        for fast_math in (False, True)
    )  # fmt: skip
    outcomes: list[Outcome] = []
    variants = [as_written, default, fast, *peers]
    measure(
        case,
        as_written,
        variants,
        seconds,
        lambda text: progress.update(f"{entry.name}: {text}"),
        outcomes,
    )
    own, others = outcomes[:3], outcomes[3:]
    right = [o for o in others if o.timing is not None and o.agrees]
    best = min(right, key=lambda o: o.timing.median if o.timing else math.inf, default=None)
    return {
        "kernel": entry.name,
        "domain": entry.table,
        **{
            name: outcome.timing and 1e3 * outcome.timing.median
            for name, outcome in zip(("as written", "default", "fast math"), own, strict=True)
        },
        "spread": own[2].timing and own[2].timing.spread,
        "peer": best and best.timing and 1e3 * best.timing.median,
        "which": best and f"{best.variant.name}, {best.variant.threads}",
        "wrong": [o.variant.name for o in own if o.obstacle is not None or not o.agrees],
        "wrong peers": [o.variant.name for o in others if o.timing is not None and not o.agrees],
        "peers": {
            f"{o.variant.name}, {o.variant.threads}": 1e3 * o.timing.median
            for o in right
            if o.timing is not None
        },
    }


def row(line: Line) -> list[record.Cell]:
    """The cells of a kernel."""
    times = [line[name] for name in ("as written", "default", "fast math", "peer")]
    return [
        line["kernel"].partition("/")[2],
        line["domain"],
        *(_number(value) for value in times),
        line["which"] or "none",
        *(_number(ratio(line, name)) for name in ("default", "fast math")),
        "-" if line["spread"] is None else f"{line['spread']:.1%}",
    ]


def ratio(line: Line, version: str) -> float | None:
    """The time of one of our versions over that of the best peer."""
    return line[version] / line["peer"] if line[version] and line["peer"] else None


def means(lines: Sequence[Line]) -> Iterator[list[record.Cell]]:
    """The geometric means of the ratios: of every domain, and of all kernels."""
    domains = dict.fromkeys(line["domain"] for line in lines)
    groups = {domain: [line for line in lines if line["domain"] == domain] for domain in domains}
    for name, group in (*groups.items(), ("all", lines)):
        cells: list[record.Cell] = []
        for version in ("default", "fast math"):
            found = [math.log(r) for line in group if (r := ratio(line, version)) is not None]
            cells.append(_number(math.exp(fmean(found)) if found else None))
        yield [f"geometric mean of {len(group)}", name, "", "", "", "", "", *cells, ""]


def _number(value: float | None) -> record.Cell:
    return "-" if value is None else float(f"{value:.3g}")


if __name__ == "__main__":
    sys.exit(main())
