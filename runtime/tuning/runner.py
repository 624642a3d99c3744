"""Child process that runs candidates on given arguments; replaced when it crashes or hangs."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..calling.arguments import ArrayArgument
from ..calling.elements import numbers
from ..calling.signature import CValue
from ..jit.threads import pinned
from ..measuring.arena import Arena, array_bytes
from ..measuring.candidate_code import LoadedCandidate
from ..measuring.children import limit_memory
from ..measuring.compare import relative_difference
from ..measuring.stopwatch import stopwatch
from ..measuring.written_arrays import WrittenArray, restore
from .trial_messages import Arguments, Outcome, Trial

LEAST_RUNS = 3
MOST_RUNS = 200

SHORT = 2e-5
"""Seconds: of shorter runs, several are measured together ..."""

ROW = 2e-4
"""... for so many seconds."""

SETTLED = 0.2
"""Of the budget, after which runs are enough that have come to the shortest time ..."""

AGREEING = 3
"""... so often, ..."""

NEAR = 1.01
"""... or to so many times that."""

HOPELESS = 2.0
"""So many times the cutoff, and the second run is the last."""

ENOUGH = 0.5
"""Seconds of runs after which there are enough of them, whatever their number."""


def main(connection: Connection) -> None:
    """Answers trials with outcomes, until the end."""
    arguments: Arguments = connection.recv()
    limit_memory(arguments.memory)
    runner = Runner(arguments)
    connection.send(None)
    while True:
        connection.send(runner.run(connection.recv()))


class Runner:
    """Arguments of one program, and runs of its candidates on copies of them."""

    def __init__(self, arguments: Arguments) -> None:
        self._signature = arguments.signature
        # Now, when no time limit of a trial runs.
        self._watch = stopwatch(arguments.signature.llvm_types)
        self._threads = arguments.threads
        self._values: list[CValue] = []
        self._written: list[WrittenArray] = []
        self._expected: list[NDArray[Any]] = []
        self._returned: object = None
        given = arguments.arrays
        # It lives as long as the runner: nothing else refers to arrays that are only read.
        self._arena = Arena(sum(array_bytes(array.shape, array.dtype) for array in given.values()))
        for position, argument in enumerate(self._signature.arguments):
            if not isinstance(argument, ArrayArgument):
                self._values.append(arguments.scalars[position])
                continue
            initial = given[position]
            array = self._arena.array(initial.shape, initial.dtype)
            array[...] = initial
            self._values.append(array.ctypes.data)
            if argument.writes:
                tolerance = arguments.tolerances.get(position)
                elements = arguments.elements.get(position)
                self._written.append(
                    WrittenArray(array, initial, argument.reads, tolerance, elements)
                )

    def run(self, trial: Trial) -> Outcome:
        """Runs code once to check it, then as often as there is time."""
        loaded = LoadedCandidate(trial.code)
        signature = replace(self._signature, tile_sizes=tuple(trial.tile_sizes))
        function = signature.foreign_function(loaded.address)
        values = [*self._values, *signature.bind_tile_sizes(trial.tile_sizes)]

        def call(is_first: bool = False) -> tuple[float, object]:
            restore(self._written, whole=is_first)
            start = time.perf_counter()
            returned = signature.call(function, values)
            return time.perf_counter() - start, returned

        with pinned(self._threads if trial.code.is_parallel else 1):
            first, returned = call(is_first=True)
            if loaded.has_failed_to_allocate:
                return Outcome(first, "its own arrays do not fit in memory")
            message = self._check(returned, is_reference=trial.is_reference)
            if message:
                return Outcome(first, message)
            runs = [first]
            while not _is_enough(runs, trial):
                runs.append(call()[0])
            if min(runs) < SHORT and not trial.tile_sizes:
                runs += self._runs_in_a_row(loaded.address, min(runs), trial.budget)
        return Outcome(min(runs))

    def _runs_in_a_row(self, address: int, seconds: float, budget: float) -> Iterator[float]:
        """Seconds of a call, of which many follow each other in compiled code.

        One alone takes not much longer than the way there from Python. All of them work on what the
        one before has left.
        """
        results = self._signature.results
        cells = [result.ctype() for result in results] if len(results) > 1 else []
        places = [ctypes.addressof(cell) for cell in cells]
        calls = max(1, round(ROW / seconds))
        begin = time.perf_counter()
        rows: list[float] = []
        while (spent := time.perf_counter() - begin) < budget:
            if spent > SETTLED * budget and _has_settled(rows):
                break
            restore(self._written, whole=False)
            rows.append(self._watch(address, calls, *self._values, *places) * 1e-9 / calls)
            yield rows[-1]

    def _check(self, returned: object, *, is_reference: bool) -> str:
        """What is wrong with the results, in words; they are right when they are the reference."""
        compared = [each for each in self._written if each.tolerance is not None]
        if is_reference:
            self._expected = [each.results().copy() for each in compared]
            self._returned = returned
            return ""
        for each, expected in zip(compared, self._expected, strict=True):
            difference = _difference(each.results(), expected)
            if each.tolerance is not None and difference > each.tolerance:
                return f"its results differ by {difference:.2g} of the largest value"
        if self._returned is not None and not np.allclose(
            np.asarray(returned, float), np.asarray(self._returned, float), equal_nan=True
        ):
            return f"it returns {returned}, not {self._returned}"
        return ""


def _is_enough(runs: list[float], trial: Trial) -> bool:
    """Whether the first run, which warms up, was repeated often enough, or is long by itself."""
    total = sum(runs[1:])
    least = len(runs) > LEAST_RUNS
    # Of short runs, the first alone may be slow.
    is_slow = min(runs) > trial.cutoff and (least or runs[0] > trial.budget)
    is_hopeless = len(runs) > 1 and min(runs) > HOPELESS * trial.cutoff
    has_settled = total >= SETTLED * trial.budget and _has_settled(runs)
    is_steady = least and (total >= trial.budget or has_settled)
    is_long = max(total, runs[0]) >= ENOUGH or len(runs) > MOST_RUNS
    return is_slow or is_hopeless or is_steady or is_long


def _has_settled(runs: list[float]) -> bool:
    """Whether several runs have come to the shortest time: another one would not be shorter."""
    return sum(seconds <= NEAR * min(runs) for seconds in runs) >= AGREEING if runs else False


def _difference(result: NDArray[Any], expected: NDArray[Any]) -> float:
    """The largest difference as a share of the largest value; NaN and infinities must agree."""
    result, expected = numbers(result), numbers(expected)
    found = relative_difference(result, expected)
    if np.isfinite(found) or not np.issubdtype(result.dtype, np.floating):
        return found
    finite = np.isfinite(expected)
    if not np.array_equal(result[~finite], expected[~finite], equal_nan=True):
        return float("inf")
    return relative_difference(result[finite], expected[finite]) if finite.any() else 0.0
