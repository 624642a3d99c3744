"""Tuning a function: a search that runs candidates, and keeping what it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...costmodel.find import (
    DEFAULT_MODEL,
    DEFAULT_RANKER,
    find_loop_pairs,
    find_model,
    find_ranker,
)
from ...costmodel.learning.errors import LearningError
from ...costmodel.learning.examples import Unsupported
from ...costmodel.searches import LEARNING, RANKING, find_search
from ...passes.default.request import Request
from ...passes.schedule import Schedule
from ...passes.search.protocols import Search
from ...passes.search.result import Progress, Result, Task
from ...passes.search.searches import RUNNING
from ...passes.search.searching import search
from ...passes.target import Target
from ..program import Function
from ..threads import default_threads
from .database import Question, Tuned, default_database
from .evaluator import RunningEvaluator, Substitute
from .messages import Comparison


@dataclass(frozen=True)
class TuningOptions:
    """How to tune.

    `budget` is in seconds; without one, nothing is run, unless the search learns from runs.
    `search` is one of `costmodel.searches.NAMES`, by default `hybrid` with a budget, else `beam`;
    `space` one of `passes.search.space.stages.SPACES`; `ranker` the model of searches that rank;
    `interchange` the one that says which loops to interchange, None: all are tried.
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


def tune(
    function: Function,
    values: Sequence[object],
    options: TuningOptions,
    comparison: Comparison | None = None,
) -> Result:
    """The fastest schedule for these arguments that is found; kept for `auto` if it was run.

    `comparison` says which results of candidates are compared, by default all. Raises ValueError
    for a search that needs a budget, BoundsError where the program would leave an array,
    LearningError, SourceError, EvaluationError and what a call raises.
    """
    name = options.search or ("beam" if options.budget is None else "hybrid")
    if options.budget is None and name in RUNNING:
        raise ValueError(f"the search {name} runs candidates, and needs a budget")
    threads = options.threads or default_threads()
    sizes = function.checked_sizes(values)
    original = Schedule.original(function.scop, reassociate=options.fast_math)
    task = Task(
        original,
        Request(sizes, threads),
        find_model(options.model),
        ranker=find_ranker(options.ranker) if name in RANKING else None,
        seed=options.seed,
        budget=options.budget,
        report=options.report,
    )
    loop_pairs = find_loop_pairs(options.interchange) if options.interchange else None
    how = find_search(name, options.beam, options.space, loop_pairs)
    if options.budget is None and name not in LEARNING:
        return _search(how, task, options)
    with RunningEvaluator(
        function,
        values,
        threads=threads,
        fast_math=options.fast_math,
        comparison=comparison,
        substitute=Substitute.default(
            function, task.request, options.budget, fast_math=options.fast_math
        ),
    ) as evaluator:
        result = _search(how, replace(task, evaluator=evaluator), options)
        if evaluator.bound is not None:
            result = _with_bound(result, evaluator.bound)
        if options.keep and result.measured:
            question = Question.of(
                function.function,
                sizes,
                Target.host(),
                threads=threads,
                fast_math=options.fast_math,
            )
            seconds = evaluator.baseline_seconds / result.measured
            database = default_database()
            if database is not None:
                database.put(question, Tuned(str(result.best), seconds, result.measured))
    return result


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
