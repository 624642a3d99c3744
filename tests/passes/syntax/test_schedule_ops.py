"""Schedules as operations: they print, parse and replay as the same transformations."""

from __future__ import annotations

import random
from io import StringIO

import pytest
from support.choice import SeededChooser
from support.random_schedules import random_schedule
from support.scops import polybench
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from loopwright.dialects.errors import SourceError
from loopwright.dialects.parse import parse_module
from loopwright.dialects.schedule import SequenceOp
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.passes.syntax.schedule_ops import apply_sequence, to_sequence


def parse(text: str) -> SequenceOp:
    (sequence,) = parse_module(text).ops
    assert isinstance(sequence, SequenceOp)
    return sequence


def replay(text: str, kernel: str) -> Schedule:
    return apply_sequence(parse(text), Schedule.original(polybench(kernel)))


def test_prints_names_of_loops() -> None:
    schedule = Schedule.original(polybench("jacobi-2d")).apply_all(
        parse_pipeline(
            "tile{loops=S0.i,S0.j sizes=32,16},tile{loops=S1.i sizes=4 names=outer},"
            "interchange{loops=S0.jt,S0.it},parallel{loops=outer},"
            "vectorize{loops=S0.j width=8},unroll{loops=S1.j factor=4},unroll{loops=t}"
        )
    )
    assert str(to_sequence(schedule)) == (
        "schedule.sequence @jacobi_2d {\n"
        '  %i, %j, %i_1, %j_1, %t = schedule.loops "S0.i", "S0.j", "S1.i", "S1.j", "t"\n'
        "  %it, %jt = schedule.tile %i, %j by [32, 16]\n"
        "  %outer = schedule.tile %i_1 by [4]\n"
        "  schedule.interchange %jt, %it\n"
        "  schedule.parallel %outer\n"
        "  schedule.vectorize %j by 8\n"
        "  schedule.unroll %j_1 by 4\n"
        "  schedule.unroll %t\n"
        "}"
    )


@pytest.mark.parametrize("kernel", ["gemm", "jacobi-2d", "cholesky", "correlation"])
@pytest.mark.parametrize("generic", [False, True])
def test_round_trips(kernel: str, generic: bool) -> None:
    for seed in range(8):
        original = Schedule.original(polybench(kernel))
        schedule = random_schedule(SeededChooser(random.Random(seed)), original)
        stream = StringIO()
        Printer(stream, print_generic_format=generic).print_op(ModuleOp([to_sequence(schedule)]))
        sequence = parse(stream.getvalue())
        assert apply_sequence(sequence, original) == schedule
        assert str(to_sequence(apply_sequence(sequence, original))) == str(sequence)
        assert original.apply_all(parse_pipeline(str(schedule))) == schedule
        assert ",".join(map(str, schedule.transformations)) == str(schedule)


def test_values_without_names_replay() -> None:
    schedule = replay(
        """schedule.sequence @gemm {
          %0, %1 = schedule.loops "k", "S1.j"
          %2, %3 = schedule.tile %0, %1 by [8, 8]
          schedule.interchange %3, %2
        }""",
        "gemm",
    )
    assert str(schedule) == "tile{loops=k,S1.j sizes=8,8},interchange{loops=jt,kt}"


def test_names_of_results_name_the_loops() -> None:
    text = 'schedule.sequence @gemm {\n%k = schedule.loops "k"\n%far = schedule.tile %k by [8]\n}'
    assert str(replay(text, "gemm")) == "tile{loops=k sizes=8 names=far}"


ERRORS = [
    ('%q = schedule.loops "q"', 6, "there is no loop q; the loops are i, S0.j, k, S1.j"),
    ('%k = schedule.loops "k"\n  schedule.tile %k by 3', 3, "expects a list in [ ]"),
    ('%k = schedule.loops "k"\n  schedule.tile %k', 3, "schedule.tile needs 'by'"),
    ('%k = schedule.loops "k"\n  schedule.parallel %k', 3, "parallel of k is illegal"),
    ('%k = schedule.loops "k"\n  schedule.tiel %k by [3]', 3, "unknown operation 'schedule.tiel'"),
    ("%c = arith.constant 1 : i32", 1, "'arith.constant' is no transformation"),
]


@pytest.mark.parametrize(("body", "column", "message"), ERRORS)
def test_errors_point_at_the_operation(body: str, column: int, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        replay(f"schedule.sequence @gemm {{\n{body}\n}}", "gemm")
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.column == column


def test_steps_are_only_for_sequences() -> None:
    with pytest.raises(SourceError, match=r"must be directly inside schedule\.sequence"):
        parse('%k = schedule.loops "k"')
