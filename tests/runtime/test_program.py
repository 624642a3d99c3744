"""Programs: where they come from, their functions, what `compile` refuses."""

from __future__ import annotations

import copy
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.runtime_programs import DOT, FIXED, GEMM, SAXPY

import loopwright
from loopwright.errors import (
    IllegalTransformation,
    SourceError,
    UnknownFunction,
    UnsupportedSignature,
)

CALLS = """
func.func @double(%n: index, %x: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %x[%i] : memref<?xf64>
    %1 = arith.addf %0, %0 : f64
    affine.store %1, %x[%i] : memref<?xf64>
  }
  return
}
func.func @quadruple(%n: index, %x: memref<?xf64>) {
  func.call @double(%n, %x) : (index, memref<?xf64>) -> ()
  func.call @double(%n, %x) : (index, memref<?xf64>) -> ()
  return
}
"""


def test_a_program_is_a_mapping() -> None:
    program = loopwright.load(SAXPY + FIXED)
    assert list(program) == ["saxpy", "fixed"]
    assert len(program) == 2
    assert "fixed" in program
    assert program.get("nothing") is None
    assert program["fixed"].name == "fixed"


def test_unknown_functions() -> None:
    with pytest.raises(UnknownFunction) as caught:
        loopwright.load(SAXPY + FIXED)["gemm"]
    assert str(caught.value) == ("no function 'gemm' in this program; its functions: saxpy, fixed")
    assert isinstance(caught.value, KeyError)


@pytest.mark.parametrize("kind", [str, Path])
def test_files(tmp_path: Path, kind: type[str] | type[Path]) -> None:
    path = tmp_path / "fixed.mlir"
    path.write_text(FIXED)
    assert list(loopwright.load(kind(path))) == ["fixed"]


def test_text_on_one_line() -> None:
    assert list(loopwright.load("func.func @nothing() { return }")) == ["nothing"]
    assert loopwright.load("func.func @nothing() { return }")["nothing"].compile()() is None


def test_missing_files() -> None:
    with pytest.raises(SourceError, match=r"cannot read 'gem\.mlir': No such file"):
        loopwright.load("gem.mlir")


def test_mistakes_have_a_place() -> None:
    with pytest.raises(SourceError, match=r"<string>:2:\d+: error: "):
        loopwright.load("func.func @f() {\n  frobnicate\n}")


def test_signature() -> None:
    function = loopwright.load(DOT)["dot"]
    assert str(function.signature) == "dot(n: index, x: memref<?xf64>, y: memref<?xf64>) -> f64"


def test_what_is_read_and_written() -> None:
    arrays = loopwright.load(GEMM)["gemm"].signature.arguments[3:]
    assert [(a.place.name, a.reads, a.writes) for a in arrays] == [
        ("C", True, True),
        ("A", True, False),
        ("B", True, False),
    ]


def test_schedules() -> None:
    function = loopwright.load(GEMM)["gemm"]
    schedule = function.schedule("interchange{loops=k,j}")
    kernel = function.compile(schedule)
    assert kernel.schedule is schedule
    assert str(function.compile("interchange{loops=k,j}").schedule) == str(schedule)
    assert function.compile(None).schedule is None
    a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.zeros((2, 4))
    kernel(2, 4, 3, c, a, b)
    assert (c == 3).all()


def test_illegal_schedules() -> None:
    with pytest.raises(IllegalTransformation, match="parallel of k is illegal"):
        loopwright.load(GEMM)["gemm"].compile("parallel{loops=k}")


def test_a_schedule_of_another_function() -> None:
    function, other = loopwright.load(GEMM)["gemm"], loopwright.load(SAXPY)["saxpy"]
    with pytest.raises(ValueError, match=r"gemm: the schedule belongs to .* \('saxpy'\)"):
        function.compile(other.schedule())


@pytest.mark.parametrize("threads", [0, -1, 1025])
def test_the_number_of_threads_is_checked(threads: int) -> None:
    message = f"fixed: threads must be between 1 and 1024, got {threads}"
    with pytest.raises(ValueError, match=message):
        loopwright.load(FIXED)["fixed"].compile(threads=threads)


@pytest.mark.parametrize("schedule", [None, ""])
def test_calls_between_functions(schedule: str | None) -> None:
    kernel = loopwright.load(CALLS)["quadruple"].compile(schedule)
    x = np.arange(4.0)
    kernel(3, x)
    assert x.tolist() == [0.0, 4.0, 8.0, 3.0]


def test_types_that_python_lacks() -> None:
    text = "func.func @f(%A: memref<4xf128>) {\n  return\n}"
    with pytest.raises((UnsupportedSignature, SourceError), match="f128"):
        loopwright.load(text)["f"].compile()


def test_public_names() -> None:
    for name in loopwright.__all__:
        assert getattr(loopwright, name) is not None
        assert name in dir(loopwright)
    with pytest.raises(AttributeError, match="no attribute 'frobnicate'"):
        _ = loopwright.frobnicate


def test_every_error_is_documented_as_one() -> None:
    for name in loopwright.errors.__all__:
        assert issubclass(getattr(loopwright.errors, name), loopwright.errors.USER_ERRORS)


def test_a_schedule_of_another_type() -> None:
    program = loopwright.load("func.func @f(%n: index) {\n  return\n}\n")["f"]
    with pytest.raises(TypeError, match="f: a schedule is a Schedule or a text, not 5"):
        program.compile(schedule=5)  # pyright: ignore[reportArgumentType]


def test_copies_and_pickles() -> None:
    program = loopwright.load(GEMM)
    schedule = program["gemm"].schedule("parallel{loops=i}")
    kernel = program["gemm"].compile(schedule)
    for each in (schedule, kernel):
        assert copy.copy(each) is each
        assert copy.deepcopy(each) is each
    with pytest.raises(TypeError, match="cannot be pickled; pickle the Program"):
        pickle.dumps(schedule)
    for travelled in (
        pickle.loads(pickle.dumps(program))["gemm"],
        pickle.loads(pickle.dumps(program["gemm"])),
        copy.deepcopy(program["gemm"]),
    ):
        other = travelled.compile(str(schedule))
        a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.zeros((2, 4))
        other(2, 4, 3, c, a, b)
        assert (c == 3).all()


def test_threads_that_the_system_does_not_give() -> None:
    """The OpenMP runtime would end the process: here for want of memory for their stacks."""
    program = """
import resource, sys
import numpy as np
import loopwright
from support.runtime_programs import GEMM
kernel = loopwright.load(GEMM)["gemm"].compile("parallel{loops=i}", threads=1000)
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
arrays = [np.ones((4, 4)) for _ in range(3)]
try:
    kernel(4, 4, 4, *arrays)
except loopwright.errors.TooManyThreads as error:
    print(error)
loopwright.load(GEMM)["gemm"].compile("parallel{loops=i}", threads=2)(4, 4, 4, *arrays)
print(arrays[0].sum())
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    message, total = done.stdout.splitlines()
    assert re.fullmatch(
        r"the system does not give this process 1000 threads; ask for at most \d+", message
    )
    assert total == "80.0"
