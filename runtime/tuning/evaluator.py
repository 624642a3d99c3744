"""Evaluator by execution, in child processes."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...dialects.errors import SourceError
from ...passes.estimate.scheduling_context import SchedulingContext
from ...passes.polyhedral.counting import UncountableError, floating_point_operations
from ...passes.schedules.schedule import Schedule
from ...support.stage_times import stage
from ..calling.arguments import ArrayArgument
from ..calling.errors import KernelError
from ..calling.signature import CValue
from ..measuring.candidate_code import ObjectCode
from ..measuring.children import StartError
from ..measuring.compare import ROUNDING
from ..measuring.workers import Lost, Overdue, Worker, ask_all
from ..program import Function
from .runner import ENOUGH
from .trial_messages import Arguments, Comparison, Compiled, Outcome, Program, Trial

MEMORY = 16 << 30
"""Bytes of address space of each process, besides the arguments."""

COMPILE_LIMIT = 30.0
"""Seconds to compile a candidate."""

LEAST_LIMIT = 2.0
"""Seconds that the first run of a candidate may take in any case: about what it costs to start
another process when it is ended."""

HANG = 3.0
"""The first run may take in addition so many times the best one's seconds."""

CUTOFF = 1.25
"""A candidate that takes so many times the best one's seconds is run no more."""

BUDGET = 0.1
"""Seconds of repetitions of a candidate."""

LONGEST = 600.0
"""Seconds that the program as written may take."""

AS_WRITTEN = 0.2
"""Of a budget may be spent on running the program as written."""

PART = 0.2
"""Of the limit of a reference: its repetitions take no longer."""

EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}


class EvaluationError(KernelError, RuntimeError):
    """A program that cannot be run."""


@dataclass(frozen=True)
class Substitute:
    """The schedule whose results are the reference if the program takes more than `seconds`.

    Speed-ups are then over these seconds.
    """

    seconds: float
    schedule: Callable[[], Schedule]

    @classmethod
    def default(
        cls,
        function: Function,
        context: SchedulingContext,
        budget: float | None,
        *,
        fast_math: bool,
    ) -> Substitute | None:
        """The default schedule, after a part of the budget; None without a budget."""
        if budget is None:
            return None
        schedule = partial(
            function.default_schedule,
            context.sizes,
            threads=context.threads,
            fast_math=fast_math,
        )
        return cls(AS_WRITTEN * budget, schedule)


