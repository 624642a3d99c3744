"""The harness: turns, checks, obstacles, interrupts; and the rows of the report."""

from __future__ import annotations

import csv
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.machines import make_machine

from loopwright.commands.bench_run import BenchDocument
from loopwright.kernels.catalogue import catalogue
from loopwright.kernels.references import reference
from loopwright.runtime.bench import report
from loopwright.runtime.bench.case import Case, NotApplicable
from loopwright.runtime.bench.harness import Outcome, measure
from loopwright.runtime.bench.peers import ours
from loopwright.runtime.bench.variant import Variant
from loopwright.runtime.machine.measured import MachineRecord
from loopwright.support.json_records import to_json


class Fake:
    """Takes turns from a list of seconds, and computes the reference times a factor."""

    def __init__(self, case: Case, seconds: list[float], factor: float = 1.0) -> None:
        self.case, self.seconds, self.factor = case, seconds, factor
        self.calls = 0

    def time(self) -> float:
        self.case.restore(whole=True)
        self.calls += 1
        if not self.seconds:
            raise KeyboardInterrupt
        reference(self.case.entry)(*self.case.arguments)
        return self.seconds.pop(0)

    def outputs(self) -> Mapping[str, NDArray[Any]]:
        return {name: self.factor * array for name, array in self.case.outputs().items()}


def variant(name: str, prepared: Any) -> Variant:
    def prepare(case: Case) -> Any:
        if isinstance(prepared, Exception):
            raise prepared
        return prepared

    return Variant("peer", name, 1, "version 1", prepare, pinned=False)


@pytest.fixture
def case() -> Case:
    return Case(catalogue()["polybench/gemm"], "MINI")


def outcomes(case: Case, *variants: Variant) -> list[Outcome]:
    found: list[Outcome] = []
    measure(case, variants[0], variants, 0.05, lambda text: None, found)
    return found


def test_variants_take_turns_until_the_budget_is_spent(case: Case) -> None:
    fast, slow = Fake(case, [0.01] * 1000), Fake(case, [0.02] * 1000)
    first, second = outcomes(case, variant("fast", fast), variant("slow", slow))
    assert first.timing is not None and second.timing is not None
    assert first.timing.median == 0.01 and second.timing.median == 0.02
    assert first.timing.repetitions == 5 and second.timing.repetitions == 3


def test_wrong_results_are_seen(case: Case) -> None:
    good = variant("good", Fake(case, [0.02] * 100))
    bad = variant("bad", Fake(case, [0.02] * 100, factor=1.001))
    first, second = outcomes(case, good, bad)
    assert first.agrees and not second.agrees
    rows = report.rows(case, [first, second], make_machine())
    assert [row.correct for row in rows] == [True, False]
    assert "WRONG" in report.table(rows)[2][-1]


def test_recurrences_that_amplify_rounding_may_differ_by_more() -> None:
    durbin = Case(catalogue()["polybench/durbin"], "MINI")
    exact = variant("exact", Fake(durbin, [1.0] * 9))
    close = variant("close", Fake(durbin, [1.0] * 9, factor=1 + 1e-8))
    wrong = variant("wrong", Fake(durbin, [1.0] * 9, factor=1 + 1e-5))
    _, near, far = outcomes(durbin, exact, close, wrong)
    assert near.agrees
    assert not far.agrees


def test_what_cannot_run_is_noted(case: Case) -> None:
    good = variant("good", Fake(case, [0.02] * 100))
    bad = variant("bad", NotApplicable("no such compiler"))
    rows = report.rows(case, outcomes(case, good, bad), make_machine())
    assert report.notes(rows) == ["not run: bad: no such compiler"]
    assert len(report.table(rows)) == 2


def test_a_process_that_ends_does_not_stop_the_others(case: Case) -> None:
    class Dying(Fake):
        def time(self) -> float:
            if self.calls == 3:
                raise NotApplicable("its process has ended")
            return super().time()

    good = variant("good", Fake(case, [0.02] * 100))
    first, second = outcomes(case, good, variant("dying", Dying(case, [0.02] * 100)))
    assert first.timing is not None and first.timing.repetitions == 3
    assert second.obstacle == "its process has ended" and len(second.seconds) == 2


