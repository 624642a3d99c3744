"""Tuning of tile sizes: one compilation with run-time sizes, many runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Literal

import islpy as isl

from ...passes.estimate.estimate import estimate
from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.machine.target import Target
from ...passes.polyhedral.isl_context import ISL_LOCK
from ...passes.polyhedral.schedule_tree import loops
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule
from ...passes.search.remeasurement import SHARE
from ...passes.search.space.run_time_tilings import run_time_tilings
from ...passes.search.space.tile_size_space import TileSpace
from ...passes.search.tile_size_search import Plan, find_tile_search
from ...passes.transformations.tile import Tile
from ..choosing.database import Question, Tuned, default_database
from ..jit.threads import default_threads
from ..machine.machine_fingerprint import code_generator
from ..program import Function
from .evaluator import EvaluationError, RunningEvaluator, Substitute
from .tile_journal import Journal

FIRST_PATIENCE = 30.0
"""Seconds beyond the budget for the first measurement: starting alone takes more than a second."""

USUAL_SIZE = 32
"""The size with which tilings are compared, but for the innermost loop."""

USUAL_ROW = 256

COMPARING = 0.3
"""Of the budget is for the comparison of tilings."""

CONFIRMING = 1.0
"""Seconds that are kept for the comparison in the end, of short budgets a part (`MOST_KEPT`):
two schedules are compiled for it."""

MOST_KEPT = 0.25

LARGEST = 2**30
"""Tiles with more iterations are as good as one."""

PROPOSED = 8
"""Points that estimates propose, to be measured first."""

ESTIMATED = 120
"""Points that are estimated."""


@dataclass(frozen=True)
class TileProgress:
    """Progress of the tuning."""

    measured: int
    planned: int
    best: float
    seconds: float


@dataclass(frozen=True)
class TileOptions:
    """Options of tile-size tuning.

    `schedule` leaves sizes open; where there is none, tilings of the program are compared. `share`
    of all combinations is sampled, and `CHOSEN` more are measured; `search` is one of
    `tile_search_names()`. `budget` is in seconds, None for as long as it takes.
    """

    schedule: str | None = None
    share: float = 0.01
    search: str = "guided"
    budget: float | None = None
    threads: int | None = None
    fast_math: bool = False
    seed: int = 0
    keep: bool = True
    report: Callable[[TileProgress], None] = lambda _: None


@dataclass(frozen=True)
class TileResult:
    """The best sizes, and the same schedule with them as constants.

    `seconds` are those of a call with these sizes, `speedup` and `default` speed-ups of the
    constant schedule and the default one over the program as written (None: not measured), or over
    the `bound` seconds after which that was ended.
    """

    tiling: Schedule
    sizes: Mapping[str, int]
    seconds: float
    schedule: Schedule
    speedup: float | None
    default: float | None
    measured: int
    combinations: int
    elapsed: float
    ended: Literal["done", "time", "interrupted"]
    bound: float | None = None


def tune_tiles(function: Function, values: Sequence[object], options: TileOptions) -> TileResult:
    """The best tile sizes that are found for these arguments.

    Every measurement is kept at once: after an interruption, the same call goes on from there.
    Raises EvaluationError where nothing can be tiled, BoundsError where the program would leave an
    array, SourceError, TransformationError and what a call raises.
    """
    return _Tuning(function, values, options).run()


class _Tuning:
    def __init__(self, function: Function, values: Sequence[object], options: TileOptions) -> None:
        self.function = function
        self.options = options
        self.values = values
        self.threads = options.threads or default_threads()
        self.sizes = function.checked_sizes(values)
        self.context = SchedulingContext(self.sizes, self.threads)
        self.original = Schedule.original(function.scop, reassociate=options.fast_math)
        self.begun = time.monotonic()
        self.journals: dict[str, Journal] = {}
        self.question = Question.of(
            function.function,
            self.sizes,
            Target.host(),
            threads=self.threads,
            fast_math=options.fast_math,
        )

    def run(self) -> TileResult:
        """Compares tilings, then sizes of the best one."""
        candidates = self._candidates()
        with RunningEvaluator(
            self.function,
            self.values,
            threads=self.threads,
            fast_math=self.options.fast_math,
            substitute=Substitute.default(
                self.function,
                self.context,
                self.options.budget,
                fast_math=self.options.fast_math,
            ),
        ) as evaluator:
            tiling = self._best_tiling(candidates, evaluator)
            return self._tune(tiling, evaluator)

    def _candidates(self) -> list[Schedule]:
        if self.options.schedule is None:
            found = list(run_time_tilings(self.original, self.context))
        else:
            text, fast_math = self.options.schedule, self.options.fast_math
            found = [self.function.schedule(text, fast_math=fast_math)]
        candidates = [schedule for schedule in found if schedule.run_time_sizes]
        if candidates:
            return candidates
        name = self.function.name
        if self.options.schedule is None:
            raise EvaluationError(f"{name}: no loops can be tiled with every size")
        raise EvaluationError(
            f"{name}: the schedule leaves no tile size open; name some: tile{{loops=i sizes=Ti}}"
        )

    def _best_tiling(self, candidates: Sequence[Schedule], evaluator: RunningEvaluator) -> Schedule:
        if len(candidates) == 1:
            return candidates[0]
        # Those that are probably fast come first: there may be no time for the others.
        with ISL_LOCK:
            candidates = sorted(
                candidates,
                key=lambda tiling: estimate(
                    with_sizes(self.original, tiling, _usual_sizes(tiling)), self.context
                ),
            )
        seconds: list[float] = []
        for schedule in candidates:
            best = min(seconds, default=inf)
            if best < inf and self._left(COMPARING) < 0:
                break
            sizes = _usual_sizes(schedule)
            found = self._time(evaluator, schedule, sizes, best, is_first=not seconds)
            if found is None:
                break
            seconds.append(found)
        return candidates[seconds.index(min(seconds)) if seconds else 0]

    def _time(
        self,
        evaluator: RunningEvaluator,
        tiling: Schedule,
        sizes: Mapping[str, int],
        best: float,
        *,
        is_first: bool,
    ) -> float | None:
        """Seconds with these sizes, measured now or before an interruption; None: no time left.

        The first ones may take longer than the budget: a short one is to bring something, too.
        """
        journal = self._journal(tiling)
        known = journal.get(sizes)
        if known >= 0:
            return known
        kept = max(SHARE, min(MOST_KEPT, CONFIRMING / (self.options.budget or inf)))
        seconds = self._left(1.0) + FIRST_PATIENCE if is_first else self._left(1 - kept)
        found = evaluator.time_tiles(tiling, sizes, best, seconds)
        if found is not None:
            journal.put(sizes, found)
        return found

    def _journal(self, tiling: Schedule) -> Journal:
        question = f"{self.question.key} {tiling} {code_generator()}"
        if question not in self.journals:
            self.journals[question] = Journal.open(question, self.options.keep)
        return self.journals[question]

    def _left(self, share: float) -> float:
        """Seconds until so much of the budget is gone; infinite without one."""
        budget = self.options.budget
        return inf if budget is None else self.begun + share * budget - time.monotonic()

    def _tune(self, tiling: Schedule, evaluator: RunningEvaluator) -> TileResult:
        options = self.options
        widths = [loop.vector for loop in loops(tiling.tree) if loop.vector is not None]
        space = TileSpace.usual(extents(tiling, self.sizes), max(widths, default=1))
        points = space.points
        names = tiling.run_time_sizes
        sampled = max(4, round(options.share * len(points)))
        propose = partial(promising_points, self.original, tiling, space, self.context)
        plan = Plan(space, sampled, options.seed, propose)
        search = find_tile_search(options.search)(plan)
        planned = min(len(points), plan.measurements)
        known: dict[int, float] = {}
        is_first = True
        ended: Literal["done", "time", "interrupted"] = "done"
        with suppress(StopIteration):
            asked = next(search)
            while ended == "done":
                for point in asked:
                    sizes = dict(zip(names, map(int, points[point]), strict=True))
                    best = min(known.values(), default=inf)
                    try:
                        found = self._time(evaluator, tiling, sizes, best, is_first=is_first)
                    except KeyboardInterrupt:
                        ended = "interrupted"
                        break
                    if found is None:
                        ended = "time"
                        break
                    known[point], is_first = found, is_first and found == inf
                    elapsed = time.monotonic() - self.begun
                    best = min(best, known[point])
                    options.report(TileProgress(len(known), planned, best, elapsed))
                asked = search.send(dict(known)) if ended == "done" else []
        if min(known.values(), default=inf) == inf:
            if ended == "interrupted":
                raise KeyboardInterrupt
            why = "; give it more time with --budget" if ended == "time" else ""
            raise EvaluationError(f"{self.function.name}: no tile size could be run{why}")
        best_point = min(known, key=lambda point: known[point])
        sizes = dict(zip(names, map(int, points[best_point]), strict=True))
        constant = with_sizes(self.original, tiling, sizes)
        speedup = default = None
        if ended != "interrupted":
            speedup, default = self._confirm(constant, evaluator)
        if ended == "done":
            for journal in self.journals.values():
                journal.close()
        return TileResult(
            tiling,
            sizes,
            known[best_point],
            constant,
            speedup,
            default,
            len(known),
            len(points),
            time.monotonic() - self.begun,
            ended,
            evaluator.bound,
        )

    def _confirm(
        self, constant: Schedule, evaluator: RunningEvaluator
    ) -> tuple[float | None, float | None]:
        """Speed-ups of the constant and the default schedule; the former is kept if faster.

        None where there is no time left.
        """
        default = self.function.default_schedule(
            self.sizes, threads=self.threads, fast_math=self.options.fast_math
        )
        answers = evaluator.measure(self.context, [constant, default], self._left(1.0))
        if len(answers) < 2:
            return None, None
        speedup, other = answers
        database = default_database()
        if self.options.keep and database is not None and speedup > max(other, 0.0):
            seconds = evaluator.baseline_seconds / speedup
            database.put(self.question, Tuned(str(constant), seconds, speedup))
        return speedup, other


def _usual_sizes(tiling: Schedule) -> dict[str, int]:
    names = tiling.run_time_sizes
    return dict.fromkeys(names, USUAL_SIZE) | {names[-1]: USUAL_ROW}


def promising_points(
    original: Schedule, tiling: Schedule, space: TileSpace, context: SchedulingContext
) -> tuple[int, ...]:
    """The usual sizes, and the best of some others by the estimate of the default schedule."""
    count = len(space.sizes)
    usual = [
        space.near([*[outer] * (count - 2), middle, row][-count:])
        for outer, middle, row in _GUESSES
    ]
    points = space.points
    step = max(1, len(points) // ESTIMATED)
    estimates: dict[int, float] = {}
    with ISL_LOCK:
        for point in {*usual, *range(step // 2, len(points), step)}:
            sizes = dict(zip(tiling.run_time_sizes, map(int, points[point]), strict=True))
            estimates[point] = estimate(with_sizes(original, tiling, sizes), context)
    best = sorted(estimates, key=lambda point: estimates[point])[:PROPOSED]
    return tuple(dict.fromkeys([*usual, *best]))


_WHOLE = 10**6
_GUESSES = (
    (32, 32, 256),
    (32, 32, _WHOLE),
    (_WHOLE, _WHOLE, _WHOLE),
    (64, 64, 64),
    (8, 8, _WHOLE),
    (32, 4, _WHOLE),
)
"""Usual tiles: of all loops but the last two, of these two. A few whole rows stay in a cache."""


def with_sizes(original: Schedule, tiling: Schedule, sizes: Mapping[str, int]) -> Schedule:
    """The schedule with numbers in place of the names of tile sizes."""
    steps = [
        replace(step, sizes=tuple(sizes.get(str(size), size) for size in step.sizes))
        if isinstance(step, Tile)
        else step
        for step in tiling.transformations
    ]
    try:
        return original.apply_all(steps)
    except TransformationError as error:
        raise EvaluationError(f"{original.program.name}: {error}") from error


def extents(tiling: Schedule, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The largest number of values of the loops that each open size is for."""
    result = dict.fromkeys(tiling.run_time_sizes, 1)
    with ISL_LOCK:
        for loop in loops(tiling.tree):
            if loop.run_time_size is None:
                continue
            lowest, highest = zip(*_values(tiling, loop.schedule, sizes), strict=True)
            count = min(LARGEST, max(highest) - min(lowest) + 1)
            result[loop.run_time_size] = max(result[loop.run_time_size], count)
    return tuple(result.values())


def _values(
    tiling: Schedule, schedule: Mapping[str, isl.Aff], sizes: Mapping[str, int]
) -> Iterator[tuple[int, int]]:
    """The least and the largest value of a loop for each statement that runs at all."""
    yield 0, 0
    for name, aff in schedule.items():
        domain = tiling.scop.statement(name).domain
        for position in range(domain.dim(isl.dim_type.param)):
            size = sizes.get(str(domain.get_dim_name(isl.dim_type.param, position)))
            if size is not None:
                domain = domain.fix_val(isl.dim_type.param, position, isl.Val(size))
        if not domain.is_empty():
            values = domain.apply(isl.Map.from_aff(aff.align_params(domain.get_space().params())))
            yield values.dim_min_val(0).to_python(), values.dim_max_val(0).to_python()
