"""Model-guided against execution-guided beam search: `python benchmarks/search.py KERNEL ...`.

For every kernel, both searches with the same beam, from the same starting orders; the schedule that
each finds is run in turns with the other. `--size`, `--model`, `--beam`, `--threads`, and
`--patience` (seconds for the search that runs candidates).
"""

from __future__ import annotations

import argparse
from contextlib import suppress
from statistics import median

import loopwright
from loopwright.costmodel.find import DEFAULT_MODEL, find_model
from loopwright.kernels.catalogue import catalogue
from loopwright.passes.default.request import Request
from loopwright.passes.schedule import Schedule
from loopwright.passes.search.beam import BeamSearch
from loopwright.passes.search.ledger import Ledger, OutOfTime
from loopwright.passes.search.result import Task
from loopwright.runtime.tuning.evaluator import RunningEvaluator

ROUNDS = 5


def explore(search: BeamSearch, task: Task) -> tuple[Schedule, Ledger, float]:
    """The best schedule without the last check, and how long the search took."""
    ledger = Ledger(task)
    with suppress(OutOfTime):
        search.explore(ledger)
    return ledger.result("done").best, ledger, ledger.seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernels", nargs="+", metavar="KERNEL")
    parser.add_argument("--size", default="MEDIUM")
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--beam", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--patience", type=float, default=60.0)
    options = parser.parse_args()
    ratios: list[float] = []
    for name in options.kernels:
        entry = catalogue()[name]
        function = loopwright.load(entry.text)[entry.function]
        values = list(entry.arguments(options.size))
        sizes = function.signature.sizes_of(values).of(function.scop)
        request = Request(sizes, options.threads)
        original = Schedule.original(function.scop)
        model = find_model(options.model)
        with RunningEvaluator(function, values, threads=options.threads) as evaluator:
            evaluator.measure(request, [original])
            task = Task(original, request, model)
            predicted, first, model_seconds = explore(BeamSearch(options.beam), task)
            task = Task(original, request, model, evaluator, budget=options.patience)
            how = BeamSearch(options.beam, execution=True)
            executed, second, run_seconds = explore(how, task)
            rounds = [evaluator.measure(request, [predicted, executed]) for _ in range(ROUNDS)]
        by_model, by_execution = (median(speedups) for speedups in zip(*rounds, strict=True))
        ratios.append(by_model / by_execution)
        print(
            f"{name:28} model {by_model:7.2f}x {model_seconds:6.2f} s {len(first.predicted):5d}   "
            f"execution {by_execution:7.2f}x {run_seconds:7.1f} s {len(second.measured):5d}   "
            f"ratio {ratios[-1]:.2f}  time {run_seconds / model_seconds:.0f}x",
            flush=True,
        )
    print(f"median ratio {median(ratios):.2f}")


if __name__ == "__main__":
    main()