def test_an_interrupt_leaves_what_is_known(case: Case) -> None:
    found: list[Outcome] = []
    good = variant("good", Fake(case, [0.001, 0.02, 0.02]))
    with pytest.raises(KeyboardInterrupt):
        measure(case, good, [good], 1.0, lambda text: None, found)
    assert found[0].seconds == [0.02]


def test_rows_relate_times_to_the_limit_and_the_first_variant(case: Case) -> None:
    slow, fast = Outcome(variant("a", None), [2e-3] * 9), Outcome(variant("b", None), [1e-3] * 9)
    first, second = report.rows(case, [slow, fast], make_machine())
    assert first.speedup == 1.0 and second.speedup == 2.0
    assert second.rate == pytest.approx(case.entry.flops("MINI") / 1e-3)
    assert second.share == pytest.approx(second.limit / 1e-3)
    assert report.summary([first, second])[2][3] == "2.00x"
    assert report.geometric_mean([1.0, 4.0]) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        ([0.98, 0.99, 1.0, 1.01, 1.02], "~1.00x"),
        ([0.5, 0.7, 0.9, 1.0, 1.2], "~1.11x"),
        ([0.49, 0.5, 0.5, 0.5, 0.51], "2.00x"),
        ([1.9, 2.0, 2.0, 2.1, 2.2], "0.50x"),
    ],
)
def test_what_is_within_the_spread_is_no_difference(
    case: Case, seconds: list[float], shown: str
) -> None:
    base = Outcome(variant("base", None), [0.97, 1.0, 1.0, 1.0, 1.03])
    other = Outcome(variant("other", None), seconds)
    header, *found = report.table(report.rows(case, [base, other], make_machine()))
    assert [cells[header.index("speed-up")] for cells in found] == ["1.00x", shown]


def test_files_carry_everything(case: Case, tmp_path: Path) -> None:
    machine = make_machine()
    rows = report.rows(case, [Outcome(variant("a, b", None), [2e-3] * 9)], machine)
    report.write_csv(tmp_path / "rows.csv", rows, machine)
    with (tmp_path / "rows.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert line["variant"] == "a, b" and line["cpu"] == machine.cpu
    assert float(line["median"]) == 2e-3 and float(line["spread"]) == 0.0
    record = MachineRecord(**vars(machine))
    document = BenchDocument("1", "today", "bench", {}, record, tuple(rows), False)
    data = json.loads(json.dumps(document.to_json()))
    assert data["rows"][0]["version"] == "version 1"
    assert data["date"] == "today" and data["machine"]["cpu"] == machine.cpu


def test_infinite_differences_are_null_in_json(case: Case) -> None:
    good = Fake(case, [0.02] * 100)
    (row,) = report.rows(case, outcomes(case, variant("good", good)), make_machine())
    wrong = dataclasses.replace(row, difference=np.inf)
    assert to_json(wrong)["difference"] is None


@pytest.mark.parametrize("name", ["polybench/atax", "tiramisu/heat2d", "polybench/nussinov"])
def test_our_own_variants_compute_the_reference(name: str) -> None:
    case = Case(catalogue()[name], "MINI")
    expected = case.entry.arguments("MINI")
    reference(case.entry)(*expected)
    for each in ours.variants([1], {"plain": ""}):
        prepared = each.prepare(case)
        assert prepared.time() >= 0
        for key, array in case.entry.output_arrays(expected).items():
            np.testing.assert_allclose(prepared.outputs()[key], array, rtol=1e-5)


def test_schedules_that_do_not_fit_have_a_reason(case: Case) -> None:
    (found,) = (
        v for v in ours.variants([1], {"bad": "interchange{loops=x,y}"}) if v.name.endswith("bad")
    )
    with pytest.raises(NotApplicable, match="no loop x"):
        found.prepare(case)