class RunningEvaluator:
    """Speed-ups of schedules of a function on given arguments; used as a context manager.

    What crashes, hangs, takes too much memory or computes other results than the program as
    written has the speed-up 0. `failures` says why, by schedule. `bound` are the seconds after
    which the program as written was ended, if it was: those that speed-ups are over.
    """

    def __init__(
        self,
        function: Function,
        values: Sequence[object],
        *,
        threads: int,
        fast_math: bool = False,
        compilers: int | None = None,
        comparison: Comparison | None = None,
        substitute: Substitute | None = None,
        longest: float = LONGEST,
        memory: int = MEMORY,
    ) -> None:
        """`longest` are the seconds that the program as written, or its substitute, may take;
        `memory` the bytes of address space of each process, besides the arguments.
        """
        self.failures: dict[str, str] = {}
        self.baseline_seconds = 0.0
        self.bound: float | None = None
        self._substitute = substitute
        self._longest = longest
        self._seconds: dict[str, float] = {}
        self._codes: dict[str, ObjectCode] = {}
        self._first_texts: dict[ObjectCode, str] = {}
        self._best: tuple[float, ObjectCode] | None = None
        arguments = arguments_of(function, values, threads, comparison, memory)
        sizes = function.signature.sizes_of(values).of(function.scop)
        program = Program(
            str(function.module), function.name, sizes, threads, fast_math, arguments.memory
        )
        cpus = sorted(os.sched_getaffinity(0))
        count = len(cpus) if compilers is None else compilers
        self._runner = Worker("tuning.runner", arguments, Outcome)
        self._starts = 0
        self._compilers = [
            Worker("tuning.schedule_compiler", program, Compiled) for _ in range(count)
        ]
        self._problem: EvaluationError | None = None
        self._opening = threading.Thread(target=self._open, daemon=True)
        self._opened, self._closed = threading.Event(), threading.Event()
        if len(cpus) > 1:
            # Whoever searches has other things to think about first.
            self._opening.start()

    def __enter__(self) -> RunningEvaluator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends all processes."""
        for worker in (self._runner, *self._compilers):
            worker.close()
        self._closed.set()
        if self._opening.ident is not None:
            self._opening.join()

    def measure(
        self, context: SchedulingContext, schedules: Sequence[Schedule], seconds: float = inf
    ) -> list[float]:
        """The speed-up of each schedule over the program as written; raises EvaluationError.

        After so many `seconds`, nothing is compiled or run that was not begun: the answers are
        then those for the first ones.
        """
        end = time.monotonic() + seconds
        if not self._is_open(seconds):
            return []
        texts = [str(schedule) for schedule in schedules]
        try:
            with stage("compile candidates"):
                self._compile(texts, end)
            answers: list[float] = []
            with stage("run candidates"):
                for text in texts:
                    if not self._is_in_time(text, end):
                        break
                    answers.append(self._measure(text, end))
            return answers
        except StartError as error:
            raise EvaluationError(str(error)) from error

    def time_tiles(
        self,
        schedule: Schedule,
        tile_sizes: Mapping[str, int],
        best: float = inf,
        seconds: float = inf,
    ) -> float | None:
        """Seconds with these sizes of tiles that the schedule leaves open; infinite if it fails.

        `best` are those of the best sizes so far. After so many `seconds`, nothing is compiled or
        run that was not begun: None. Raises EvaluationError.
        """
        end = time.monotonic() + seconds
        if not self._is_open(seconds):
            return None
        text = str(schedule)
        try:
            self._compile([text], end)
            if text in self.failures:
                return inf
            if text not in self._codes or time.monotonic() > end:
                return None
            if self._runner.starts != self._starts:
                self._reopen()
            assert self._best is not None, "the program itself runs first"
            limit = max(LEAST_LIMIT, min(HANG * min(best, self._best[0]), end - time.monotonic()))
            trial = Trial(self._codes[text], False, CUTOFF * best, BUDGET, tile_sizes)
            outcome = self._ask(trial, limit)
        except Overdue:
            return None if time.monotonic() >= end else inf
        except Lost:
            return inf
        except StartError as error:
            raise EvaluationError(str(error)) from error
        return inf if outcome.message else outcome.seconds

    def _is_open(self, seconds: float) -> bool:
        """Whether the program as written has run, after so many seconds; raises EvaluationError."""
        if self._opening.ident is None:
            self._opening.start()
        if not self._opened.wait(min(seconds, threading.TIMEOUT_MAX)):
            return False
        if self._problem is not None:
            raise self._problem
        return True

    def _is_in_time(self, text: str, end: float) -> bool:
        """Whether a candidate is known, or compiled and probably run to its end in time."""
        if text in self.failures or text not in self._codes:
            return text in self.failures
        expected = self._seconds.get(text, min(self._seconds.values(), default=0.0))
        return time.monotonic() + expected < end

    def _compile(self, texts: Sequence[str], end: float = inf) -> None:
        """Compiles what is not compiled yet, on all processors, as far as there is time."""
        unknown = [
            text
            for text in dict.fromkeys(texts)
            if text not in self._codes and text not in self.failures
        ]
        answers = ask_all(self._compilers, unknown, COMPILE_LIMIT, end)
        for text, answer in zip(unknown, answers, strict=False):
            match answer:
                case Compiled(code=code) if code is not None:
                    self._codes[text] = code
                case Compiled(message=message):
                    self.failures[text] = message
                case _:
                    self.failures[text] = f"compiling it failed: {answer}"

    def _open(self) -> None:
        """Runs the program as written, or its substitute, whose results are those expected."""
        try:
            self._run_reference()
        except Lost as error:
            self._problem = EvaluationError(f"the program cannot be run: {error}")
        except EvaluationError as error:
            self._problem = error
        except (StartError, SourceError) as error:
            self._problem = EvaluationError(str(error))
        except (OSError, ValueError):
            # It was closed before anything was measured.
            self._problem = EvaluationError("the program was not run")
        finally:
            self._opened.set()
        # Processes die with the thread that has started them.
        self._closed.wait()

    def _run_reference(self) -> None:
        text, substitute = "", self._substitute
        try:
            found = self._expect(text, self._longest if substitute is None else substitute.seconds)
        except Overdue:
            if substitute is None:
                raise
            text, found = self._run_substitute(substitute)
            if text:
                self.bound = substitute.seconds
                self.failures[""] = f"it takes more than {substitute.seconds:.2g} s"
        self.baseline_seconds = found if self.bound is None else self.bound
        self._best = found, self._codes[text]

    def _run_substitute(self, substitute: Substitute) -> tuple[str, float]:
        """The text and seconds of the substitute, or of the program where that fails."""
        text = ""
        try:
            text = str(substitute.schedule())
            return text, self._expect(text, self._longest)
        except Overdue:
            raise
        except (Lost, EvaluationError, SourceError):
            return "", self._expect("", self._longest)

    def _expect(self, text: str, limit: float) -> float:
        """Seconds of a schedule whose results are right; raises Lost, EvaluationError."""
        self._compile([text])
        if text not in self._codes:
            raise EvaluationError(f"the program cannot be compiled: {self.failures[text]}")
        # All repetitions are to end within the limit where the first run does.
        part = limit * PART
        trial = Trial(self._codes[text], True, min(ENOUGH, part), min(BUDGET, part))
        outcome = self._ask(trial, limit)
        if outcome.message:
            raise EvaluationError(f"the program cannot be run: {outcome.message}")
        if outcome.seconds > limit:
            # Its answer was there before a busy machine let this process look at the clock.
            raise Overdue
        return outcome.seconds

    def _ask(self, trial: Trial, limit: float) -> Outcome:
        self._runner.ask(trial, limit)
        self._starts = self._runner.starts
        return self._runner.answer()

    def _measure(self, text: str, end: float) -> float:
        if text in self.failures:
            return 0.0
        assert self._best is not None, "the program itself runs first"
        best, _ = self._best
        if self._runner.starts != self._starts:
            self._reopen()
        code = self._codes[text]
        same = self._first_texts.setdefault(code, text)
        if same != text and same in self._seconds:
            self._seconds[text] = self._seconds[same]
            return self.baseline_seconds / self._seconds[same]
        limit = min(LEAST_LIMIT + HANG * best, max(LEAST_LIMIT, end - time.monotonic()))
        try:
            outcome = self._ask(Trial(code, False, CUTOFF * best, BUDGET), limit)
        except Lost as error:
            self.failures[text] = str(error)
            return 0.0
        if outcome.message:
            self.failures[text] = outcome.message
            return 0.0
        self._seconds[text] = outcome.seconds
        if outcome.seconds < best:
            self._best = outcome.seconds, code
        return self.baseline_seconds / outcome.seconds

    def _reopen(self) -> None:
        """Shows a new process the results to expect, by the fastest code that had them."""
        assert self._best is not None, "the program itself runs first"
        _, code = self._best
        try:
            self._ask(Trial(code, True, 0.0, 0.0), self._longest)
        except Lost as error:
            raise EvaluationError(f"code that ran before fails now: {error}") from error


def arguments_of(
    function: Function,
    values: Sequence[object],
    threads: int,
    comparison: Comparison | None = None,
    memory: int = MEMORY,
) -> Arguments:
    """The arguments, and which differences the roundings of all operations explain.

    Raises ArgumentTypeError, ArgumentValueError.
    """
    comparison = comparison or Comparison()
    sizes = function.signature.sizes_of(values).of(function.scop)
    try:
        work = floating_point_operations(function.scop, sizes)
    except UncountableError:
        work = 0
    arrays: dict[int, NDArray[Any]] = {}
    scalars: dict[int, CValue] = {}
    tolerances: dict[int, float] = {}
    elements: dict[int, NDArray[np.bool_]] = {}
    for position, argument in enumerate(function.signature.arguments):
        value = values[position]
        if not isinstance(argument, ArrayArgument):
            scalars[position] = argument.bind(value, [])
            continue
        array: NDArray[Any] = np.asarray(value)
        arrays[position] = array
        name = argument.place.name
        if comparison.elements is None or name in comparison.elements:
            tolerance = _tolerance(argument, work / max(1, array.size))
            tolerances[position] = max(tolerance, comparison.tolerance)
        chosen = (comparison.elements or {}).get(name)
        if chosen is not None:
            elements[position] = chosen
    limit = memory + 4 * sum(array.nbytes for array in arrays.values())
    return Arguments(function.signature, arrays, scalars, tolerances, threads, limit, elements)


def _tolerance(argument: ArrayArgument, operations: float) -> float:
    """What other roundings of so many operations per element explain."""
    name = argument.element.name
    return max(ROUNDING[name], 4 * EPSILON[name] * operations) if name in ROUNDING else 0.0
