"""Random programs of the front ends, against their undecorated or unoptimised runs.

Each number stands for one program: every fifth is a Python function of array statements, one of
loops, one with conditions on data, a C function, and one that is only partly affine (as MLIR,
Python or C).
"""

from __future__ import annotations

import tempfile
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from property.test_opaque_programs import check as check_opaque

import loopwright
from loopwright.costmodel.generator.random_program import random_program
from loopwright.dialects.errors import SourceError
from loopwright.errors import TransformationError
from loopwright.frontends.c.c_file import read_regions, read_source
from loopwright.passes.machine.target import Target
from loopwright.runtime.program import Function

from .arithmetic import UndefinedBehaviourError
from .c_functions import built, call, copies, interpreted
from .opaque_programs import opaque_program
from .pairs import ERROR, INEXACT, REFUSALS, REFUSED, SAME, WRONG
from .random_c import RandomFunction, random_function
from .random_conditions import Generator, check_conditions
from .random_gathers import check_gathers
from .random_python import PythonFunction, check_arrays, check_printed
from .supervision import Tell, Verdict

_UNDEFINED = "which may not have its value"
"""The refusal of a loop that never ends: `i <= m - 1` with an `m` without a sign that is 0."""

_MOVED = "moves by a distance that the region assigns"
"""The refusal of a pointer that begins at the variable of a loop whose step is no constant."""

SCHEDULES = (None, "default", "affine-schedule")


class UndefinedProgramError(Exception):
    """The C of a program has no meaning."""


def check_front_end(seed: int, tell: Tell) -> None:
    """Tells the verdict on the program with this number."""
    kind, check = CHECKS[seed % len(CHECKS)]
    _tell_verdict(seed, kind, check, tell)


def check_gather_program(seed: int, tell: Tell) -> None:
    """Tells the verdict on the program with this number that gathers and scatters."""
    _tell_verdict(
        seed, "gathers in Python", lambda seed, folder: check_gathers(seed, folder) > 0, tell
    )


def _tell_verdict(seed: int, kind: str, check: Callable[[int, Path], bool], tell: Tell) -> None:
    tell(kind)
    try:
        with tempfile.TemporaryDirectory() as folder:
            compared = check(seed, Path(folder))
        verdict, detail = (SAME, "") if compared else (REFUSED, "no schedule was compared")
    except UndefinedProgramError as error:
        verdict, detail = INEXACT, str(error)
    except AssertionError:
        verdict, detail = WRONG, traceback.format_exc()
    except SourceError as error:
        # A number would wrap around.
        refusals = (*REFUSALS, "is for sizes with", "leaves its integer type", _UNDEFINED, _MOVED)
        is_refused = any(refusal in error.message for refusal in refusals)
        verdict, detail = REFUSED if is_refused else ERROR, str(error)
    except Exception:
        verdict, detail = ERROR, traceback.format_exc()
    tell(Verdict(seed, kind, verdict, detail))


def _arrays(seed: int, folder: Path) -> bool:
    check_arrays(seed, folder)
    return True


def _loops(seed: int, folder: Path) -> bool:
    check_printed(seed, folder)
    return True


def _conditions(seed: int, folder: Path) -> bool:
    return check_conditions(seed, folder) > 0


def _opaque(seed: int, folder: Path) -> bool:
    del folder
    return check_opaque(seed)


def check_c(seed: int, folder: Path) -> bool:
    """A random C function computes what the compiler makes of it without optimisation."""
    function = random_function(seed)
    path = folder / "f.c"
    path.write_text(function.text)
    try:
        (translation,) = read_regions(read_source(path)).translations
        interpreted(translation, function)  # it says where the C is undefined
    except SourceError as error:
        if "may wrap around" in str(error):
            raise UndefinedProgramError(str(error)) from error
        raise
    except UndefinedBehaviourError as error:
        raise UndefinedProgramError(str(error)) from error
    expected = call(built({"f": function.text}, folder), "f", function)
    # gcc fuses no products here.
    host = Target.host()
    target = replace(host, features=host.features - {"fma"})
    loaded = loopwright.load(path)["f"]
    compared = 0
    for schedule in SCHEDULES:
        try:
            kernel = loaded.compile(schedule, threads=2, target=target)
            found = _run(kernel, loaded, function)
        except TransformationError:
            continue
        for name, value in found.items():
            if isinstance(value, np.ndarray):
                same = np.array_equal(value, expected[name], equal_nan=value.dtype.kind == "f")
                assert same, f"{function.text}\n{schedule}, {name}: {value}\n{expected[name]}"
        compared += 1
    return compared > 0


def _run(kernel: Callable[..., Any], loaded: Function, function: RandomFunction) -> dict[str, Any]:
    values = copies(function)
    names = [argument.place.name for argument in loaded.signature.arguments]
    if not values.keys() >= set(names):
        raise UndefinedProgramError("an element of an array is a size: an argument of its own")
    kernel(*(values[name] for name in names))
    return values


CHECKS: tuple[tuple[str, Callable[[int, Path], bool]], ...] = (
    ("arrays in Python", _arrays),
    ("loops in Python", _loops),
    ("conditions in Python", _conditions),
    ("C", check_c),
    ("partly affine", _opaque),
)


def front_end_program(seed: int) -> str:
    """The source of the program with this number."""
    texts: tuple[Callable[[], str], ...] = (
        lambda: PythonFunction(seed).source,
        lambda: random_program(seed).text,
        lambda: Generator(seed).source(),
        lambda: random_function(seed).text,
        lambda: opaque_program(seed).text,
    )
    return texts[seed % len(texts)]()
