"""Labels of schedules, and what becomes of candidates that crash, hang or compute wrong results."""

from __future__ import annotations

import mmap
import os
import sys
from dataclasses import replace
from multiprocessing.connection import wait
from pathlib import Path

import numpy as np
import pytest
from support.workloads import (
    BrokenWorkload,
    FixedWorkload,
    HungryWorkload,
    UnpicklableWorkload,
)

from loopwright.costmodel.labels import LabelledProgram, ProgramInstance
from loopwright.lowering.llvm import Options, translate
from loopwright.lowering.llvm.names import symbol
from loopwright.lowering.specialise import specialise
from loopwright.passes.machine.target import Target
from loopwright.runtime.calling.signature import Sizes
from loopwright.runtime.jit import object_code as jit
from loopwright.runtime.labelling.labelling_worker import LabellingWorker
from loopwright.runtime.labelling.measurer import Measurer, relative_difference
from loopwright.runtime.labelling.measuring_slot import MeasuringSlot
from loopwright.runtime.labelling.messages import Candidate, Closed, Measurement, ObjectCode, Opened
from loopwright.runtime.labelling.policy import Policy
from loopwright.runtime.labelling.queues import ProgramQueue
from loopwright.runtime.measuring.arena import HUGE_PAGE, MARGIN, Arena, array_bytes
from loopwright.runtime.measuring.children import StartError
from loopwright.runtime.measuring.team import TeamWatch
from loopwright.runtime.program import load

ADD = """
func.func @add(%n: index, %A: memref<?xf64>, %B: memref<?xf64>) {
  affine.for %i = 0 to %n {
    %0 = affine.load %A[%i] : memref<?xf64>
    %1 = affine.load %B[%i] : memref<?xf64>
    %2 = arith.addf %0, %1 : f64
    affine.store %2, %B[%i] : memref<?xf64>
  }
  return
}
"""
INSTANCE = ProgramInstance(ADD, {"n": 5000}, "test", 1)
QUICK = Policy(budget=0.002, enough=0.0005, least_seconds=0.0, run_limit=1.5, compile_limit=20.0)

HANG = "define void @{0}(ptr %a, i64 %n, ptr %b) {{ br label %x\nx: br label %x }}"
CRASH = "define void @{0}(i64 %n, ptr %a, ptr %b) {{ store volatile i32 1, ptr null\n ret void }}"
HUNGRY = """
declare void @exit(i32)
define void @{0}(i64 %n, ptr %a, ptr %b) {{ call void @exit(i32 12)
 unreachable }}
"""
NOTHING = "define void @{0}(i64 %n, ptr %a, ptr %b) {{ ret void }}"


def label(workload: FixedWorkload, count: int = 1, policy: Policy = QUICK) -> list[LabelledProgram]:
    with LabellingWorker(workload, policy, compilers=1) as worker:
        return list(worker.label(range(count)))


def test_schedules_are_labelled() -> None:
    texts = ("vectorize{loops=i width=8}", "tile{loops=i sizes=64},parallel{loops=it}")
    (labelled,) = label(FixedWorkload(INSTANCE, *texts))
    assert labelled.incidents == ()
    assert labelled.sizes == {"n": 5000, "A_dim0": 5000, "B_dim0": 5000}
    assert labelled.baseline is not None and labelled.baseline.schedule == ""
    assert [found.schedule for found in labelled.labels] == list(texts)
    for found in (labelled.baseline, *labelled.labels):
        assert found.status == "measured"
        assert 0 < found.fastest <= found.seconds < 1e-3
        assert found.repetitions >= QUICK.least_runs
        assert found.difference == 0.0
        assert found.baseline_seconds > 0


def test_slow_candidates_are_censored() -> None:
    """A loop of single tiles, each a parallel region, is far slower than the program."""
    slow = "tile{loops=i sizes=2},tile{loops=it sizes=2},unroll{loops=it factor=2}"
    policy = replace(QUICK, cutoff=1.01)
    (labelled,) = label(FixedWorkload(INSTANCE, slow), policy=policy)
    (found,) = labelled.labels
    assert found.status == "censored"
    assert found.repetitions == 1
    assert found.seconds > 1.01 * found.baseline_seconds * 0.5


