"""How far the PolyBench kernels at LARGE are from the machine's limits, and from the best peers.

    python benchmarks/limits.py --record polybench-limits           # measures, some 10 minutes
    python benchmarks/limits.py --bench bench.json                  # ... of what bench has measured

The limit of a kernel is the larger of two times: its operations at the measured peak, and the least
that it moves, every array once, at the measured bandwidth of the level that holds all of them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import record

COLUMNS = (
    *("kernel", "default, ms", "spread", "limit, ms", "share of limit", "best peer, ms"),
    *("best peer", "times as fast"),
)
TITLE = "PolyBench LARGE: the machine's limits and the best peers"
TEXT = (
    "The default schedule on two threads with fast math; medians of interleaved runs with results "
    "checked. The limit is the larger of the operations at the measured peak and the least traffic "
    "(every array once) at the measured bandwidth of the level that holds the arrays. The best "
    "peer of each kernel on two threads: clang and gcc with `-O3 -march=native`, with and without "
    "`-ffast-math`, with OpenMP pragmas put by hand; Polly with both."
)
BENCH = (
    *("bench", "polybench", "--size", "LARGE", "--threads", "2", "--fast-math"),
    *("--schedule", "default", "--peers", "clang,gcc,polly", "--seconds", "0.4"),
)

BenchRow = dict[str, Any]
"""A row of `loopwright bench --json`."""


def main() -> int:
    """Measures, or reads what was measured, and prints a line for each kernel."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bench", type=Path, help="what `loopwright bench --json` wrote")
    record.add_option(parser)
    options = parser.parse_args()
    content = json.loads((options.bench or _measured()).read_text())
    lines = list(kernel_lines(content["rows"]))
    if not lines:
        parser.error("no kernel has both a right result of ours and of a peer")
    mean_share = geometric_mean(float(line[4]) for line in lines)
    mean_gain = geometric_mean(float(line[7]) for line in lines)
    name = f"geometric mean of {len(lines)}"
    lines.append([name, "", "", "", _rounded(mean_share), "", "", _rounded(mean_gain)])
    for line in lines:
        print("  ".join(map(str, line)))
    record.write(options.record, COLUMNS, lines, title=TITLE, text=TEXT)
    return 0


def kernel_lines(rows: Iterable[BenchRow]) -> Iterable[list[record.Cell]]:
    """The cells of each kernel that both we and a peer ran with right results."""
    for kernel, group in groupby(rows, lambda row: row["kernel"]):
        right = [row for row in group if row["median"] is not None and row["correct"]]
        ours = [row for row in right if row["peer"] == "loopwright" and row["threads"] == 2]
        peers = [row for row in right if row["peer"] != "loopwright"]
        if not ours or not peers:
            continue
        own, peer = _fastest(ours), _fastest(peers)
        yield [
            kernel.rpartition("/")[2],
            _rounded(1e3 * own["median"]),
            f"{own['spread']:.1%}",
            _rounded(1e3 * own["limit"]),
            _rounded(own["share"]),
            _rounded(1e3 * peer["median"]),
            f"{peer['variant']}, {peer['threads']}",
            _rounded(peer["median"] / own["median"]),
        ]


def _fastest(rows: Sequence[BenchRow]) -> BenchRow:
    return min(rows, key=lambda row: row["median"])


def _measured() -> Path:
    """The file of a run of `loopwright bench`."""
    path = record.ROOT / "build" / "polybench-large.json"
    path.parent.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "loopwright", *BENCH, "--json", str(path)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return path


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


if __name__ == "__main__":
    sys.exit(main())
