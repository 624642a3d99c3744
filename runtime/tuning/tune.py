"""Tuning of a function: a search with measurements, and storage of the result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from ...costmodel.deciding_model import deciding_model
from ...costmodel.find import find_loop_pairs, find_model, find_ranker
from ...costmodel.learning.errors import LearningError
from ...costmodel.learning.examples import Unsupported
from ...costmodel.model_names import DEFAULT_MODEL, DEFAULT_RANKER
from ...dialects.errors import SourceError
from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.machine.target import Target
from ...passes.schedules.errors import TransformationError
from ...passes.schedules.schedule import Schedule
from ...passes.search.algorithm import Search, SearchOptions
from ...passes.search.result import Progress, Result, Task
from ...passes.search.searches import find_search
from ...passes.search.searching import search
from ...passes.search.space.stages import SPACES
from ..calling.api_checks import (
    check_choice,
    check_flags,
    check_integer,
    check_seconds,
    check_text,
    check_threads,
)
from ..choosing.database import Question, Tuned, TuningDatabase, default_database
from ..jit.threads import default_threads
from ..program import Function
from .evaluator import LONGEST, MEMORY, RunningEvaluator, Substitute
from .trial_messages import Comparison


@dataclass(frozen=True)
class TuningOptions:
    """Options of tuning.

    `budget` is in seconds; without one, or without `runs`, nothing is run, unless the search learns
    from runs. `search` is one of `passes.search.searches.search_names()`, by default `hybrid` where
    something is run, else `beam`; `keep` is whether `auto` learns of it, and this search of what is
    kept; `space` one of `passes.search.space.stages.SPACES`; `ranker` the model of searches that
    rank; `interchange` the one that says which loops to interchange, None: all are tried. `longest`
    and `memory` are limits of runs, as for RunningEvaluator.
    """

    budget: float | None = None
    threads: int | None = None
    fast_math: bool = False
    model: str = DEFAULT_MODEL
    search: str | None = None
    space: str = "full"
    beam: int = 3
    seed: int = 0
    keep: bool = True
    report: Callable[[Progress], None] = lambda _: None
    ranker: str = DEFAULT_RANKER
    interchange: str | None = None
    runs: bool = True
    longest: float = LONGEST
    memory: int = MEMORY


def tune(
    function: Function,
    values: Sequence[object],
    options: TuningOptions,
    comparison: Comparison | None = None,
) -> Result:
    """The fastest schedule for these arguments that is found.

    It is kept for `auto` if it ran no slower than the default schedule and what was kept before.
    `comparison` says which results of candidates are compared, by default all. Raises ValueError
    for a search that runs candidates where nothing is to be run, BoundsError where the program
    would leave an array, LearningError, SourceError, EvaluationError and what a call raises.
    """
    _check_options(function.name, options)
    has_runs = options.runs and options.budget is not None
    name = options.search or ("hybrid" if has_runs else "beam")
    kind = find_search(name)
    if not has_runs and kind.runs == "within a budget":
        raise ValueError(f"the search {name} runs candidates, for which it needs a budget")
    threads = options.threads or default_threads()
    sizes = function.checked_sizes(values)
    original = Schedule.original(function.scop, reassociate=options.fast_math)
    task = Task(
        original,
        SchedulingContext(sizes, threads),
        find_model(options.model),
        ranker=find_ranker(options.ranker) if kind.ranks else None,
        seed=options.seed,
        budget=options.budget,
        report=options.report,
        default=_default(function, sizes, threads, options),
    )
    loop_pairs = find_loop_pairs(options.interchange) if options.interchange else None
    how = kind.make(SearchOptions(options.beam, options.space, loop_pairs))
    if not has_runs and kind.runs != "until it has learned":
        return _search(how, task, options)
    memory = _Memory.of(function, task) if options.keep else None
    if memory is not None:
        task = replace(task, known=memory.known)
    with RunningEvaluator(
        function,
        values,
        threads=threads,
        fast_math=options.fast_math,
        comparison=comparison,
        longest=options.longest,
        memory=options.memory,
        substitute=Substitute.default(
            function, task.context, options.budget, fast_math=options.fast_math
        ),
    ) as evaluator:
        result = _search(how, replace(task, evaluator=evaluator), options)
        if evaluator.bound is not None:
            result = _with_bound(result, evaluator.bound)
        if memory is not None:
            result = memory.keep(result, evaluator.baseline_seconds)
    return result


def _check_options(subject: str, options: TuningOptions) -> None:
    """Raises TypeError, ValueError for options of another type or out of their range."""
    if options.budget is not None:
        check_seconds(subject, "budget", options.budget)
    check_seconds(subject, "longest", options.longest)
    check_threads(subject, options.threads)
    check_flags(subject, fast_math=options.fast_math, keep=options.keep, runs=options.runs)
    check_choice(subject, "space", options.space, SPACES)
    for name in ("model", "ranker", "search", "interchange"):
        value: object = getattr(options, name)
        if value is not None or name in ("model", "ranker"):
            check_text(subject, name, value)
    for name, least in (("beam", 1), ("memory", 1), ("seed", 0)):
        number: int = getattr(options, name)
        check_integer(subject, name, number)
        if number < least:
            raise ValueError(f"{subject}: {name} must be at least {least}, got {number}")


def _default(
    function: Function, sizes: Mapping[str, int], threads: int, options: TuningOptions
) -> Schedule | None:
    """The default schedule where a model has a say in it; else the search finds it by itself."""
    if deciding_model() is None:
        return None
    return function.default_schedule(sizes, threads=threads, fast_math=options.fast_math)


@dataclass(frozen=True)
class _Memory:
    """Access to the tuning database for one key."""

    database: TuningDatabase
    question: Question
    before: Tuned | None
    known: tuple[Schedule, ...]

    @classmethod
    def of(cls, function: Function, task: Task) -> _Memory | None:
        """What was found before, if it can still be applied; None where nothing is kept."""
        database = default_database()
        if database is None:
            return None
        question = Question.of(
            function.function,
            task.context.sizes,
            Target.host(),
            threads=task.context.threads,
            fast_math=task.original.reassociate,
        )
        before = database.get(question)
        known: tuple[Schedule, ...] = ()
        if before is not None:
            with suppress(SourceError, TransformationError):
                known = (before.apply(task.original),)
        return cls(database, question, before, known)

    def keep(self, result: Result, baseline_seconds: float) -> Result:
        """Keeps what ran no slower than the default schedule; the result says where it did not."""
        if not result.measured:
            return result
        if result.default is None or result.measured < result.default:
            why = "not kept for auto: it is not known to be as fast as the default schedule"
            return _remarked(result, why)
        seconds = baseline_seconds / result.measured
        found = Tuned(str(result.best), seconds, result.measured)
        slower = self.before if result.beats_known or not self.known else None
        if self.database.put(self.question, found, slower):
            return result
        kept = self.database.get(self.question)
        if kept is None or kept.schedule == found.schedule:
            return result
        return _remarked(result, f"auto keeps what was faster before: {kept.schedule}")


def _remarked(result: Result, remark: str) -> Result:
    return replace(result, remarks=(*result.remarks, remark))


def _with_bound(result: Result, bound: float) -> Result:
    """The result where the program as written was ended after so many seconds."""
    path = (replace(result.path[0], measured=None), *result.path[1:])
    result = replace(result, bound=bound, path=path)
    return result if result.best.transformations else replace(result, measured=None, default=None)


def _search(how: Search, task: Task, options: TuningOptions) -> Result:
    """The result; raises LearningError for a program that the model does not know the like of."""
    try:
        return search(how, task)
    except Unsupported as error:
        model = options.model if task.ranker is None else options.ranker
        raise LearningError(
            f"the model {model} cannot rate {task.original.program.name}: {error}"
        ) from error