def test_a_program_that_is_too_short_to_measure_has_no_labels() -> None:
    policy = replace(QUICK, least_seconds=1.0)
    (labelled,) = label(FixedWorkload(INSTANCE, "vectorize{loops=i width=8}"), policy=policy)
    assert labelled.baseline is None
    assert labelled.labels == labelled.incidents == ()


def test_a_program_that_is_refused_is_reported() -> None:
    text = ADD.replace("affine.load %A[%i]", "affine.load %A[%i - 1]")
    (labelled,) = label(FixedWorkload(ProgramInstance(text, {"n": 50}, "test", 1)))
    assert labelled.baseline is None
    (incident,) = labelled.incidents
    assert incident.kind == "refused" and "BoundsError" in incident.message
    assert incident.text == text


def test_a_program_that_computes_nan_is_reported() -> None:
    text = ADD.replace("arith.addf %0, %1", "arith.divf %0, %3").replace(
        "%2 = ", "%3 = arith.subf %0, %0 : f64\n    %2 = "
    )
    (labelled,) = label(FixedWorkload(ProgramInstance(text, {"n": 50}, "test", 1)))
    assert labelled.baseline is None
    assert [incident.kind for incident in labelled.incidents] == ["not-finite"]


def test_a_compiler_that_hangs_or_dies_costs_one_program() -> None:
    policy = replace(QUICK, compile_limit=4.0)
    workload = BrokenWorkload(INSTANCE, "vectorize{loops=i width=8}")
    hung, died, fine = label(workload, 3, policy)
    assert [incident.kind for incident in hung.incidents] == ["compile-hang"]
    assert [incident.kind for incident in died.incidents] == ["compile-crash"]
    assert died.incidents[0].schedule == "", "the command of an incident shows the program"
    assert died.incidents[0].message.startswith("looking for schedules, the compiling process")
    assert fine.incidents == ()
    for labelled in (hung, died, fine):
        assert [found.schedule for found in labelled.labels] == ["vectorize{loops=i width=8}"]


def test_a_compiler_without_memory_has_made_no_mistake() -> None:
    (labelled,) = label(HungryWorkload(INSTANCE, "vectorize{loops=i width=8}"))
    (incident,) = labelled.incidents
    assert incident.kind == "memory" and not incident.is_mistake
    assert len(labelled.labels) == 1


def object_code(llvm_ir: str) -> ObjectCode:
    text = llvm_ir.format(symbol("add"))
    return ObjectCode(jit.compile_module(text, target=Target.host()), (symbol("add"),), False)


@pytest.fixture(scope="module")
def opened() -> Opened:
    (function,) = load(ADD).values()
    sizes = Sizes({1: (5000,), 2: (5000,)}, {0: 5000})
    loops = specialise(function.function, sizes.shapes, sizes.integers)
    module = translate(loops, target=Target.host(), options=Options(num_threads=1))
    code = ObjectCode(
        jit.compile_module(str(module), target=Target.host()), (symbol("add"),), False
    )
    return Opened(0, INSTANCE, sizes, sizes.of(function.scop), function.signature, code, 0.1)


def measure(opened: Opened, candidates: dict[str, ObjectCode]) -> LabelledProgram:
    """What a worker does with compiled candidates."""
    queue = ProgramQueue(0, QUICK, INSTANCE, opened)
    for name, code in candidates.items():
        queue.waiting.append(Candidate(0, name, "test", code, 0.1))
    queue.close(Closed(0, INSTANCE, {}))
    slot = MeasuringSlot(sorted(os.sched_getaffinity(0))[-1:], QUICK)
    try:
        while not queue.is_finished:
            if slot.is_idle:
                slot.start_next([queue])
            elif wait([slot.child.connection], timeout=0.1):
                try:
                    slot.hear()
                except EOFError:
                    slot.replace("crash")
            elif slot.is_overdue:
                slot.replace("hang")
    finally:
        slot.child.kill()
    return queue.result()


