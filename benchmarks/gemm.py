"""Matrix products against OpenBLAS, MKL and oneDNN: `python benchmarks/gemm.py`.

The sizes of Table 1 of "AI Powered Compiler Techniques for DL Code Optimization" (2021), squares
and PolyBench. Ours is the default schedule; each library runs in a process of its own, with
its best kernels, in turns with the others (see `loopwright bench`), and the results are compared.
For more or fewer rows and peers:

    python benchmarks/gemm.py --rows f32:2048x1x128,f64:LARGE --threads 1,2 --peers numpy,clang
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import record

from loopwright.kernels.catalogue import Size, catalogue
from loopwright.runtime.bench.case import Case
from loopwright.runtime.bench.harness import Outcome, measure
from loopwright.runtime.bench.peers import compilers, ours, python
from loopwright.runtime.bench.peers.libraries import LIBRARIES
from loopwright.runtime.bench.report import geometric_mean
from loopwright.runtime.bench.variant import Variant

KERNELS = {"f32": "gemm/gemm", "f64": "polybench/gemm"}
TABLE_1 = tuple(size for size in catalogue()[KERNELS["f32"]].sizes if "x" in size)
SQUARES = ("512", "1024", "2048", "4096")
ROWS = (
    *(f"f32:{size}" for size in (*TABLE_1, *SQUARES)),
    *(f"f64:{size}" for size in (*SQUARES, "LARGE", "EXTRALARGE")),
)
BLAS = ("numpy", "scipy")
"""Both call OpenBLAS, differently: the faster one counts."""


@dataclass(frozen=True)
class Rates:
    """GFLOP/s of one row: ours and, by name, those of the peers."""

    row: str
    ours: float
    peers: dict[str, float]

    @property
    def best(self) -> float:
        """The best peer's."""
        return max(self.peers.values())


def main() -> int:
    """Prints a line per row; 1 where a result is wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", default=",".join(ROWS), help="element types and sizes")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--peers", default="numpy,scipy,torch,onednn")
    parser.add_argument("--seconds", type=float, default=2.0, help="per variant at most")
    parser.add_argument("--tuned", action="store_true", help="ours is what tuning has found")
    parser.add_argument("--strict", action="store_true", help="do not let ours reassociate sums")
    record.add_option(parser)
    options = parser.parse_args()
    peers = options.peers.split(",")
    is_right = True
    rows: list[tuple[str, int, float, float]] = []
    for threads in map(int, options.threads.split(",")):
        workers = python.Workers()
        try:
            schedule = "auto" if options.tuned else "default"
            relaxed = not options.strict
            variants = _variants(peers, threads, workers, schedule, fast_math=relaxed)
            print(f"{threads} threads, GFLOP/s (median)")
            for version in dict.fromkeys(variant.version for variant in variants):
                print(f"  {version}")
            names = [variant.name for variant in variants[1:]]
            print(f"{'row':<22}{'ours':>8}{'of best':>9}" + "".join(f"{n:>18}" for n in names))
            found: list[Rates] = []
            for row in options.rows.split(","):
                case = _case(row)
                outcomes: list[Outcome] = []
                measure(case, variants[-1], variants, options.seconds, _silent, outcomes)
                is_right &= all(_is_right(outcome, row) for outcome in outcomes)
                rates = _rates(row, case, outcomes)
                found.append(rates)
                cells = (
                    f"{rates.peers[name]:.1f}" if name in rates.peers else "-" for name in names
                )
                print(
                    f"{row:<22}{rates.ours:>8.1f}{rates.ours / rates.best:>9.1%}"
                    + "".join(f"{cell:>18}" for cell in cells),
                    flush=True,
                )
            rows += [
                (each.row, threads, round(each.ours, 1), round(each.ours / each.best, 3))
                for each in found
            ]
            _print_means(found)
        finally:
            workers.close()
    columns = ("row", "threads", "GFLOP/s", "over the best library")
    record.write(options.record, columns, rows)
    return 0 if is_right else 1


def _variants(
    peers: Sequence[str],
    threads: int,
    workers: python.Workers,
    schedule: str,
    *,
    fast_math: bool,
) -> list[Variant]:
    """Ours first, then the peers; the last one is a BLAS, whose results are expected."""
    (default,) = (
        variant
        for variant in ours.variants([threads], {schedule: schedule}, fast_math=fast_math)
        if variant.name.endswith(schedule)
    )
    libraries = sorted((p for p in peers if p in LIBRARIES), key=lambda peer: peer in BLAS)
    compiled = (v for p in peers if p not in LIBRARIES for v in compilers.variants(p, [threads]))
    called = (v for p in libraries for v in python.variants(p, [threads], workers))
    return [default, *compiled, *called]


def _case(row: str) -> Case:
    kind, size = row.split(":")
    entry = catalogue()[KERNELS[kind]]
    if size in entry.sizes:
        return Case(entry, size)
    extents = [int(extent) for extent in size.split("x")]
    given: Size = dict(zip(entry.parameters, extents * (1 if len(extents) > 1 else 3), strict=True))
    return Case(entry, given)


def _silent(_: str) -> None:
    pass


def _is_right(outcome: Outcome, row: str) -> bool:
    if outcome.timing is not None and not outcome.agrees:
        print(f"WRONG: {outcome.variant.name} on {row}", file=sys.stderr)
        return False
    return True


def _rates(row: str, case: Case, outcomes: Sequence[Outcome]) -> Rates:
    flops = case.entry.flops(case.size) * 1e-9
    rates = {o.variant.name: flops / o.timing.median for o in outcomes if o.timing is not None}
    mine = rates.pop(outcomes[0].variant.name)
    return Rates(row, mine, rates)


def _print_means(found: Sequence[Rates]) -> None:
    """Geometric means: of each group of rows, and of OpenBLAS where both have it."""

    def group(rates: Rates) -> str:
        kind, size = rates.row.split(":")
        return "Table 1" if kind == "f32" and size in TABLE_1 else kind

    for name, members in groupby(found, group):
        rows = list(members)
        mine = geometric_mean([rates.ours for rates in rows])
        best = geometric_mean([rates.best for rates in rows])
        least = min(rows, key=lambda rates: rates.ours / rates.best)
        print(
            f"{name}: geometric mean {mine:.1f}, of the best peers {best:.1f} "
            f"({mine / best:.1%}); least {least.ours / least.best:.1%} ({least.row})"
        )


if __name__ == "__main__":
    sys.exit(main())
