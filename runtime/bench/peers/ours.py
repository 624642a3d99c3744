"""loopwright's variants: as written, parallelised as written, given schedules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ....passes.schedules.errors import TransformationError
from ....passes.schedules.schedule import Schedule
from ....passes.transformations.parallel import Parallel
from ....support.version import __version__
from ...choosing.schedule_names import CHOSEN
from ..case import Case, NotApplicable
from ..doall_loops import outermost_parallel_loops
from ..native import NativeRun
from ..variant import Variant

PEER = "loopwright"
PARALLEL = "loopwright parallel"
GOMP_SETTLES = 0.01


def variants(
    threads: Sequence[int], schedules: Mapping[str, str], *, fast_math: bool = False
) -> Iterator[Variant]:
    """All variants; `schedules` are texts by name, which `fast_math` lets reassociate."""
    if 1 in threads:
        yield Variant(PEER, PEER, 1, __version__, lambda case: _run(case, None, 1))
        yield Variant(
            PEER,
            f"{PEER} -ffast-math",
            1,
            __version__,
            lambda case: _run(case, None, 1, fast_math=True),
            relaxed=True,
        )
    for count in threads:
        if count > 1:
            yield _variant(PARALLEL, count, None)
        for name, pipeline in schedules.items():
            yield _variant(f"{PEER} {name}", count, pipeline, fast_math=fast_math)


def _variant(name: str, threads: int, pipeline: str | None, *, fast_math: bool = False) -> Variant:
    """A scheduled variant; without a pipeline, the outermost parallel loops are run so."""

    def prepare(case: Case) -> NativeRun:
        try:
            schedule = parallel_schedule(case) if pipeline is None else pipeline
            return _run(case, schedule, threads, fast_math=fast_math)
        except TransformationError as error:
            raise NotApplicable(str(error).partition("\n")[0]) from error

    version = __version__ if pipeline is None else f"{__version__}: {pipeline}"
    settles = GOMP_SETTLES if threads > 1 else 0.0
    return Variant(PEER, name, threads, version, prepare, settles, relaxed=fast_math)


def parallel_schedule(case: Case) -> Schedule:
    """The original order with its outermost parallel loops marked; raises NotApplicable."""
    schedule = Schedule.original(case.function.scop)
    loops = outermost_parallel_loops(schedule)
    if not loops:
        raise NotApplicable("no loop of the program can be parallel as it is")
    names = tuple(schedule.short_name(loop) for loop in loops)
    return schedule.apply(Parallel(names))


def _run(
    case: Case, schedule: Schedule | str | None, threads: int, *, fast_math: bool = False
) -> NativeRun:
    kernel = case.function.compile(schedule, threads=threads, fast_math=fast_math)
    specialisation = kernel.specialise(*case.arguments)
    if threads > 1 and specialisation.code.threads == 1 and schedule not in CHOSEN:
        raise NotApplicable("the schedule has no parallel loop")
    return NativeRun(
        case,
        specialisation.code.address,
        specialisation,
        after=lambda: specialisation.raise_violation(kernel.name),
    )
