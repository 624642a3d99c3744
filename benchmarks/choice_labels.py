"""Labels of choices: complete schedules that the default scheduler could choose, all of them run.

    nice -n 10 python benchmarks/choice_labels.py --seeds 6           # goes on where it stopped

For programs of the kinds in `field_like.py`, on one thread: the candidates of the scheduler, what
other strategies have for the same nests, and some neighbours of the analytical choice. Every
candidate runs twice, with all others in between; results are compared with those of the program as
written. Every program that is done becomes a line of `--lines`: candidates with their estimated and
measured seconds, the first of them the program as written.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import record
from field_like import Instance, instance, kinds

from loopwright import load
from loopwright.passes.default.default_schedule import other_answers
from loopwright.passes.estimate.estimate import estimate
from loopwright.passes.estimate.scheduling_context import SchedulingContext
from loopwright.passes.polyhedral.isl_context import ISL_LOCK
from loopwright.passes.schedules.errors import TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.search.default_choice import Proposals, propose
from loopwright.passes.search.schedule_key import schedule_key
from loopwright.passes.search.space.neighbours import neighbours
from loopwright.runtime.calling.inputs import Settings, make_arguments
from loopwright.runtime.tuning.evaluator import EvaluationError, RunningEvaluator
from loopwright.support.progress import ProgressLine

ROUNDS = 2
OTHERS = 5
"""Schedules with another strategy's answer for a nest, at most."""

NEIGHBOURS = 8
STRIDE = 3
"""Every so manieth neighbour of the analytical choice is a candidate, so many of them."""

LINES = Path("build/choice-labels.jsonl")

Line = dict[str, Any]


def main() -> None:
    """Measures what is missing."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=6, help="programs of each kind (6)")
    parser.add_argument("--lines", type=Path, default=LINES)
    options = parser.parse_args()
    options.lines.parent.mkdir(parents=True, exist_ok=True)
    here = {"machine": record.machine()}
    known = record.known_lines(options.lines, here)
    wanted = [(kind, seed) for seed in range(options.seeds) for kind in kinds("labels")]
    with ProgressLine(len(wanted)) as progress:
        for number, (kind, seed) in enumerate(wanted):
            program = instance(kind, seed)
            progress.update(program.name, number)
            if program.name not in known:
                line = {**here, "kernel": program.name, "kind": kind.name}
                record.add_line(options.lines, line | labelled(program, fast_math=bool(seed % 2)))


def labelled(program: Instance, *, fast_math: bool) -> Line:
    """The candidates of a program, by their pipelines, and their seconds."""
    (function,) = load(program.text).values()
    settings = Settings({name: str(size) for name, size in program.sizes.items()}, {}, 1)
    arguments = make_arguments(function.scop, function.signature, settings)
    context = SchedulingContext(function.checked_sizes(arguments), 1)
    original = Schedule.original(function.scop, reassociate=fast_math)
    proposals = propose(original, context)
    found = (original, *proposals.candidates, *others(proposals), *near(proposals))
    distinct: dict[object, Schedule] = {}
    for each in found:
        distinct.setdefault(schedule_key(each), each)
    schedules = list(distinct.values())
    with ISL_LOCK:
        estimates = [estimate(each, context) for each in schedules]
    line: Line = {
        "sizes": dict(program.sizes),
        "text": program.text,
        "fast_math": fast_math,
        "schedules": [str(each) for each in schedules],
        "estimates": estimates,
        "chosen": [*distinct].index(schedule_key(proposals.analytical)),
        "proposed": len(proposals.candidates),
        "seconds": [],
    }
    if len(schedules) > 1:
        line["seconds"] = measured(function, arguments, context, schedules, fast_math)
    return line


def others(proposals: Proposals) -> Iterator[Schedule]:
    """Candidates with another answer for a nest, in the order of the analytical choice."""
    answers = proposals.candidates.get(proposals.analytical, ())
    with ISL_LOCK:
        for answer, behind in islice(other_answers(answers, proposals.context), OTHERS):
            with suppress(TransformationError):
                yield answer.before.apply_all((*behind, *answer.steps))


def near(proposals: Proposals) -> Iterator[Schedule]:
    """Some neighbours of the analytical choice."""
    found = neighbours(proposals.original, proposals.analytical, proposals.context)
    return islice(found, 0, NEIGHBOURS * STRIDE, STRIDE)


def measured(
    function: Any,
    arguments: Sequence[object],
    context: SchedulingContext,
    schedules: Sequence[Schedule],
    fast_math: bool,
) -> list[list[float]]:
    """Seconds of all schedules in each round; infinite where one cannot be run."""
    with RunningEvaluator(
        function, arguments, threads=1, fast_math=fast_math, compilers=1
    ) as evaluator:
        rounds: list[list[float]] = []
        try:
            for _ in range(ROUNDS):
                speedups = evaluator.measure(context, schedules)
                base = evaluator.baseline_seconds
                rounds.append([base / each if each else -1.0 for each in speedups])
        except EvaluationError:
            return []
        return rounds


if __name__ == "__main__":
    main()
