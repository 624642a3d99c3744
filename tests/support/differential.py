"""Runs one program in several ways and compares what it leaves in its arrays.

A difference is an AssertionError that shows all that is needed to see it again: the program's
text, the sizes, the pipeline, the number of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from loopwright.dialects.parse import parse_module
from loopwright.passes.machine.target import Target
from loopwright.passes.schedules.schedule import Schedule
from loopwright.runtime.kernel import Kernel
from loopwright.runtime.program import Function, load

from .arithmetic import numbers
from .interpreter import Interpreter
from .random_programs import RandomProgram

Outcome = list[Any]


class DifferenceError(AssertionError):
    """Two runs of a program left different values."""


INTERPRETED_OPERATIONS = 400_000


def function_of(program: RandomProgram) -> Function:
    """The program's function, ready to be compiled."""
    return load(program.text)["f"]


def interpreted(program: RandomProgram, sizes: Mapping[str, int]) -> tuple[Outcome, bool]:
    """Arguments after a run in the interpreter, then results; and whether floats stayed exact."""
    result, interpreter = interpretation(program, sizes)
    return result, interpreter.exact


def interpretation(
    program: RandomProgram,
    sizes: Mapping[str, int],
    *,
    rounded: bool = False,
    misplaced: int | None = None,
) -> tuple[Outcome, Interpreter]:
    """Arguments after a run in the interpreter, then results; and the interpreter."""
    interpreter = Interpreter(parse_module(program.text), steps=INTERPRETED_OPERATIONS)
    arguments = program.make_arguments(sizes, rounded=rounded, misplaced=misplaced)
    results = interpreter.run("f", *arguments)
    return [*arguments, *results], interpreter


def build(
    function: Function,
    schedule: Schedule | None,
    threads: int,
    *,
    fast_math: bool = False,
    check_bounds: bool = False,
    target: Target | None = None,
) -> Kernel:
    """The one place where random tests compile; what is generated for a schedule is validated."""
    return function.compile(
        schedule,
        threads=threads,
        fast_math=fast_math,
        check_bounds=check_bounds,
        target=target,
        verify=schedule is not None,
    )


def compiled(
    program: RandomProgram,
    function: Function,
    sizes: Mapping[str, int],
    schedule: Schedule | None = None,
    threads: int = 1,
    *,
    fast_math: bool = False,
    check_bounds: bool = False,
) -> Outcome:
    """Arguments after a run of compiled code, then results.

    What is generated for a schedule is validated: a violation is an error.
    """
    kernel = build(function, schedule, threads, fast_math=fast_math, check_bounds=check_bounds)
    try:
        return outcome(program, kernel, sizes)
    except Exception as error:
        error.add_note(describe(program, sizes, schedule, threads))
        raise


def outcome(
    program: RandomProgram,
    kernel: Kernel,
    sizes: Mapping[str, int],
    *,
    rounded: bool = False,
    misplaced: int | None = None,
) -> Outcome:
    """Arguments after a call of the program's kernel, then results; of `rounded` floats if so."""
    arguments = program.make_arguments(sizes, rounded=rounded, misplaced=misplaced)
    results = kernel(*arguments)
    return [*arguments, *_listed(results)]


def _listed(results: object) -> Sequence[Any]:
    if results is None:
        return []
    return results if isinstance(results, tuple) else [results]


def describe(
    program: RandomProgram,
    sizes: Mapping[str, int],
    schedule: Schedule | None = None,
    threads: int = 1,
) -> str:
    """How to see it again."""
    pipeline = "unscheduled" if schedule is None else f"pipeline: {schedule}"
    return f"{program.text}sizes: {dict(sizes)}\n{pipeline}\nthreads: {threads}"


def assert_same(expected: Outcome, found: Outcome, note: str) -> None:
    """Compares outcomes exactly (up to the sign of zero)."""
    assert len(expected) == len(found), note
    pairs = zip(map(numbers, expected), map(numbers, found), strict=True)
    for number, (one, other) in enumerate(pairs):
        if not np.array_equal(one, other, equal_nan=True):
            raise DifferenceError(f"{note}\nargument {number}: expected\n{one}\nfound\n{other}")
