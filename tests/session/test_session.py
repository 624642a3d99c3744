"""A Session: programs, legality with repairs that hold, schedules, texts, runs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import loopwright
from loopwright.errors import IllegalTransformation, MalformedTransformation, SourceError
from loopwright.session import loaded_program
from loopwright.session.loaded_program import LoadedProgram
from loopwright.session.problems import CallError, problem_of

SUM = """
func.func @total(%n: index, %A: memref<?xf64>, %s: memref<f64>) {
  affine.for %i = 0 to %n {
    %a = affine.load %A[%i] : memref<?xf64>
    %b = affine.load %s[] : memref<f64>
    %c = arith.addf %a, %b : f64
    affine.store %c, %s[] : memref<f64>
  }
  return
}
"""

ROWS = """
func.func @rows(%n: index, %A: memref<?x?xf64>, %s: memref<?xf64>) {
  %zero = arith.constant 0.0 : f64
  affine.for %i = 0 to %n {
    affine.store %zero, %s[%i] : memref<?xf64>
    affine.for %j = 0 to %n {
      %a = affine.load %A[%i, %j] : memref<?x?xf64>
      %b = affine.load %s[%i] : memref<?xf64>
      %c = arith.addf %a, %b : f64
      affine.store %c, %s[%i] : memref<?xf64>
    }
  }
  return
}
"""

SWEPT = """
func.func @swept(%n: index, %A: memref<?x?xf64>) {
  affine.for %i = 1 to %n {
    affine.for %j = 1 to %n {
      %a = affine.load %A[%i - 1, %j] : memref<?x?xf64>
      %b = affine.load %A[%i, %j - 1] : memref<?x?xf64>
      %c = arith.addf %a, %b : f64
      affine.store %c, %A[%i, %j] : memref<?x?xf64>
    }
  }
  return
}
"""

DISTRIBUTED = "distribute{loops=i},tile{loops=S1.i,S1.j sizes=4,4}"


@pytest.fixture(scope="module")
def session() -> Iterator[loopwright.Session]:
    with loopwright.Session() as session:
        session.load("polybench/jacobi-2d", size="MINI", threads=1)
        session.load("polybench/gemm", size="MINI", threads=1)
        assert session.load(SUM, {"n": 5}).program == "total"
        session.load(ROWS, {"n": 9})
        session.load(SWEPT, {"n": 9})
        yield session


def test_load_describes_sizes_and_names_programs_apart(session: loopwright.Session) -> None:
    second = session.load(SUM, {"n": 5})
    assert second.program == "total-2"
    assert {size.name: size.value for size in second.sizes} == {"n": 5, "A_dim0": 5}
    description = session.describe("total")
    assert [array.name for array in description.arrays] == ["A", "s"]
    assert description.statements[0].reduction


def test_a_program_has_exact_dependences(session: loopwright.Session) -> None:
    found = session.dependences("total").dependences
    assert {(each.kind, each.array) for each in found} == {
        (kind, "s") for kind in ("flow", "anti", "output")
    }
    assert all(each.distance == ("1",) and each.reduction for each in found)


def test_an_illegal_step_has_a_witness_and_repairs_that_hold(session: loopwright.Session) -> None:
    answer = session.legal("jacobi_2d", "fuse{loops=S0.i,S1.i}")
    assert not answer.legal
    assert answer.problem is not None and answer.problem.code == "illegal"
    violation = answer.violation
    assert violation is not None
    assert (violation.source.statement, violation.target.statement) == ("S0", "S1")
    assert violation.source.iteration["t"] == violation.target.iteration["t"]
    steps = {repair.steps for repair in answer.repairs}
    assert "shift{loops=S1.i offset=1},fuse{loops=S0.i,S1.i}" in steps
    for repair in answer.repairs:
        assert session.apply("jacobi_2d", repair.steps).schedule == repair.schedule


@pytest.mark.parametrize(
    ("program", "schedule", "step", "kind", "steps"),
    [
        ("gemm", "", "tile{loops=i,k sizes=4,4}", "before", "distribute{loops=i},"),
        ("gemm", "", "parallel{loops=k}", "instead", "parallel{loops=i}"),
        ("rows", "", "tile{loops=S0.i,S1.j sizes=4,4}", "before", DISTRIBUTED),
        ("rows", "", "interchange{loops=S0.i,j}", "before", "distribute{loops=i},"),
        ("swept", "", "vectorize{loops=j}", "before", "wavefront{loops=i,j factors=1,1},"),
        ("total", "", "parallel{loops=i}", "fast-math", "rfactor{loops=i}"),
        ("total", "", "vectorize{loops=i}", "fast-math", "strip-mine{loops=i size="),
        (
            "jacobi_2d",
            "shift{loops=S1.i offset=1},fuse{loops=S0.i,S1.i},"
            "shift{loops=S1.j offset=1},fuse{loops=S0.j,S1.j}",
            "tile{loops=t,i,j sizes=4,4,4}",
            "before",
            "skew{",
        ),
    ],
)
def test_repairs_are_of_every_kind(
    session: loopwright.Session, program: str, schedule: str, step: str, kind: str, steps: str
) -> None:
    answer = session.legal(program, step, schedule)
    assert not answer.legal
    found = [repair for repair in answer.repairs if repair.kind == kind]
    assert any(repair.steps.startswith(steps) for repair in found), answer.repairs
    for repair in found:
        if kind != "fast-math":
            assert session.apply(program, repair.steps, schedule).schedule == repair.schedule


def test_a_repair_by_fast_math_holds_in_a_program_with_fast_math(
    session: loopwright.Session,
) -> None:
    (repair,) = session.legal("total", "vectorize{loops=i}").repairs
    assert repair.kind == "fast-math"
    with pytest.raises(MalformedTransformation, match="allow reassociation"):
        session.apply("total", repair.steps)
    session.load(SUM, {"n": 5}, name="relaxed", fast_math=True)
    assert session.apply("relaxed", repair.steps).schedule == repair.schedule


def test_apply_leads_to_loops_and_texts(session: loopwright.Session) -> None:
    after = session.apply("gemm", "interchange{loops=k,S1.j}", "parallel{loops=i}")
    assert after.schedule == "parallel{loops=i},interchange{loops=k,S1.j}"
    tree = session.loops("gemm", after.schedule)
    assert tree.lines[0] == "for i, parallel"
    assert "#pragma omp parallel for" in "\n".join(session.loops("gemm", after.schedule, "c").lines)
    assert session.verify("gemm", after.schedule).proved


def test_save_writes_a_schedule_that_reads_back(
    session: loopwright.Session, tmp_path: Path
) -> None:
    file = tmp_path / "gemm-schedule.mlir"
    saved = session.save("gemm", str(file), "parallel{loops=i}")
    assert saved.bytes == len(file.read_bytes())
    text = session.apply("gemm", "unroll{loops=k factor=2}", file.read_text()).schedule
    assert text == "parallel{loops=i},unroll{loops=k factor=2}"


def test_predictions_leave_out_what_is_illegal(session: loopwright.Session) -> None:
    found = session.predict("gemm", ("", "parallel{loops=k}"), model="roofline").predictions
    assert [each.speedup for each in found] == [1.0, None]


def test_explain_names_bounds_and_carried_dependences(session: loopwright.Session) -> None:
    explanation = session.explain("gemm")
    (nest,) = explanation.nests
    levels = {"in-core": nest.in_core_seconds, **nest.traffic_seconds}
    assert levels[nest.bound] == max(levels.values()) == nest.seconds
    assert [*nest.traffic_seconds] == ["L2", "L3", "memory"]  # where it comes from
    carried = {loop.name: loop.carries for loop in explanation.loops}
    assert carried["i"] is None
    assert carried["k"] == "flow dependence from S1 to S1 on C"


def test_runs_are_measured_and_checked(session: loopwright.Session) -> None:
    measured = session.time("gemm", "interchange{loops=k,S1.j}")
    assert measured.failure is None
    assert measured.seconds is not None
    assert measured.speedup == pytest.approx(measured.baseline_seconds / measured.seconds)
    with pytest.raises(IllegalTransformation):
        session.time("gemm", "parallel{loops=k}")


def test_tuning_without_runs_finds_a_schedule(session: loopwright.Session) -> None:
    session.load("polybench/mvt", size="MEDIUM", threads=1)
    found = session.tune("mvt", 0, model="roofline")
    assert found.measured is None
    assert found.predicted > 1
    assert found.path[0].step == "as written"
    assert session.apply("mvt", "", found.schedule).schedule == found.schedule


@pytest.mark.parametrize(
    ("code", "source", "arguments"),
    [
        ("source", "func.func @f( {\n", {}),
        ("unknown", SUM, {"function": "g"}),
        ("input", SUM, {"sizes": {"m": 3}}),
        ("input", SUM, {"sizes": {"n": 2.5}}),
        ("input", SUM, {"sizes": {"n": float("inf")}}),
        ("input", SUM, {"sizes": {"n": 10**300}}),
        ("input", SUM, {"threads": 0}),
        ("input", SUM, {"size": "MINI"}),
        ("input", "polybench/gemm", {"size": "GIANT"}),
        ("source", "nowhere.mlir", {}),
    ],
)
def test_what_cannot_be_loaded_has_a_code(
    session: loopwright.Session, code: str, source: str, arguments: dict[str, object]
) -> None:
    with pytest.raises(Exception) as raised:
        session.load(source, **arguments)  # pyright: ignore[reportArgumentType]
    assert problem_of(raised.value).code == code


def test_problems_have_places_and_remedies(session: loopwright.Session) -> None:
    with pytest.raises(SourceError) as raised:
        session.apply("gemm", "tile{loops=i size=3}")
    problem = problem_of(raised.value)
    assert problem.place is not None
    assert (problem.place.line, problem.place.column) == (1, 14)
    assert problem.remedy == "did you mean sizes?"


def test_sizes_that_are_missing_or_too_large_are_named(session: loopwright.Session) -> None:
    session.load(SUM, name="open")
    with pytest.raises(CallError, match="the sizes n, A_dim0 of total must be known"):
        session.time("open")
    session.load(SUM, {"n": 10**12}, name="vast")
    with pytest.raises(CallError, match="GiB are allowed"):
        session.time("vast")


def test_nothing_is_not_timed(session: loopwright.Session) -> None:
    session.load("func.func @idle(%A: memref<4xf64>) { return }", name="idle")
    for call in (session.time, session.tune):
        with pytest.raises(CallError, match="'idle' has no statements: there is nothing to time"):
            call("idle")


def test_an_object_may_come_as_text(session: loopwright.Session) -> None:
    sizes = '{"n": 7, "A_dim0": 7}'
    session.load(SUM, sizes, name="text")  # pyright: ignore[reportArgumentType]
    assert {size.name: size.value for size in session.describe("text").sizes} == json.loads(sizes)
    for wrong in ("{", "[7]", "7"):
        with pytest.raises(CallError, match="sizes: it is"):
            session.load(SUM, wrong)  # pyright: ignore[reportArgumentType]


def test_values_of_other_types_are_refused(session: loopwright.Session) -> None:
    with pytest.raises(CallError, match="sizes of 'n': it is '5', not a number"):
        session.load(SUM, {"n": "5"})  # pyright: ignore[reportArgumentType]
    with pytest.raises(CallError, match="no form 'cuda'; there are tree, schedule"):
        session.loops("gemm", form="cuda")  # pyright: ignore[reportArgumentType]


def test_a_program_remembers_so_many_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loaded_program, "REMEMBERED", 3)
    function = loopwright.load(SUM)["total"]
    program = LoadedProgram("total", function, ("total",), None, {"n": 5}, 1, fast_math=False)
    kept = program.schedule("unroll{loops=i factor=2}")
    program.remember(function.schedule("unroll{loops=i factor=3}"))
    program.remember(function.schedule("unroll{loops=i factor=4}"))
    assert program.schedule("unroll{loops=i factor=2}") is kept
    for factor in (5, 6, 7):
        program.remember(function.schedule(f"unroll{{loops=i factor={factor}}}"))
    assert program.schedule("unroll{loops=i factor=2}") is not kept
