"""Label ceiling: one set of labels judged as a prediction of another one of the same pairs.

    loopwright data generate --programs 200 --seed 5 -o first
    loopwright data generate --programs 200 --seed 5 -o second      # some minutes later
    python benchmarks/label_ceiling.py first second

No model can be expected to predict labels better than these predict themselves. Pairs that are in
both directories count, on one machine and on several threads, and by the speed-up that the second
measured; rankings are of whole programs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import record
from numpy.typing import NDArray

from loopwright.costmodel.learning.evaluation_report import FEWEST, ProgramPredictions, evaluate
from loopwright.costmodel.learning.pairs import ProgramPairs, read_pairs

COLUMNS = (
    *("pairs", "number", "MAPE", "median error", "Spearman"),
    *("nDCG", "nDCG@1", "regret of the choice"),
)

FAR = 0.1
"""Relative difference beyond which a pair is called an outlier."""


@dataclass(frozen=True)
class Twice:
    """The pairs of a program that both directories have."""

    key: str
    schedules: tuple[str, ...]
    first: NDArray[np.float64]
    second: NDArray[np.float64]

    def where(self, is_chosen: Callable[[str, float], bool]) -> ProgramPredictions | None:
        """Some of the pairs, the first labels as predictions; None without any."""
        chosen = [
            number
            for number, (schedule, speedup) in enumerate(
                zip(self.schedules, self.second, strict=True)
            )
            if is_chosen(schedule, speedup)
        ]
        if not chosen:
            return None
        nothing = np.zeros(len(chosen), np.bool_)
        return ProgramPredictions(self.key, self.first[chosen], self.second[chosen], nothing)


GROUPS: Sequence[tuple[str, Callable[[str, float], bool]]] = (
    ("all", lambda schedule, speedup: True),
    ("one thread", lambda schedule, speedup: "parallel" not in schedule),
    ("several threads", lambda schedule, speedup: "parallel" in schedule),
    ("below 0.8x", lambda schedule, speedup: speedup < 0.8),
    ("0.8x to 2x", lambda schedule, speedup: 0.8 <= speedup < 2),
    ("2x and more", lambda schedule, speedup: speedup >= 2),
)


def measured_twice(first: Path, second: Path, machine: str | None) -> Iterator[Twice]:
    """Programs with the pairs that are measured, not censored, in both."""
    known = {_identity(each): each for each in read_pairs(first, machine, several=True)}
    for program in read_pairs(second, machine, several=True):
        other = known.get(_identity(program))
        if other is None:
            continue
        before, now = _measured(other), _measured(program)
        both = tuple(schedule for schedule in now if schedule in before)
        if both:
            yield Twice(
                program.key,
                both,
                np.array([before[schedule] for schedule in both]),
                np.array([now[schedule] for schedule in both]),
            )


def _identity(program: ProgramPairs) -> tuple[str, str, bool]:
    return program.key, program.machine, program.fast_math


def _measured(program: ProgramPairs) -> dict[str, float]:
    labels = zip(program.schedules, program.speedups, program.censored, strict=True)
    return {schedule: float(speedup) for schedule, speedup, censored in labels if not censored}


def rows_of(programs: Iterable[Twice]) -> Iterator[list[record.Cell]]:
    """A row per group of pairs."""
    found = list(programs)
    for name, is_chosen in GROUPS:
        chosen = [part for each in found if (part := each.where(is_chosen)) is not None]
        if chosen:
            yield _row(name, chosen)


def _row(name: str, chosen: Sequence[ProgramPredictions]) -> list[record.Cell]:
    metrics = evaluate(chosen)
    is_ranked = any(len(each.measured) >= FEWEST for each in chosen)
    rankings = (f"{metrics.ndcg:.3f}", f"{metrics.ndcg_1:.3f}", f"{metrics.regret:.1%}")
    return [
        name,
        metrics.pairs,
        f"{metrics.mape:.1%}",
        f"{metrics.median_error:.1%}",
        f"{metrics.spearman:.3f}",
        *(rankings if is_ranked else ("-", "-", "-")),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path)
    parser.add_argument("--machine", metavar="TEXT", help="a part of fingerprints")
    record.add_option(parser)
    options = parser.parse_args()
    found = list(measured_twice(options.first, options.second, options.machine))
    if not found:
        parser.error("the directories have no measured pair in common")
    rows = list(rows_of(found))
    for row in (COLUMNS, *rows):
        print(f"{row[0]:<16}" + "".join(f"{cell:>22}" for cell in row[1:]))
    first = np.concatenate([each.first for each in found])
    second = np.concatenate([each.second for each in found])
    near = (np.abs(first - second) / second <= FAR).mean()
    print(f"{len(found)} programs; {near:.1%} of the pairs differ by {FAR:.0%} at most")
    record.write(options.record, COLUMNS, rows, page="data", title="Label ceiling")


if __name__ == "__main__":
    main()
