"""The compact notation: schedules of the literature, round trips, and errors with a position."""

from __future__ import annotations

import random

import pytest
from support.choice import SeededChooser
from support.random_schedules import random_schedule
from support.runtime_programs import GEMM
from support.scops import polybench, schedule_of

from loopwright.dialects.errors import SourceError
from loopwright.passes.schedules.errors import IllegalTransformation, TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.compact_notation import apply_notation, is_notation, print_notation
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.passes.syntax.schedule_ops import apply_sequence, to_sequence
from loopwright.passes.transformations.registry import all_transformations, letters

MEANINGS = [
    (
        "gemm",
        "I(L1,L2)T2(L1,L2,32,128)P(L0)U(L4,16)",
        "interchange{loops=S1.j,k},tile{loops=S1.j,k sizes=32,128},parallel{loops=i},"
        "unroll{loops=k factor=16}",
    ),
    (
        "seidel-2d",
        "S(L0,L1,2,1)P(L1)U(L2,4)",
        "wavefront{loops=t,i factors=2,1},parallel{loops=i},unroll{loops=j factor=4}",
    ),
    ("seidel-2d", "K(L0,L1,L2,1,2)", "skew{loops=t,i,j factors=1,2}"),
    ("jacobi-2d", "{S0}:V(L2,8){S1}:P(L1)", "vectorize{loops=S0.j width=8},parallel{loops=S1.i}"),
    ("2mm", "{S0,S2}:F(L0)", "fuse{loops=S0.i,S2.i}"),
    ("2mm", "F(S0.L0,S2.L0)", "fuse{loops=S0.i,S2.i}"),
    ("2mm", "{S0,S2}:P(L0)", "parallel{loops=S0.i,S2.i}"),
    ("gemm", "P(L0)interchange(L2,L1)", "parallel{loops=i},interchange{loops=S1.j,k}"),
    ("gemm", "B(L1,B,order=[1,0])", "pack{loops=k array=B order=1,0}"),
    ("gemm", "M(L1, 8, names=[far])", "strip-mine{loops=k size=8 names=far}"),
    ("gemm", "{S1}:H(L1,1,statements=[S1])", "shift{loops=k offset=1 statements=S1}"),
]


@pytest.mark.parametrize(("kernel", "notation", "pipeline"), MEANINGS)
def test_means(kernel: str, notation: str, pipeline: str) -> None:
    original = Schedule.original(polybench(kernel))
    expected = original.apply_all(parse_pipeline(pipeline))
    schedule = apply_notation(notation, original)
    assert schedule == expected
    assert apply_notation(print_notation(schedule), original) == schedule


@pytest.mark.parametrize(
    ("notation", "order"),
    [("I(L0,L2)", "k,j,i"), ("I(L2,L0)", "k,j,i"), ("I(L0,L1)", "j,i")],
)
def test_interchange_swaps_two_loops(notation: str, order: str) -> None:
    schedule = apply_notation(notation, schedule_of(GEMM))
    assert str(schedule) == f"interchange{{loops={order}}}"
    assert print_notation(schedule) == notation.replace("L2,L0", "L0,L2")


@pytest.mark.parametrize("kernel", ["gemm", "jacobi-2d", "2mm", "cholesky", "correlation"])
def test_the_three_formats_convert_into_each_other(kernel: str) -> None:
    original = Schedule.original(polybench(kernel))
    for seed in range(6):
        schedule = random_schedule(SeededChooser(random.Random(seed)), original)
        text = print_notation(schedule)
        found = apply_notation(text, original)
        assert found == schedule
        assert print_notation(found) == text
        assert original.apply_all(parse_pipeline(str(found))) == schedule
        assert print_notation(apply_sequence(to_sequence(found), original)) == text


def test_prints_what_the_literature_writes() -> None:
    text = "S(L0,L1,2,1)T2(L0,L1,32,32)U(L4,8)"
    assert print_notation(apply_notation(text, Schedule.original(polybench("seidel-2d")))) == text


def test_symbols_are_different() -> None:
    symbols = [cls.symbol for cls in all_transformations().values() if cls.symbol]
    assert len(set(symbols)) == len(symbols)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P(L0)", True),
        ("{S0}:P(L0)", True),
        (" strip-mine (L0,4)", True),
        ("parallel{loops=i}", False),
        ("affine-schedule", False),
        ('tile{loops="i" sizes=3},mlir-opt[cse]', False),
        ("", False),
    ],
)
def test_tells_notation_from_pipelines(text: str, expected: bool) -> None:
    assert is_notation(text) is expected


ERRORS = [
    ("T2(L0,L9,3,3)", 7, "there is no loop L9 around S1"),
    ("{S7}:P(L0)", 2, "unknown statement: 'S7'"),
    ("P(S7.L0)", 3, "unknown statement: 'S7'"),
    ("T3(L0,L1,3,3)", 1, "T3 is about 3 loops, not 2"),
    ("P(L0)Q(L0)", 6, "unknown transformation: 'Q'"),
    ("P(L0", 5, "expected ',' or ')', not the end"),
    ("P L0", 3, "expected '(', not 'L0'"),
    ("P(L0 L1)", 6, "expected ',' or ')', not 'L1'"),
    ("P(L0,?)", 6, "expected a loop, a value or ')', not '?'"),
    ("U(L0,a)", 6, "expected an integer, not 'a'"),
    ("T2(L0,L1)", 1, "tile needs the option sizes"),
    ("P(L0,3)", 6, "parallel takes loops only, such as L0, not '3'"),
    ("P(L0,width=3)", 6, "unknown option of parallel: 'width'"),
    ("{S0}P(L0)", 5, "expected ':' after the statements, not 'P'"),
    ("I(L0)", 1, "I swaps two loops"),
    ("P(L0)\n{", 2, "expected a statement, not the end"),
]


@pytest.mark.parametrize(("text", "column", "message"), ERRORS)
def test_errors_have_a_position(text: str, column: int, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        apply_notation(text, Schedule.original(polybench("gemm")))
    assert message in caught.value.message
    assert caught.value.location is not None
    assert caught.value.location.column == column


def test_illegal_steps_say_why() -> None:
    with pytest.raises(IllegalTransformation, match="parallel of k is illegal"):
        apply_notation("P(L1)", Schedule.original(polybench("gemm")))


@pytest.mark.parametrize("body", ["", "affine.for %i = 0 to %n {}"])
def test_a_program_without_statements(body: str) -> None:
    original = schedule_of(f"func.func @f(%n: index) {{ {body} return }}")
    symbols = {letters(cls) for cls in all_transformations().values() if cls.symbol}
    for symbol in (*symbols, *all_transformations()):
        for arguments in ("", "L0", "L0,L1", "L0,4", "S0.L0"):
            try:
                schedule = apply_notation(f"{symbol}({arguments})", original)
            except (SourceError, TransformationError) as error:
                assert "\n" not in str(error).partition("\nhint")[0].partition("error: ")[0]
            else:
                assert apply_notation(print_notation(schedule), original) == schedule
    with pytest.raises(SourceError, match="there is no loop L0: the program has no statements"):
        apply_notation("I(L0,L1)", original)
