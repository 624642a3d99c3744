"""Every public function refuses arguments of another type, in one line that names the argument."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import loopwright
from loopwright.runtime.tuning.tune import TuningOptions

NAMES = {"first": "verify", "second": "verify", "function": "function", "transformation": "apply"}
"""Arguments that messages call by another word."""


@loopwright.kernel
def add_one(n: loopwright.i64, a: loopwright.f64["n"]) -> None:  # noqa: F821, UP037
    for i in range(n):
        a[i] = a[i] + 1.0


def tune_add_one(**options: Any) -> object:
    return add_one.tune(4, np.zeros(4), **{"budget": 0.1, **options})


def tune_options() -> list[str]:
    return [name for name in TuningOptions.__dataclass_fields__ if name != "report"]


def public() -> dict[str, tuple[Callable[..., object], dict[str, object]]]:
    """Every public function, and what it needs."""
    function = loopwright.load("polybench/mvt")["mvt"]
    sizes = {"n": 100}
    return {
        "load": (loopwright.load, {"source": "polybench/mvt"}),
        "kernel": (loopwright.kernel, {"function": None}),
        "verify": (loopwright.verify, {"first": function, "second": function}),
        "register_function": (loopwright.register_function, {"name": "f", "function": abs}),
        "drop_in": (loopwright.drop_in, {"path": "a.c", "output": "b.c"}),
        "Target.named": (loopwright.Target.named, {"name": "host"}),
        "compile": (function.compile, {}),
        "build": (function.build, {"path": "x.o"}),
        "source": (function.source, {"schedule": ""}),
        "schedule": (function.schedule, {}),
        "default_schedule": (function.default_schedule, {"sizes": sizes}),
        "explain_default": (function.explain_default, {"sizes": sizes}),
        "choose_schedule": (function.choose_schedule, {"how": "rules", "sizes": sizes}),
        "PythonKernel.compile": (add_one.compile, {}),
        "PythonKernel.save": (add_one.save, {"path": "x.o"}),
        "PythonKernel.schedule": (add_one.schedule, {}),
        "PythonKernel.tune": (tune_add_one, dict.fromkeys(tune_options(), None)),
    }


def arguments() -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for name, (function, needed) in public().items():
        own = needed if function is tune_add_one else inspect.signature(function).parameters
        found += [(name, argument) for argument in own]
    return found


@pytest.mark.parametrize("value", [object(), 2.5j, b"x"])
@pytest.mark.parametrize(("name", "argument"), arguments())
def test_other_types_are_refused(
    name: str, argument: str, value: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, needed = public()[name]
    given = {} if function is tune_add_one else needed
    with pytest.raises(TypeError) as caught:
        function(**{**given, argument: value})
    message = str(caught.value)
    assert "\n" not in message and len(message) < 400
    assert words(message) & {argument, NAMES.get(argument, argument), argument.split("_")[-1]}


def words(text: str) -> set[str]:
    return set(text.replace(":", " ").replace("'", " ").replace(",", " ").split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": -1.0}, "add_one: budget must be finite and not negative, got -1.0"),
        ({"budget": float("nan")}, "add_one: budget must be finite"),
        ({"budget": 1e300}, "add_one: budget must be at most 1000000000 seconds"),
        ({"threads": 0}, "add_one: threads must be between 1 and 1024"),
        ({"space": "fulll"}, "add_one: space is one of full, looper, not 'fulll'"),
        ({"beam": 0}, "add_one: beam must be at least 1, got 0"),
        ({"serach": "beam"}, "add_one: an option is one of .*search.*not 'serach'"),
    ],
)
def test_options_of_tune_have_a_range(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tune_add_one(**options)