def test_candidates_that_crash_hang_or_are_wrong(opened: Opened) -> None:
    """Each costs itself, and those after it are measured."""
    codes = {
        "wrong": object_code(NOTHING),
        "crash": object_code(CRASH),
        "hungry": object_code(HUNGRY),
        "right": opened.baseline,
        "hang": object_code(HANG),
        "last": opened.baseline,
    }
    labelled = measure(opened, codes)
    assert {i.schedule: i.kind for i in labelled.incidents} == {
        "wrong": "wrong",
        "crash": "run-crash",
        "hungry": "memory",
    }
    assert [i.schedule for i in labelled.incidents if not i.is_mistake] == ["hungry"]
    status = {found.schedule: found.status for found in labelled.labels}
    assert status == {"right": "measured", "hang": "censored", "last": "measured"}
    hang = next(found for found in labelled.labels if found.schedule == "hang")
    assert hang.seconds >= QUICK.run_limit


def test_a_program_that_crashes_by_itself_is_given_up(opened: Opened) -> None:
    broken = Opened(
        0, INSTANCE, opened.sizes, opened.names, opened.signature, object_code(CRASH), 0.1
    )
    labelled = measure(broken, {"right": opened.baseline})
    assert labelled.baseline is None and labelled.labels == ()
    assert [incident.kind for incident in labelled.incidents] == ["run-crash"]


def test_baselines_follow_the_drift(opened: Opened) -> None:
    """The baseline of a candidate is interpolated between the measurements around it."""
    queue = ProgramQueue(0, QUICK, INSTANCE, opened)
    queue.measured(None, Measurement((1.0, 1.0, 1.0), False, 0.0, 100.0))
    candidate = Candidate(0, "x", "test", opened.baseline, 0.1)
    queue.measured(candidate, Measurement((0.5, 0.5, 0.5), False, 0.0, 105.0))
    queue.measured(None, Measurement((2.0, 2.0, 2.0), False, 0.0, 110.0))
    queue.close(Closed(0, INSTANCE, {}))
    (found,) = queue.result().labels
    assert found.baseline_seconds == pytest.approx(1.5)
    assert found.speedup == pytest.approx(3.0)


def test_differences_of_results() -> None:
    a = np.linspace(0.0, 4.0, 100_000)
    b = a.copy()
    assert relative_difference(a, b) == 0.0
    b[70_000] += 0.04
    assert relative_difference(b, a) == pytest.approx(0.01)
    b[5] = np.nan
    assert relative_difference(b, a) == np.inf
    integers = np.arange(10)
    assert relative_difference(integers, integers) == 0.0
    assert relative_difference(integers, integers + 1) == np.inf


def test_a_process_that_does_not_start_is_an_error() -> None:
    with pytest.raises(StartError, match="this workload cannot be unpickled"):
        label(UnpicklableWorkload(INSTANCE))


def test_candidates_that_are_not_slow_have_two_turns(opened: Opened) -> None:
    queue = ProgramQueue(0, QUICK, INSTANCE, opened)
    queue.measured(None, Measurement((1.0, 1.0), False, 0.0, 100.0))
    fast, slow = (Candidate(0, name, "test", opened.baseline, 0.1) for name in ("fast", "slow"))
    queue.measured(fast, Measurement((0.5, 0.6), False, 0.0, 101.0))
    queue.measured(slow, Measurement((3.0, 3.1), False, 0.0, 102.0))
    queue.close(Closed(0, INSTANCE, {}))
    run = queue.next_run()
    assert run is not None and run[0] is fast
    queue.measured(fast, Measurement((0.7, 0.8), False, 0.0, 103.0))
    run = queue.next_run()
    assert run is not None and run[0] is None, "the program itself comes last"
    queue.measured(None, Measurement((1.0, 1.0), False, 0.0, 104.0))
    assert queue.is_finished
    found = {label.schedule: label for label in queue.result().labels}
    assert found["fast"].seconds == pytest.approx(0.53), "the lower decile of both turns"
    assert found["fast"].repetitions == 4
    assert found["slow"].repetitions == 2


