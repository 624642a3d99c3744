"""Hoisting of invariant recurrences: what moves, results, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.invariant_sweeps import sweep
from support.scops import polybench, schedule_of

import loopwright
from loopwright.passes.polyhedral.descriptions import describe_tree
from loopwright.passes.schedules.errors import MalformedTransformation, TransformationError
from loopwright.passes.schedules.schedule import Schedule
from loopwright.passes.syntax.pipeline import parse_pipeline
from loopwright.passes.transformations.hoist import Hoist

LINES = """
func.func @f(%n: index, %c: memref<?xf64>, %p: memref<?x?xf64>, %q: memref<?x?xf64>) {
  %one = arith.constant 1.0 : f64
  affine.for %i = 0 to %n {
    affine.store %one, %p[%i, 0] : memref<?x?xf64>
    affine.for %j = 1 to %n {
      %0 = affine.load %p[%i, %j - 1] : memref<?x?xf64>
      %1 = affine.load %c[%j] : memref<?xf64>
      %2 = arith.mulf %0, %1 : f64
      affine.store %2, %p[%i, %j] : memref<?x?xf64>
      %3 = affine.load %q[%i, %j - 1] : memref<?x?xf64>
      %4 = arith.addf %3, %2 : f64
      affine.store %4, %q[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""


def hoisted(text: str, statement: str = "S1") -> Schedule:
    return schedule_of(text).apply(Hoist(statements=(statement,)))


def described(schedule: Schedule) -> list[str]:
    return describe_tree(schedule.scop, schedule.tree).splitlines()


def test_what_all_lines_have_alike_is_computed_once() -> None:
    assert described(hoisted(LINES)) == [
        "S0_2(): p_hoisted[0]",
        "for j",
        "  S1_2(j): p_hoisted[j] from p_hoisted[j - 1], c[j]",
        "for i",
        "  for j",
        "    S2(i, j): q[i, j] from p_hoisted[j - 1], c[j], q[i, j - 1]",
        "for p0",
        "  for p1",
        "    end_p(p0, p1): p[p0, p1] from p_hoisted[p1]",
    ]


def test_a_time_loop_around_is_left_as_well() -> None:
    """Of two sweeps that use one array, the last one leaves its values there."""
    schedule = Schedule.original(polybench("adi"))
    schedule = schedule.apply_all(parse_pipeline("hoist{statements=S3},hoist{statements=S10}"))
    lines = described(schedule)
    assert "  S3_2(j): p_hoisted[j] from p_hoisted[j - 1]" in lines
    assert "    end_p(p0, p1): p[p0, p1] from p_hoisted2[p1]" in lines
    assert not any(line.strip().startswith(("S3(", "S10(")) for line in lines)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda text: text.replace("%c[%j]", "%c[%i]"), "no loop around S1 has it alike"),
        (
            lambda text: text.replace("affine.store %one, %p[%i, 0] : memref<?x?xf64>", ""),
            "no loop around S0 has it alike",
        ),
    ],
)
def test_what_lines_tell_apart_stays(edit: Callable[[str], str], message: str) -> None:
    text = edit(LINES)
    with pytest.raises(MalformedTransformation, match=message):
        hoisted(text, "S1" if "%one, %p" in text else "S0")


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        ("hoist", "name one statement"),
        ("hoist{loops=i statements=S1}", "it takes no loops"),
        ("hoist{statements=S9}", "there is no statement S9; there are S0, S1, S2"),
        ("hoist{statements=S0}", "S1 reads of p also what other statements write"),
        ("strip-mine{loops=i size=8},hoist{statements=S1}", "must be those of the program"),
    ],
)
def test_what_is_refused(pipeline: str, message: str) -> None:
    with pytest.raises(TransformationError, match=message):
        schedule_of(LINES).apply_all(parse_pipeline(pipeline))


def test_arguments_may_change_afterwards() -> None:
    store = "affine.store %one, %c[%i] : memref<?xf64>"
    text = LINES.replace("  return", f"  affine.for %i = 0 to %n {{ {store} }}\n  return")
    assert "  S1_2(j): p_hoisted[j] from p_hoisted[j - 1], c[j]" in described(hoisted(text))


def legal_statements(text: str) -> list[str]:
    """The statements of a program that can be hoisted."""
    schedule = schedule_of(text)
    names = [statement.name for statement in schedule.scop.statements]
    return [name for name in names if schedule.legal(Hoist(statements=(name,)))]


def check(seed: int, steps: str = "") -> int:
    """Compares all that is legal in a random sweep with the program; how much that is."""
    text = sweep(seed)
    legal = legal_statements(text)
    function = loopwright.load(text)["f"]
    kinds = {"f64": np.float64, "f32": np.float32, "i32": np.int32}
    kind = next(kinds[name] for name in kinds if f"x{name}>" in text)
    for name in legal:
        kernel = function.compile(f"hoist{{statements={name}}}{steps}", threads=1, verify=True)
        written = function.compile(None)
        generator = np.random.default_rng(seed)
        for size in ((0, 5), (1, 2), (2, 7), (3, 12)):
            n = size[1]
            given = [generator.integers(-3, 4, n).astype(kind)]
            given += [generator.integers(-3, 4, (n, n)).astype(kind) for _ in range(3)]
            others = [array.copy() for array in given]
            kernel(*size, *given)
            written(*size, *others)
            for array, other in zip(given, others, strict=True):
                np.testing.assert_array_equal(array, other, err_msg=f"seed {seed}, {name}")
        assert kernel.verdict is not None
        assert kernel.verdict.is_proved, (seed, name, kernel.verdict)
    return len(legal)


def test_random_sweeps_stay_what_they_are() -> None:
    assert sum(check(seed) for seed in range(24)) >= 8


@pytest.mark.campaign
def test_many_random_sweeps() -> None:
    assert sum(check(seed) for seed in range(24, 600)) >= 200
