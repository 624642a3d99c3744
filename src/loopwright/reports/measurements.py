"""Measurements for a report: the program as written, its schedules, and peers on request.

Shipped kernels are measured by the harness of `loopwright bench`, whose variants take turns; other
programs one after the other, as by `loopwright run`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing

from ..dialects.errors import SourceError
from ..passes.machine.target import Target
from ..passes.polyhedral.schedule_tree import loops
from ..passes.schedules.errors import TransformationError
from ..passes.schedules.schedule import Schedule
from ..runtime.bench.case import Case
from ..runtime.bench.harness import Outcome
from ..runtime.bench.harness import measure as measure_case
from ..runtime.bench.peers import ours
from ..runtime.bench.peers.choosing import peer_variants
from ..runtime.bench.peers.python import Workers
from ..runtime.bench.variant import Variant
from ..runtime.choosing.database import Question, default_database
from ..runtime.choosing.schedule_names import DEFAULT
from ..runtime.kernel import Kernel
from ..runtime.measuring.compare import compare
from ..runtime.measuring.work import operations, traffic
from ..runtime.verifying.results import results_of
from .subject import Measured, Subject

AS_WRITTEN = "as written"
TUNED = "tuned"
GIVEN = "this schedule"

Progress = Callable[[str], None]


def tuned_schedule(subject: Subject) -> Schedule | None:
    """The schedule that tuning has kept for these sizes, threads and options, if it applies."""
    database = default_database()
    if database is None or subject.unknown_sizes:
        return None
    question = Question.of(
        subject.function.function,
        subject.sizes,
        Target.host(),
        threads=subject.threads,
        fast_math=subject.fast_math,
    )
    found = database.get(question)
    if found is None:
        return None
    try:
        return found.apply(subject.original)
    except (SourceError, TransformationError):
        return None


def schedules(subject: Subject) -> dict[str, Schedule]:
    """The schedules to compare, by name, each once: the subject knows the tuned one."""
    default = subject.schedule
    if subject.chosen != DEFAULT:
        default = subject.function.default_schedule(
            subject.sizes, threads=subject.threads, fast_math=subject.fast_math
        )
    found = {DEFAULT: default}
    if subject.tuned is not None and subject.tuned not in found.values():
        found[TUNED] = subject.tuned
    given = subject.schedule
    # Tiles whose sizes calls give have no time of their own.
    if given.transformations and not given.run_time_sizes and given not in found.values():
        found[GIVEN] = given
    return found


def work(subject: Subject) -> tuple[int | None, int | None]:
    """Floating-point operations of a call, and the bytes it moves at least; None if not known."""
    sizes = subject.sizes
    if subject.entry is not None:
        parameters = {name: sizes[name] for name in subject.entry.parameters}
        return subject.entry.flops(parameters), subject.entry.traffic(parameters)
    scop = subject.function.scop
    return operations(scop, sizes), traffic(scop, subject.function.signature, sizes)


def measure_kernel(
    subject: Subject,
    chosen: Mapping[str, Schedule],
    peers: Sequence[str],
    seconds: float,
    report: Progress,
) -> list[Measured]:
    """Times of a shipped kernel with its standard arguments; raises NotApplicable."""
    entry = subject.entry
    assert entry is not None, "the harness has shipped kernels"
    case = Case(entry, {name: subject.sizes[name] for name in entry.parameters})
    baseline = next(iter(ours.variants([1], {})))
    own = [
        variant
        for name, schedule in chosen.items()
        for variant in ours.variants(
            [threads_of(schedule, subject)], {name: str(schedule)}, fast_math=subject.fast_math
        )
        if variant.name == f"{ours.PEER} {name}"
    ]
    outcomes: list[Outcome] = []
    with closing(Workers()) as workers:
        report("looking for peers")
        others = peer_variants(peers, sorted({1, subject.threads}), workers)
        variants = [baseline, *own, *others]
        measure_case(case, baseline, variants, seconds, report, outcomes)
    return [_from_outcome(outcome, baseline) for outcome in outcomes]


def threads_of(schedule: Schedule, subject: Subject) -> int:
    """The threads that run a schedule: one where it has no parallel loop."""
    return subject.threads if any(loop.parallel for loop in loops(schedule.tree)) else 1


def _from_outcome(outcome: Outcome, baseline: Variant) -> Measured:
    variant = outcome.variant
    is_ours = variant.peer == ours.PEER
    name = AS_WRITTEN if variant is baseline else variant.name
    note = outcome.obstacle or ("" if outcome.agrees else "computes other values")
    return Measured(
        name.removeprefix(f"{ours.PEER} "), variant.threads, tuple(outcome.seconds), note, is_ours
    )


def measure_program(
    subject: Subject,
    chosen: Mapping[str, Schedule],
    values: Sequence[object],
    seconds: float,
    report: Progress,
) -> list[Measured]:
    """Times of any program on given arguments; raises as calls of kernels do."""
    plain = subject.function.compile(None, threads=1)
    report(AS_WRITTEN)
    expected = results_of(plain, values)
    measured = [_timed(AS_WRITTEN, plain, values, seconds)]
    floating_point = work(subject)[0] or 0
    for name, schedule in chosen.items():
        report(name)
        kernel = subject.function.compile(
            schedule, threads=subject.threads, fast_math=subject.fast_math
        )
        found = results_of(kernel, values)
        agreements = [
            compare(array, found[array], result, floating_point / max(1, result.size))
            for array, result in expected.items()
        ]
        wrong = [each.name for each in agreements if not each.agrees]
        note = f"computes other values in {', '.join(wrong)}" if wrong else ""
        measured.append(_timed(name, kernel, values, seconds, note))
    return measured


def _timed(
    name: str, kernel: Kernel, values: Sequence[object], seconds: float, note: str = ""
) -> Measured:
    timing = kernel.time(*values, budget=seconds, restore=True)
    return Measured(name, timing.threads, timing.seconds, note)