def test_what_is_wrong_the_second_time_is_no_label(opened: Opened) -> None:
    queue = ProgramQueue(0, QUICK, INSTANCE, opened)
    queue.measured(None, Measurement((1.0, 1.0), False, 0.0, 100.0))
    candidate = Candidate(0, "x", "test", opened.baseline, 0.1)
    queue.measured(candidate, Measurement((0.5, 0.5), False, 0.0, 101.0))
    queue.measured(candidate, Measurement((0.5, 0.5), False, 0.1, 102.0))
    assert queue.result().labels == ()
    assert [incident.kind for incident in queue.incidents] == ["wrong"]


def test_what_was_cut_off_while_everything_was_slow_is_no_label(opened: Opened) -> None:
    queue = ProgramQueue(0, QUICK, INSTANCE, opened)
    queue.measured(None, Measurement((1.0, 1.0), False, 0.0, 100.0))
    slow, unlucky = (Candidate(0, name, "test", opened.baseline, 0.1) for name in ("slow", "un"))
    queue.measured(slow, Measurement((10.0,), True, 0.0, 100.5))
    queue.measured(unlucky, Measurement((10.0,), True, 0.0, 109.5))
    queue.measured(None, Measurement((5.0, 5.0), False, 0.0, 110.0))
    queue.close(Closed(0, INSTANCE, {}))
    (found,) = queue.result().labels
    assert (found.schedule, found.status) == ("slow", "censored")


@pytest.mark.parametrize(
    ("looks", "is_measured"), [([True, True], True), ([False], False), ([True, False], False)]
)
def test_runs_on_threads_far_from_each_other_do_not_count(
    looks: list[bool], is_measured: bool, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    cpus = sorted(os.sched_getaffinity(0))
    left = list(looks)
    monkeypatch.setattr(TeamWatch, "is_near", lambda _: left.pop(0))
    try:
        measurer = Measurer(replace(QUICK, threads=2), cpus)
        measurer.open(opened)
        own = measurer.run(opened.baseline, None, is_patient=True)
        assert own is not None and left == looks, "one thread is near itself"
        code = replace(opened.baseline, is_parallel=True)
        found = measurer.run(code, min(own.runs), is_patient=True)
        assert (found is not None) == is_measured and not left
        assert measurer.run(code, min(own.runs)) is not None, "who is not patient does not look"
    finally:
        os.sched_setaffinity(0, cpus)


def test_arrays_of_an_arena() -> None:
    shapes = [(3, 5), (), (0, 4), (1000,)]
    dtype = np.dtype(np.float32)
    arena = Arena(sum(array_bytes(shape, dtype) for shape in shapes))
    arrays = [arena.array(shape, dtype) for shape in shapes]
    for number, array in enumerate(arrays):
        array[...] = number
    for number, (shape, array) in enumerate(zip(shapes, arrays, strict=True)):
        assert array.shape == shape and array.ctypes.data % 64 == 0
        assert (array == number).all()


@pytest.mark.skipif(not Path("/proc/self/pagemap").exists(), reason="needs /proc to see pages")
def test_pages_around_the_arrays_of_an_arena_are_there() -> None:
    """Masked lanes that reach into a page that is not there take much longer."""
    # The last one ends where a huge page does.
    dtype = np.dtype(np.float64)
    shapes = [(104,), ((HUGE_PAGE - MARGIN) // dtype.itemsize - 104,)]
    arena = Arena(sum(array_bytes(shape, dtype) for shape in shapes))
    first, last = (arena.array(shape, dtype) for shape in shapes)
    last[-1] = 1.0
    with Path("/proc/self/pagemap").open("rb") as pages:
        for address in (first.ctypes.data - 1, last.ctypes.data + last.nbytes):
            pages.seek(address // mmap.PAGESIZE * 8)
            is_present = int.from_bytes(pages.read(8), sys.byteorder) >> 63
            assert is_present


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="needs /proc to see mappings")
def test_arenas_can_have_huge_pages() -> None:
    """Shared mappings cannot, and small pages make the times of a program differ by process."""
    array = Arena(1000).array((10,), np.dtype(np.float64))
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, *_ = line.split()
        start, end = (int(address, 16) for address in addresses.split("-"))
        if start <= array.ctypes.data < end:
            assert permissions == "rw-p"
            return
    pytest.fail("the array is nowhere")
