"""Time of one legality check, by kernel and transformation.

Each step is checked on a fresh schedule, whose verdicts are not remembered, and once more when
they are, as in a search. Dependences are computed before: once per program.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import time

import record

from loopwright.dialects.parse import parse_module
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.polyhedral.raising.raise_function import raise_module
from loopwright.passes.polyhedral.schedule_tree import Loop, chain, loops
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline

KERNELS = (
    *("gemm", "2mm", "jacobi-1d", "jacobi-2d", "seidel-2d", "cholesky", "trisolv", "correlation"),
    *("floyd-warshall", "lu", "adi", "nussinov", "heat-3d", "ludcmp", "deriche"),
)
REPETITIONS = 5


def main() -> None:
    """Prints the median and the worst time per kernel."""
    parser = argparse.ArgumentParser(description=__doc__)
    record.add_option(parser)
    options = parser.parse_args()
    found: list[tuple[str, float, str]] = []
    print(f"{'kernel':<18}{'checks':>7}{'median':>10}{'worst':>10}{'again':>10}   worst step")
    for name in KERNELS:
        entry = catalogue()[f"polybench/{name}"]
        scop = raise_module(parse_module(entry.text))[entry.function]
        fresh: dict[str, list[float]] = {}
        again: list[float] = []
        for _ in range(REPETITIONS):
            for step in steps(Schedule.original(scop)):
                schedule = Schedule.original(scop)
                fresh.setdefault(step, []).append(check(schedule, step))
                again.append(check(schedule, step))
        medians = {step: statistics.median(times) for step, times in fresh.items()}
        worst = max(medians, key=lambda step: medians[step])
        found.append((name, round(medians[worst] * 1e3, 2), worst))
        print(
            f"{name:<18}{len(medians):>7}{statistics.median(medians.values()) * 1e3:>7.2f} ms"
            f"{medians[worst] * 1e3:>7.2f} ms{statistics.median(again) * 1e3:>7.2f} ms   {worst}"
        )
    record.write(options.record, ("kernel", "worst check, ms", "step"), found)


def steps(schedule: Schedule) -> list[str]:
    """Interchange, tile, parallel and vectorize, for every chain of loops."""
    result: list[str] = []
    for loop in loops(schedule.tree):
        members = chain(loop)
        names = [schedule.short_name(member) for member in members]
        result.append(f"parallel{{loops={names[0]}}}")
        result.append(f"tile{{loops={','.join(names)} sizes={','.join(['32'] * len(names))}}}")
        if len(names) > 1:
            result.append(f"interchange{{loops={','.join(reversed(names))}}}")
        if not any(isinstance(inner, Loop) for inner in loops(loop.body)):
            result.append(f"vectorize{{loops={names[0]}}}")
    return result


def check(schedule: Schedule, step: str) -> float:
    """Seconds that it takes to apply a step, or to refuse it."""
    (transformation,) = parse_pipeline(step)
    start = time.perf_counter()
    with contextlib.suppress(TransformationError):
        schedule.apply(transformation)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
